"""Many coroutines that await the result of a slow computation, or each a result of its own that depends on it.

With JAX each of them waits in ``asyncio.to_thread``, as there is nothing else to wait with.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import by_thread, load, plainly
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

COUNTS = (1_000, 10_000, 100_000)
# The slow computation, a product of 1024² matrices, takes about this long on two cores.
GATE_SECONDS = 0.025
NOTE = "bare: as many tasks that wait for an asyncio.Future; making, starting and gathering them is most of our time"


def threads() -> int:
    """Threads of this process, those of XLA included."""
    return len(list(Path("/proc/self/task").iterdir()))


def awaiting(
    x: Any, slow: Any, count: int, wait: Callable[[Any], Awaitable[Any]], *, own: bool
) -> Callable[[], Awaitable[dict[str, float]]]:
    """A contender: seconds from the first call to the end of the last await, and the most threads seen."""

    async def one(gate: Any) -> None:
        await wait(gate + x if own else gate)

    async def sample() -> dict[str, float]:
        start = time.perf_counter()
        gate = slow @ slow
        gate = gate[0, :4] if own else gate
        tasks = [asyncio.ensure_future(one(gate)) for _ in range(count)]
        await asyncio.sleep(0)
        seen = threads()
        await asyncio.gather(*tasks)
        seconds = time.perf_counter() - start
        return {"all": seconds, "each": seconds / count, "threads": max(seen, threads())}

    return sample


def tasks_alone(count: int) -> Callable[[], Awaitable[dict[str, float]]]:
    """A contender: the same tasks, waiting for a future of the loop, for as long as the slow computation takes."""

    async def one(future: asyncio.Future[None]) -> None:
        await future

    async def sample() -> dict[str, float]:
        start = time.perf_counter()
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(GATE_SECONDS, future.set_result, None)
        await asyncio.gather(*[asyncio.ensure_future(one(future)) for _ in range(count)])
        seconds = time.perf_counter() - start
        return {"all": seconds, "each": seconds / count}

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jnp = load("jax", "numpy")
    small, large = np.ones(4, np.float32), np.full((1024, 1024), 1 / 1024, np.float32)
    counts = COUNTS[:1] if settings.quick else COUNTS
    for own, what in ((False, "of one result"), (True, "of a result each")):
        for count in counts:
            beside = jnp if count <= 10_000 else None  # more would take a minute of each round
            contenders = present(
                aioarray=awaiting(aio.asarray(small), aio.asarray(large), count, plainly, own=own),
                jax=awaiting(jnp.asarray(small), jnp.asarray(large), count, by_thread, own=own) if beside else None,
                bare=None if own else tasks_alone(count),
            )
            targets = (Target(0.1, "jax"),) if count == 10_000 else ()
            metrics = {
                "all": Metric("s", targets),
                "each": Metric("s", curve=f"await {what}"),
                "threads": Metric("", neutral=True),
            }
            yield Row(f"{count:,} awaits {what}", contenders, metrics, 2 if count > 10_000 else 5, x=count, note=NOTE)


BENCHMARK = Benchmark("Concurrent awaits", rows, beside=("jax",))
