"""Hundreds of different programs asked for at once from an event loop: its lag, and how busy the cores are."""

from __future__ import annotations

import asyncio
import itertools
import resource
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from tests.support.loop_lag import LoopLag

from ._machine import available_cores
from ._model import Benchmark, Metric, Row, Settings, Target

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

# Programs that differ, so that none was compiled before.
_numbers = itertools.count(1)


def processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def different() -> Any:
    number = next(_numbers)

    def function(x: Any) -> Any:
        for layer in range(4):
            x = aio.tanh(x + float(number * 10 + layer))  # products of 16×16 would take XLA ten times as long
        return x

    return aio.jit(function)


def compiling(count: int) -> Callable[[], Awaitable[dict[str, float]]]:
    """A contender: asks for ``count`` new programs, one in each turn of the loop."""
    x = aio.asarray(np.ones((16, 16), np.float32))

    async def sample() -> dict[str, float]:
        functions = [different() for _ in range(count)]
        compiles = aio.compile_cache.stats()["compiles"]
        async with LoopLag() as lag:
            start, busy = time.perf_counter(), processor_seconds()
            results = []
            for function in functions:
                results.append(function(x))
                await asyncio.sleep(0)
            enqueued = time.perf_counter() - start
            await aio.ready(results)
            seconds = time.perf_counter() - start
            idle = 1 - (processor_seconds() - busy) / seconds / available_cores()
        return {
            **lag.figures(),
            "enqueued": enqueued,
            "ready": seconds,
            "idle share of the cores": max(0.0, idle),
            "compiles of each": (aio.compile_cache.stats()["compiles"] - compiles) / count,
        }

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    count = 10 if settings.quick else 300
    yield Row(
        f"{count} programs",
        {"aioarray": compiling(count)},
        {
            "p50": Metric(),
            "p99": Metric("s", (Target(10e-3),)),
            "max": Metric(),
            "enqueued": Metric(),
            "ready": Metric(),
            "idle share of the cores": Metric("", (Target(0.1),)),
            "compiles of each": Metric("", (Target(1.0),)),
        },
        rounds=3,
    )


BENCHMARK = Benchmark("Many programs compiled at once from a loop: its lag, and the cores", rows)
