"""Work to be kept waiting by, and the measuring of how long anything is."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import call, from_host, unary
from aioarray._engine import engine
from aioarray._ops import hyperbolic, manipulation, trigonometric

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

ROOT = Path(__file__).resolve().parents[2]

# What is waited for this long, in seconds, is lost: nothing here takes a quarter of it.
LOST = 30.0

sin = functools.partial(unary, trigonometric.sin)
tanh = functools.partial(unary, hyperbolic.tanh)


def flip(x: aio.Array) -> aio.Array:
    return call(manipulation.flip, (x,), None)


def full(shape: tuple[int, ...], value: float = 1.0) -> aio.Array:
    return from_host(np.full(shape, value, np.float32))


@functools.cache
def shift(size: int) -> np.ndarray:
    """A permutation matrix: products with it are exact, and as much work as any."""
    return np.roll(np.eye(size, dtype=np.float32), 1, axis=1)


def products(count: int, size: int = 1024) -> aio.Array:
    """``count`` chained matrix products, enqueued; in row 0 of the result only element ``count % size`` is 1, not 0."""
    matrix = from_host(shift(size))
    result = from_host(np.eye(size, dtype=np.float32))
    for _ in range(count):
        result = result @ matrix
    return result


def warm_up(size: int = 1024) -> None:
    products(1, size).block_until_ready()


@functools.cache
def _seconds_of_product(size: int) -> float:
    warm_up(size)
    start = time.perf_counter()
    products(8, size).block_until_ready()
    return (time.perf_counter() - start) / 8


def products_for(seconds: float, size: int = 1024) -> aio.Array:
    """Chained matrix products that take about ``seconds``, and not less than half of it."""
    return products(max(1, int(seconds / _seconds_of_product(size))), size)


def idle() -> None:
    """Wait until the device has nothing left to do."""
    asyncio.run(_drained())


async def _drained() -> None:
    await asyncio.wait_for(aio.drain(1), LOST)


class Longest:
    """Measures the longest of several calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, function: Callable[..., Any], *args: Any) -> Any:
        start = time.perf_counter()
        result = function(*args)
        self.seconds = max(self.seconds, time.perf_counter() - start)
        return result


# The limits of latencies hold on a machine that does nothing else: AIOARRAY_STRICT_TIMINGS=1 holds the tests to them.
# Otherwise they are ten times as wide, which only tells waiting from not waiting, whatever else the machine does.
STRICT = bool(os.environ.get("AIOARRAY_STRICT_TIMINGS"))
SLACK = 1 if STRICT else 10


async def within(limits: Mapping[str, float], measure: Callable[[], Awaitable[Mapping[str, float]]]) -> None:
    """Measure up to three times, since other processes may disturb; one measurement has to be below all limits."""
    measured = []
    if not STRICT:
        limits = {name: limit * (SLACK if limit < 0.1 else 4) for name, limit in limits.items()}
    for _ in range(3):
        figures = await measure()
        measured.append({name: round(value, 5) for name, value in figures.items()})
        if all(figures[name] < limit for name, limit in limits.items()):
            return
        await asyncio.sleep(0.5)
    pytest.fail(f"limits in seconds: {dict(limits)}; measured: {measured}")


def most_in_flight_since(restart: bool = False) -> int:
    """The largest number of unfinished launches inside PJRT since the last call with ``restart``."""
    most = engine.scheduler.window.most_in_flight
    if restart:
        engine.scheduler.window.most_in_flight = engine.scheduler.in_flight
    return most


def start_python(code: str, **options: Any) -> subprocess.Popen[str]:
    """A fresh interpreter that runs ``code`` with the package importable."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TF_CPP", "PYTHON"))}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "PYTHONPATH": str(ROOT)},
        **options,
    )
