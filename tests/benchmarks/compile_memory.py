"""20,000 shapes through one jitted function with the default limits: the process must not grow in the second half."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio

from ._machine import resident_bytes
from ._model import Benchmark, Metric, Row, Settings, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTS = 20


def growing(count: int) -> Callable[[], dict[str, float]]:
    """A contender: the memory of the process after half of the shapes, after all, and how much it grew between."""
    function = aio.jit(lambda x: x * 2 + 1)
    length = 0

    def sample() -> dict[str, float]:
        nonlocal length
        sizes = []
        for _part in range(PARTS):
            for _ in range(count // PARTS):
                length += 1
                function(np.ones(length, np.float32)).block_until_ready()
            gc.collect()
            sizes.append(resident_bytes())
            stats = aio.compile_cache.stats()
            print(
                f"  {length:,} shapes: {sizes[-1] / 1e6:.0f} MB, {stats['entries']} programs kept, "
                f"{stats['evicted']} evicted",
                file=sys.stderr,
                flush=True,
            )
        half, end = sizes[PARTS // 2 - 1], sizes[-1]
        return {"half": half, "all": end, "growth of the second half": (end - half) / half}

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    count = 200 if settings.quick else 20_000
    yield Row(
        f"{count:,} shapes",
        {"aioarray": growing(count)},
        {
            "half": Metric("B"),
            "all": Metric("B"),
            "growth of the second half": Metric("", () if settings.quick else (Target(0.02),)),
        },
        rounds=1,
        warm_up=False,
    )


BENCHMARK = Benchmark("Memory under many shapes", rows)
