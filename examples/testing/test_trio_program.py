"""The trio program, on trio's own loop: anyio's pytest plugin runs the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from service import FEATURES, Scorer
from trio_program import score_all

import aioarray as aio

if TYPE_CHECKING:
    from aioarray import testing

pytestmark = pytest.mark.anyio

BATCHES = [[[float(i)] * FEATURES] for i in range(3)]


@pytest.fixture
def anyio_backend() -> str:
    return "trio"


async def test_all_batches_have_scores() -> None:
    results = await score_all(Scorer([0.25] * FEATURES), BATCHES)
    assert sorted(results) == [0, 1, 2]
    assert results[0] == [0.0]


async def test_one_that_fails_cancels_the_others(device_gate: testing.Gate, fault_injector: object) -> None:
    fault_injector("INTERNAL: bus error", match="scores_of", nth=2)  # type: ignore[operator]
    scorer = Scorer([0.25] * FEATURES)

    async def release_the_second() -> None:
        held = await device_gate.wait_for(3)
        held[1].release()

    with pytest.RaisesGroup(pytest.RaisesGroup(aio.errors.DeviceError)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(release_the_second)
            nursery.start_soon(score_all, scorer, BATCHES)
    assert scorer.under_way == 0
