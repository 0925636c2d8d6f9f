"""Callers who go away: nothing is computed for them any more, and others who want the same are not disturbed."""

from __future__ import annotations

import asyncio

import pytest
import service

import aioarray as aio
from aioarray import testing

pytestmark = pytest.mark.asyncio

DOCUMENT = [[1.0] * service.FEATURES]


async def test_what_nobody_waits_for_is_not_launched(device_gate: testing.Gate) -> None:
    scorer = service.Scorer([1.0] * service.FEATURES)
    with testing.count() as counted:
        request = asyncio.create_task(scorer.score(DOCUMENT))
        await device_gate.wait_for(1)
        request.cancel()
        await asyncio.wait([request])
        del request  # which holds the error, and with it the frames in which the result is
        device_gate.release()
    assert counted.dropped == 1
    assert scorer.under_way == 0


async def test_cancelling_one_of_two_who_wait_for_the_same(device_gate: testing.Gate) -> None:
    shared = aio.asarray([1.0, 2.0]) * 2

    async def reader() -> list[float]:
        return (await shared.to_host()).tolist()  # type: ignore[no-any-return]

    first, second = asyncio.create_task(reader()), asyncio.create_task(reader())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    device_gate.release()
    assert await second == [2.0, 4.0]
    assert first.cancelled()


async def test_a_time_limit_leaves_the_computation_to_be_awaited_again(device_gate: testing.Gate) -> None:
    x = aio.asarray([1.0]) + 1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await x
    device_gate.release()
    await testing.assert_allclose(x, 2)
