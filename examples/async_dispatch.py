"""Asynchronous dispatch, step by step: what returns at once, what waits, and how to time it.

Run it: ``python examples/async_dispatch.py``. It goes through the same steps in a plain script and in a coroutine.
"""

import asyncio
import time

import numpy as np

import aioarray as aio

# The corners of `dot(x, x) + 3.` for the key 0, as JAX's documentation of asynchronous dispatch prints them.
EXPECTED = {
    0: [258.0197, 249.6486, 257.1337, 236.6795, 250.6894, 241.3685],
    1: [265.6598, 256.2891, 262.1825, 242.0318, 256.1676, 252.4412],
    999: [257.1613, 254.7543, 259.0830, 241.5985, 248.6260, 243.2235],
}


def milliseconds(start: float) -> str:
    return f"{(time.perf_counter() - start) * 1e3:8.3f} ms"


def product(x: aio.Array) -> aio.Array:
    return aio.dot(x, x) + 3.0


def check(values: np.ndarray) -> None:
    for row, expected in EXPECTED.items():
        corners = np.concatenate([values[row, :3], values[row, -3:]])
        np.testing.assert_allclose(corners, expected, atol=1e-3)
    print("   the values are those of JAX's documentation, to 1e-3")


def in_a_script() -> None:
    """Outside an event loop, reading a value waits for it, as in JAX."""
    print("In a script")
    x = aio.random.uniform(aio.random.key(0), (1000, 1000))
    product(x).block_until_ready()  # compiles

    start = time.perf_counter()
    y = product(x)
    print(f"{milliseconds(start)}  the call returns: {y.shape} {y.dtype} on {y.device} is known")
    z = y.sum()  # the unfinished value goes into the next operation
    print(f"{milliseconds(start)}  so does the next one, which uses the result")
    y.block_until_ready()
    print(f"{milliseconds(start)}  block_until_ready(): now the product is computed; this is what to time")
    print(f"{milliseconds(start)}  its sum: {float(z):.4e}")

    start = time.perf_counter()
    values = np.asarray(product(x))
    print(f"{milliseconds(start)}  np.asarray() waits, too, and looks at the value")
    start = time.perf_counter()
    text = repr(product(x))
    print(f"{milliseconds(start)}  repr() waits, too:\n{text}")
    check(values)


async def in_a_coroutine() -> None:
    """In an event loop, `await` takes the place of waiting, and the loop goes on meanwhile."""
    print("In a coroutine")
    x = await aio.random.uniform(aio.random.key(0), (1000, 1000))
    await product(x)  # compiles, while the loop goes on

    turns = 0
    stop = asyncio.Event()

    async def other_work() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(other_work())
    start = time.perf_counter()
    y = product(x)
    print(f"{milliseconds(start)}  the call returns: {y!r}")
    await y
    print(f"{milliseconds(start)}  await: the product is computed, and other work had {turns} turns of the loop")
    stop.set()
    await other
    check(await y.to_host())

    results = [product(x + i) for i in range(4)]
    async for result in aio.as_completed(results):
        corner = await result[0, 0]
        print(f"{milliseconds(start)}  finished: {float(corner):.4f}")


if __name__ == "__main__":
    in_a_script()
    asyncio.run(in_a_coroutine())
