"""How the cost of one launch, one await, one drop grows with the number of pending launches: it must not."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import aioarray as aio

from ._gate import Gate
from ._model import Benchmark, Metric, Row, Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

COUNTS = (10, 100, 1_000, 10_000, 100_000)
# Of short series several are measured, so that a figure is of this many operations.
AT_LEAST = 1_000


def pending(count: int) -> Callable[[], Awaitable[dict[str, float]]]:
    """A contender: seconds for each launch that is enqueued, awaited and finished while ``count`` are pending."""

    async def wait(array: aio.Array) -> None:
        await array

    async def once() -> dict[str, float]:
        one = aio.ones(4)
        with Gate() as gate:
            begin = time.perf_counter()
            arrays = [gate.array + one for _ in range(count)]
            enqueued = time.perf_counter()
            tasks = [asyncio.ensure_future(wait(array)) for array in arrays]
            await asyncio.sleep(0)  # each of them gets to where it waits
            waiting = time.perf_counter()
            gate.open()
            await asyncio.gather(*tasks)
            end = time.perf_counter()
            del arrays, tasks
        with Gate() as gate:
            arrays = [gate.array + one for _ in range(count)]
            before = time.perf_counter()
            arrays.clear()
            dropped = time.perf_counter() - before
        return {
            "enqueue": (enqueued - begin) / count,
            "begin an await": (waiting - enqueued) / count,
            "launch, finish and resume": (end - waiting) / count,
            "drop": dropped / count,
        }

    async def sample() -> dict[str, float]:
        samples = [await once() for _ in range(max(1, AT_LEAST // count))]
        return {key: sum(each[key] for each in samples) / len(samples) for key in samples[0]}

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    for count in COUNTS[:3] if settings.quick else COUNTS:
        yield Row(
            f"{count:,} pending",
            {"aioarray": pending(count)},
            {name: Metric(curve=name) for name in ("enqueue", "begin an await", "launch, finish and resume", "drop")},
            rounds=3 if count > 10_000 else 5,
            x=count,
        )


BENCHMARK = Benchmark("Cost of one of many pending launches", rows)
