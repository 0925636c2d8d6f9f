"""What scheduling costs in throughput: 300 computations enqueued at once, and blocking at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import load
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def finishing(call: Callable[[], Any], count: int) -> Callable[[], float]:
    """A contender: seconds from the first call until the last result is there."""

    def sample() -> float:
        start = time.perf_counter()
        results = [call() for _ in range(count)]
        for result in results:
            result.block_until_ready()
        return time.perf_counter() - start

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jnp = load("jax", "numpy")
    count = 30 if settings.quick else 300
    matrix = np.full((512, 512), 1 / 512, np.float32)
    vector = np.linspace(0, 1, 1_000_000, dtype=np.float32)

    def calls(xp: Any) -> dict[str, Callable[[], Any]]:
        m, v = xp.asarray(matrix), xp.asarray(vector)
        return {
            "300 matmuls 512²": lambda: m @ m,
            "300 elementwise 10⁶, v * 2": lambda: v * 2,
            "300 elementwise 10⁶, sin": lambda: xp.sin(v),
        }

    theirs = calls(jnp) if jnp else {}
    for name, call in calls(aio).items():
        yield Row(
            name,
            present(aioarray=finishing(call, count), jax=finishing(theirs[name], count) if theirs else None),
            {"": Metric("s", (Target(1.05, "jax"),))},
            rounds=9,
        )


BENCHMARK = Benchmark("Throughput of 300 independent computations", rows, beside=("jax",))
