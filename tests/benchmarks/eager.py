"""Small operations, an awaited product, and the import, beside JAX in the same run, measured alternately.

    python tests/benchmarks/eager.py

needs `jax` installed. Prints medians over the rounds, and their ratio; the machine's other work disturbs both alike.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 31
CALLS = 2000


def microseconds(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e6


def alternately(ours: Callable[[], object], theirs: Callable[[], object], calls: int = CALLS) -> tuple[float, float]:
    """Medians of both, a round of one and a round of the other in turn."""
    for call in (ours, theirs):
        microseconds(call, 100)
    time.sleep(0.1)
    rounds = [(microseconds(ours, calls), microseconds(theirs, calls)) for _ in range(ROUNDS)]
    first, second = zip(*rounds, strict=True)
    return statistics.median(first), statistics.median(second)


def eager() -> None:
    a, b = aio.asarray(np.ones((4, 4), np.float32)), aio.asarray(np.full((4, 4), 2, np.float32))
    c, d = jnp.ones((4, 4)), jnp.full((4, 4), 2.0)
    jax.block_until_ready((c, d))
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "a + b, beside jnp.add": (lambda: a + b, lambda: jnp.add(c, d)),
        "add": (lambda: aio.add(a, b), lambda: jnp.add(c, d)),
        "a * 2": (lambda: a * 2, lambda: c * 2),
        "sin": (lambda: aio.sin(a), lambda: jnp.sin(c)),
        "sum": (lambda: aio.sum(a), lambda: jnp.sum(c)),
        "mean": (lambda: aio.mean(a), lambda: jnp.mean(c)),
        "var": (lambda: aio.var(a), lambda: jnp.var(c)),
        "argmax": (lambda: aio.argmax(a), lambda: jnp.argmax(c)),
        "dot": (lambda: aio.dot(a, b), lambda: jnp.dot(c, d)),
        "reshape": (lambda: aio.reshape(a, (2, 8)), lambda: jnp.reshape(c, (2, 8))),
        "where": (lambda: aio.where(a > 1, a, b), lambda: jnp.where(c > 1, c, d)),
        "concat": (lambda: aio.concat([a, b]), lambda: jnp.concatenate([c, d])),
        "stack": (lambda: aio.stack([a, b]), lambda: jnp.stack([c, d])),
        "astype": (lambda: aio.astype(a, "int32"), lambda: c.astype("int32")),
        "a[0]": (lambda: a[0], lambda: c[0]),
        "a[1:3]": (lambda: a[1:3], lambda: c[1:3]),
        "softmax": (lambda: aio.nn.softmax(a), lambda: jax.nn.softmax(c)),
    }
    ratios = []
    print(f"{'4×4 float32, microseconds':28}{'aioarray':>10}{'JAX':>10}{'ratio':>8}")
    for name, (ours, theirs) in cases.items():
        first, second = alternately(ours, theirs)
        ratios.append(first / second)
        print(f"{name:28}{first:10.2f}{second:10.2f}{first / second:8.2f}")
    print(f"{'geometric mean of ratios':48}{statistics.geometric_mean(ratios):8.2f}")


async def awaiting() -> None:
    for size in (64, 256):
        m = aio.asarray(np.full((size, size), 1 / size, np.float32))
        for _ in range(50):
            await (m @ m)
        awaited, blocked = [], []
        for _ in range(2000):
            start = time.perf_counter()
            await (m @ m)
            middle = time.perf_counter()
            (m @ m).block_until_ready()
            blocked.append(time.perf_counter() - middle)
            awaited.append(middle - start)
        added = (statistics.median(awaited) - statistics.median(blocked)) * 1e6
        print(f"await of a {size}² product takes {added:.1f} microseconds more than block_until_ready")


def importing() -> None:
    def seconds(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    ours, base, theirs = [], [], []
    for _ in range(11):
        ours.append(seconds("import aioarray"))
        base.append(seconds("import numpy, jaxlib.xla_client"))
        theirs.append(seconds("import jax.numpy"))
    first, second, third = map(statistics.median, (ours, base, theirs))
    print(f"import aioarray: {first / second:.2f} of import numpy, jaxlib.xla_client; {first / third:.2f} of jax.numpy")


if __name__ == "__main__":
    eager()
    asyncio.run(awaiting())
    importing()
