"""What a benchmark is: rows, each of which has contenders and targets.

A *contender* is a function without arguments that does the work once and gives a sample: a number, or several by name.
It may be a coroutine function; then it runs on the event loop that the run is about.
"""

from __future__ import annotations

import importlib
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import asyncio

Sample: TypeAlias = "float | Mapping[str, float]"
Contender: TypeAlias = Callable[[], "Sample | Awaitable[Sample]"]

OURS = "aioarray"
# A sample of repeated calls takes about this long.
SAMPLE_SECONDS = 5e-3


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be reached: the median at most ``limit`` times that of ``against``, or at most ``limit`` itself."""

    limit: float
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a sample: its unit and what it has to reach. Smaller is better, unless ``neutral``."""

    unit: str = "s"
    targets: tuple[Target, ...] = ()
    neutral: bool = False
    curve: str = ""  # the curve on which the rows with an ``x`` have this number


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table, or several if its samples have several numbers."""

    name: str
    contenders: Mapping[str, Contender]
    metrics: Mapping[str, Metric] = field(default_factory=lambda: {"": Metric()})
    rounds: int = 15
    warm_up: bool = True  # a first round does not count
    # Rows of one group, whose names begin with it, share a line of the README's table.
    group: str = ""
    # Where this row stands on curves.
    x: float | None = None
    # Why another contender wins, if one does.
    note: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """How thorough a run is to be."""

    quick: bool = False

    def rounds(self, row: Row) -> int:
        return min(row.rounds, 3) if self.quick else row.rounds


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A table: its rows are made one after the other, so that each can set up what it needs when its turn comes."""

    title: str
    rows: Callable[[Settings], Iterator[Row]]
    # What the rows are compared with, where it can be had.
    beside: tuple[str, ...] = ()
    # Whether each library is measured in a process of its own; not if samples are processes anyway.
    apart: bool = True
    # What the geometric mean of the ratios to a contender has to reach.
    means: tuple[Target, ...] = ()


def repeated(call: Callable[[], object], seconds: float = SAMPLE_SECONDS) -> Callable[[], float]:
    """A contender that gives the seconds of one ``call``, over as many calls as take about ``seconds``."""
    count = 0

    def sample() -> float:
        nonlocal count
        if not count:
            for _ in range(20):  # compiles, fills caches, lets the scheduler learn
                start = time.perf_counter()
                call()
                once = time.perf_counter() - start
            count = max(1, min(10_000, int(seconds / once)))
        times = range(count)
        start = time.perf_counter()
        for _ in times:
            call()
        return (time.perf_counter() - start) / count

    return sample


def present(**contenders: Contender | None) -> dict[str, Contender]:
    """Those that are not None: the others are what cannot be had here."""
    return {name.replace("_", " "): contender for name, contender in contenders.items() if contender is not None}


def library(contender: str) -> str:
    """The library of a contender: "jax" of "jax to thread"."""
    return contender.partition(" ")[0]


def loop_factory(loop: str) -> Any:
    """The maker of event loops that is called ``loop``; None for the usual one."""
    return importlib.import_module(loop).new_event_loop if loop else None


def taken(contender: Contender, runner: asyncio.Runner) -> Sample:
    """One sample of a contender, on the runner's loop if it is a coroutine function."""
    if inspect.iscoroutinefunction(contender):
        return runner.run(contender())  # type: ignore[no-any-return]
    return contender()  # type: ignore[return-value]
