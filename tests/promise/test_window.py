"""Running ahead is unbounded for the program and bounded for the device."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import from_host
from aioarray._engine.window import RESERVE, WINDOW
from tests.promise.work import LOST, Longest, most_in_flight_since, shift, warm_up, within

# All that may be inside PJRT at once.
PLACES = WINDOW + RESERVE
SIZE = 512
COUNT = 1000


@pytest.mark.asyncio
async def test_a_thousand_independent_products_at_once() -> None:
    warm_up(SIZE)
    left = [np.full((SIZE, SIZE), value, np.float32) for value in range(10)]
    arrays = [from_host(value) for value in left]
    matrix = from_host(shift(SIZE) * 2)

    async def measure() -> dict[str, float]:
        await aio.drain(1)
        most_in_flight_since(restart=True)
        enqueue = Longest()
        results = [enqueue(lambda i=i: arrays[i % 10] @ matrix) for i in range(COUNT)]
        assert aio.stats()["in_flight"] <= PLACES
        for i, result in enumerate(results):
            value = await result.to_host()
            np.testing.assert_array_equal(value, 2 * left[i % 10])
        assert most_in_flight_since() <= PLACES < 32
        return {"longest call": enqueue.seconds}

    await within({"longest call": 0.002}, measure)


@pytest.mark.asyncio
async def test_a_thousand_chained_products_at_once() -> None:
    warm_up(SIZE)
    start = np.random.default_rng(0).standard_normal((SIZE, SIZE), np.float32)
    matrix = from_host(shift(SIZE))

    async def measure() -> dict[str, float]:
        await aio.drain(1)
        most_in_flight_since(restart=True)
        enqueue = Longest()
        result = from_host(start)
        for _ in range(COUNT):
            result = enqueue(lambda x=result: x @ matrix)
        np.testing.assert_array_equal(await result.to_host(), np.roll(start, COUNT, axis=1))
        assert most_in_flight_since() <= PLACES
        return {"longest call": enqueue.seconds}

    await within({"longest call": 0.002}, measure)


@pytest.mark.asyncio
async def test_memory_of_results_is_taken_at_launch() -> None:
    """A hundred thousand queued results of 4 MB would be 400 GB."""
    warm_up(1024)
    x = from_host(shift(1024))
    blocker = [x @ x for _ in range(64)]
    results = [x @ x for _ in range(100_000)]
    before = aio.stats()
    assert before["pending"] > 90_000
    del results, blocker
    await aio.drain(1)
    assert aio.stats()["pending"] == 0


@pytest.mark.asyncio
async def test_drain_gives_back_pressure() -> None:
    warm_up(256)
    x = from_host(shift(256))
    held = []
    for _ in range(20):
        held += [x @ x for _ in range(100)]
        await aio.drain(50)
        assert aio.stats()["pending"] < 50
    await aio.drain(1)
    assert aio.stats()["pending"] == 0
    assert all(array.is_ready() for array in held)


@pytest.mark.asyncio
async def test_chains_of_programs_that_run_for_half_a_millisecond_end() -> None:
    """Some links are given to the device ahead, and the rest has to follow them."""
    x = await aio.asarray(np.full((250, 250), 1 / 250, np.float32))
    for _ in range(30):
        y = x
        for _ in range(30):
            y = y @ x
        async with asyncio.timeout(LOST):
            await y
