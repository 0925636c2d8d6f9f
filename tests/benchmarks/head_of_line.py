"""How long a small request takes from its call to its result, while large products keep the device busy."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import by_thread, load, plainly
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

REQUESTS = 40
PAUSE_SECONDS = 2e-3


def requesting(
    small: Any, large: Any, wait: Callable[[Any], Awaitable[Any]]
) -> Callable[[], Awaitable[dict[str, float]]]:
    """A contender: latencies of 4-element operations while two 2000² products are always under way."""

    async def load_device(stop: asyncio.Event) -> None:
        while not stop.is_set():
            await wait(large @ large)

    async def sample() -> dict[str, float]:
        stop = asyncio.Event()
        loads = [asyncio.create_task(load_device(stop)) for _ in range(2)]
        await asyncio.sleep(0.05)
        latencies = []
        for _ in range(REQUESTS):
            start = time.perf_counter()
            await wait(-small)
            latencies.append(time.perf_counter() - start)
            await asyncio.sleep(PAUSE_SECONDS)
        stop.set()
        await asyncio.gather(*loads)
        return {"p50": float(np.quantile(latencies, 0.5)), "p99": float(np.quantile(latencies, 0.99))}

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jnp = load("jax", "numpy")
    size = 500 if settings.quick else 2000
    small, large = np.ones(4, np.float32), np.full((size, size), 1 / size, np.float32)
    yield Row(
        "negate 4 elements",
        present(
            aioarray=requesting(aio.asarray(small), aio.asarray(large), plainly),
            jax=requesting(jnp.asarray(small), jnp.asarray(large), by_thread) if jnp else None,
        ),
        {"p50": Metric("s", (Target(0.1, "jax"),)), "p99": Metric("s", (Target(0.1, "jax"),))},
        rounds=4,
    )


BENCHMARK = Benchmark("A small request behind heavy work", rows, beside=("jax",))
