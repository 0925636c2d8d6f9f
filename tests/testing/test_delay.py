"""``delay``: launches are made later, in order of time, and hold no thread."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

import aioarray as aio
from aioarray import testing
from tests.promise.work import LOST, idle
from tests.testing.gates import ones


def test_a_delayed_launch_is_made_later_and_holds_no_thread() -> None:
    async def main() -> None:
        x = await ones()
        await aio.ready([x + 1, x * 2])  # compiled
        with testing.delay(0.3, match="add") as delay:
            begun = time.perf_counter()
            y = x + 1
            z = x * 2
            await z
            assert not y.is_ready()
            await asyncio.wait_for(y, LOST)
            assert time.perf_counter() - begun >= 0.3
        assert delay.matched == 1
        assert "1 so far" in repr(delay)

    asyncio.run(main())


def test_delays_of_a_chain_add_up() -> None:
    x = ones().block_until_ready()
    begun = time.perf_counter()
    with testing.delay(0.02):
        y = ((x + 1) + 1) + 1
    y.block_until_ready()
    assert time.perf_counter() - begun >= 0.06


def test_delays_end_in_order_of_time() -> None:
    async def main() -> list[str]:
        x = await ones()
        with testing.delay(0.2, match="add"), testing.delay(0.02, match="multiply"):
            first, second = x + 1, x * 2
        return ["add" if array is first else "multiply" async for array in aio.as_completed([first, second])]

    assert asyncio.run(main()) == ["multiply", "add"]


def test_delayed_work_whose_results_nobody_holds_is_dropped() -> None:
    x = ones().block_until_ready()
    with testing.count() as counter, testing.delay(0.02):
        y = x + 1
        del y
        gc.collect()
        assert counter.dropped == 1
    idle()


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_impossible_delays_are_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        testing.delay(seconds)
