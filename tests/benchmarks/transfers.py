"""Host memory to the device and back, from a kilobyte to a gigabyte.

To the device: a copy, so that the host's array may be changed afterwards, as JAX makes it with ``jnp.array``; and
without one where both libraries can share memory. Back: reading a result that was just computed.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import load
from ._machine import memory_bytes
from ._model import Benchmark, Metric, Row, Settings, Target, present, repeated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from ._model import Contender

SIZES = {"1 KB": 1 << 10, "64 KB": 1 << 16, "1 MB": 1 << 20, "16 MB": 1 << 24, "256 MB": 1 << 28, "1 GB": 1 << 30}
# What a row needs at once is some times the size: sources, results and those of the other contender.
SHARE = 8
NOTES = {
    "computed and read, 1 KB": "jaxlib's negation and view of the buffer alone take as long as all of JAX's",
}
# Ways there and back in a sample.
TRIPS = 3


def aligned(nbytes: int) -> np.ndarray:
    """Numbers in memory that can be shared with the device."""
    memory = np.ones(nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + nbytes].view(np.float32)


def awaiting(trip: Callable[[], Awaitable[Any]]) -> Contender:
    """A contender: seconds for the way to the device and back, awaited."""

    async def sample() -> float:
        total = 0.0
        for _ in range(TRIPS):
            start = time.perf_counter()
            await trip()
            total += time.perf_counter() - start
        return total / TRIPS

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jnp = load("jax", "numpy")
    sizes = {name: size for name, size in SIZES.items() if size * SHARE <= memory_bytes()}
    for name, size in list(sizes.items())[: 2 if settings.quick else None]:
        rounds = 7 if size > 1 << 26 else 21
        for way, contenders in of_size(size, jnp).items():
            row = f"{way}, {name}"
            metrics = {"": Metric("s", (Target(1.0, "jax"),))}
            yield Row(row, contenders, metrics, rounds, group=way, note=NOTES.get(row, ""))


def of_size(size: int, jnp: Any) -> dict[str, dict[str, Contender]]:
    """The contenders for ``size`` bytes, by the way there or back."""
    host = aligned(size)
    a, c = aio.asarray(host), jnp.array(host) if jnp else None

    async def theirs() -> np.ndarray:
        return await asyncio.to_thread(lambda: np.asarray(jnp.array(host)))

    async def ours() -> np.ndarray:
        return await (await aio.device_put(host)).to_host()

    return {
        "copied to the device": present(
            aioarray=repeated(lambda: aio.asarray(host).block_until_ready()),
            jax=repeated(lambda: jnp.array(host).block_until_ready()) if jnp else None,
        ),
        "shared with the device": present(
            aioarray=repeated(lambda: aio.asarray(host, copy=False).block_until_ready()),
            jax=repeated(lambda: jnp.asarray(host).block_until_ready()) if jnp else None,
        ),
        "computed and read": present(
            aioarray=repeated(lambda: np.asarray(-a)),
            jax=repeated(lambda: np.asarray(-c)) if jnp else None,
        ),
        "there and back, awaited": present(aioarray=awaiting(ours), jax=awaiting(theirs) if jnp else None),
    }


BENCHMARK = Benchmark("Between host and device", rows, beside=("jax",))
