"""What an await of a matrix product takes beyond blocking for it, beside JAX's way, a thread that blocks."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import by_thread, load, plainly
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

# Products in a sample, by the length of a side.
TIMES = {64: 200, 256: 60, 1024: 4}


def added(x: Any, times: int, wait: Callable[[Any], Awaitable[Any]]) -> Callable[[], Awaitable[float]]:
    """A contender: the median time of a product and its await, less that of a product and blocking for it."""

    async def sample() -> float:
        awaited, blocked = [], []
        for _ in range(times):
            start = time.perf_counter()
            await wait(x @ x)
            middle = time.perf_counter()
            (x @ x).block_until_ready()
            blocked.append(time.perf_counter() - middle)
            awaited.append(middle - start)
        return median(awaited) - median(blocked)

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jnp = load("jax", "numpy")
    for size, times in TIMES.items():
        m = np.full((size, size), 1 / size, np.float32)
        targets = (Target(0.4, "jax"), *([Target(40e-6)] if size == 64 else []))
        yield Row(
            f"{size}²",
            present(
                aioarray=added(aio.asarray(m), times, plainly),
                jax=added(jnp.asarray(m), times, by_thread) if jnp else None,
            ),
            {"": Metric("s", targets)},
            rounds=15,
        )


BENCHMARK = Benchmark("Time that an await adds to blocking", rows, beside=("jax",))
