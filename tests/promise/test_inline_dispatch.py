"""XLA runs many programs inside the dispatch call: that must not happen on the event loop's thread."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import aioarray as aio
from tests.promise.work import Longest, flip, full, sin, tanh, within
from tests.support.loop_lag import LoopLag

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS: dict[str, tuple[Callable[[aio.Array], aio.Array], tuple[int, ...]]] = {
    "sin and tanh": (lambda x: tanh(sin(x)), (10**7,)),
    "sin and tanh, jitted": (aio.jit(lambda x: tanh(sin(x))), (10**7,)),
    "transpose": (lambda x: x.T, (4096, 4096)),
    "reverse": (flip, (3 * 10**7,)),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", OPERATIONS)
async def test_large_elementwise_and_movement_programs_do_not_run_on_the_loop(name: str) -> None:
    operation, shape = OPERATIONS[name]
    x = full(shape)
    for _ in range(3):
        await operation(x)

    async def measure() -> dict[str, float]:
        enqueue = Longest()
        async with LoopLag() as lag:
            for _ in range(3):
                results = [enqueue(operation, x) for _ in range(4)]
                await aio.ready(results)
                del results
                await asyncio.sleep(0.005)
        return {"longest call": enqueue.seconds, "p99 lag": lag.figures()["p99"]}

    await within({"longest call": 0.002, "p99 lag": 0.010}, measure)
