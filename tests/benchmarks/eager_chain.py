"""Thirty operations one after the other on 4×4 numbers: how long the program takes to enqueue them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import load
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMES = 50


def chain(xp: Any, x: Any, y: Any) -> Any:
    """30 operations: arithmetic, functions and products in turn."""
    for _ in range(5):
        x = x + y
        x = x * 0.5
        x = xp.sin(x)
        x = x @ y
        x = xp.maximum(x, y)
        x = x - y
    return x


def enqueueing(xp: Any, asarray: Callable[[Any], Any]) -> Callable[[], float]:
    """A contender: seconds until the last of the operations has been enqueued; waiting for it is not counted."""
    x, y = asarray(np.full((4, 4), 0.5, np.float32)), asarray(np.eye(4, dtype=np.float32))

    def sample() -> float:
        total = 0.0
        for _ in range(TIMES):
            start = time.perf_counter()
            result = chain(xp, x, y)
            total += time.perf_counter() - start
            result.block_until_ready()
        return total / TIMES

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jnp = load("jax", "numpy")
    yield Row(
        "30 operations",
        present(aioarray=enqueueing(aio, aio.asarray), jax=enqueueing(jnp, jnp.asarray) if jnp else None),
        {"": Metric("s", (Target(0.8, "jax"),))},
        rounds=31,
    )


BENCHMARK = Benchmark("A chain of 30 eager operations on 4×4 float32, enqueued", rows, beside=("jax",))
