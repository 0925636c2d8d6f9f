"""Memory for each pending Array, each queued launch, and each compiled program."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from typing import TYPE_CHECKING, Any

import aioarray as aio

from ._gate import Gate
from ._machine import resident_bytes
from ._model import Benchmark, Metric, Row, Settings, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESULTS = 9
_numbers = itertools.count(1)


def allocated(make: Callable[[], list[Any]]) -> float:
    """Bytes that Python has allocated for each thing that ``make`` makes, the list of them not counted."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        things = make()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        return (after - before - things.__sizeof__()) / len(things)
    finally:
        tracemalloc.stop()


def of_launches(count: int) -> Callable[[], dict[str, float]]:
    """A contender: bytes of a queued launch and of one of its results, which is a pending Array."""
    one = aio.ones(4)
    several = aio.jit(lambda x, y: tuple(x + float(i) * y for i in range(RESULTS)), name="several")
    aio.block_until_ready((one, several(one, one), one + one))

    def sample() -> dict[str, float]:
        with Gate() as gate:
            single = allocated(lambda: [gate.array + one for _ in range(count)])
        with Gate() as gate:
            multiple = allocated(lambda: [several(gate.array, one) for _ in range(count)])
        # In both a launch; in the second eight Arrays more, and the tuple that they are in.
        tuple_bytes = tuple(range(RESULTS)).__sizeof__() + 16
        array = (multiple - tuple_bytes - single) / (RESULTS - 1)
        return {"pending Array": array, "queued launch": single - array}

    return sample


def resident(count: int) -> Callable[[], dict[str, float]]:
    """A contender: the growth of the process for each launch with one result, allocators' slack included."""
    one = aio.ones(4)
    aio.block_until_ready((one, one + one))

    def sample() -> dict[str, float]:
        gc.collect()
        with Gate() as gate:
            before = resident_bytes()
            arrays = [gate.array + one for _ in range(count)]
            grown = resident_bytes() - before
            del arrays
        return {"resident": grown / count}

    return sample


def of_programs(count: int) -> Callable[[], float]:
    """A contender: the growth of the process for each program that is compiled and kept."""
    x = aio.block_until_ready(aio.ones(4))

    def compiled() -> Any:
        number = float(next(_numbers))
        function = aio.jit(lambda x: x * number + 1)
        function(x).block_until_ready()
        return function

    compiled()

    def sample() -> float:
        gc.collect()
        before = resident_bytes()
        functions = [compiled() for _ in range(count)]
        gc.collect()
        return (resident_bytes() - before) / len(functions)

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    count = 1_000 if settings.quick else 20_000
    # First what has to see the memory of the process grow, before it has room to spare.
    yield Row(
        "small program",
        {"aioarray": of_programs(20 if settings.quick else 200)},
        {"": Metric("B")},
        rounds=1,
        warm_up=False,
    )
    yield Row(
        "launch and its result",
        {"aioarray": resident(5 * count)},
        {"resident": Metric("B")},
        rounds=1,
        warm_up=False,
    )
    yield Row(
        "Python's",
        {"aioarray": of_launches(count)},
        {
            "pending Array": Metric("B", (Target(1024.0),)),
            "queued launch": Metric("B", (Target(2048.0),)),
        },
        rounds=3,
    )


BENCHMARK = Benchmark("Memory", rows)
