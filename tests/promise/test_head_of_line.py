"""Independent work does not wait behind other work."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import from_host
from tests.promise.work import full, products, sin, warm_up, within


@pytest.mark.asyncio
async def test_small_work_does_not_wait_for_large_work_enqueued_before() -> None:
    warm_up(1024)
    four = from_host(np.array([1, 2, 3, 4], np.float32))
    await (-four)

    async def timed(array: aio.Array, start: float) -> float:
        await array
        return time.perf_counter() - start

    async def measure() -> dict[str, float]:
        await aio.drain(1)
        start = time.perf_counter()
        a = asyncio.create_task(timed(products(16, 1024), start))
        await asyncio.sleep(0)
        small = -four
        b = asyncio.create_task(timed(small, start))
        seconds_b = await b
        seconds_a = await a
        np.testing.assert_array_equal(await small.to_host(), [-1, -2, -3, -4])
        return {"B's part of A's time": seconds_b / seconds_a, "A": seconds_a, "B": seconds_b}

    await within({"B's part of A's time": 0.2}, measure)


@pytest.mark.asyncio
async def test_small_work_does_not_wait_for_programs_that_run_on_launch_workers() -> None:
    big = full((10**7,))
    four = from_host(np.arange(4, dtype=np.float32))
    await sin(big)
    await (four + four)

    async def measure() -> dict[str, float]:
        await aio.drain(1)
        start = time.perf_counter()
        slow = [sin(big) for _ in range(8)]
        await (four + four)
        seconds = time.perf_counter() - start
        await aio.ready(slow)
        return {"part": seconds / (time.perf_counter() - start)}

    await within({"part": 0.2}, measure)
