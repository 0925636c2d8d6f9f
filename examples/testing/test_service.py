"""The service: right values, one program for all sizes of requests, and requests that do not wait for each other."""

from __future__ import annotations

import asyncio
import math

import pytest
import pytest_asyncio
import service
from hypothesis import given, settings

from aioarray import testing
from aioarray.testing import strategies

pytestmark = pytest.mark.asyncio

WEIGHTS = [0.5, -0.25, 0.0, 1.0]


@pytest_asyncio.fixture
async def scorer() -> service.Scorer:
    scorer = service.Scorer(WEIGHTS)
    for count in (1, 8, 64):  # what a server does before it says that it is ready
        await scorer.score([[0.0] * service.FEATURES] * count)
    return scorer


async def test_scores(scorer: service.Scorer) -> None:
    scores = await scorer.score([[1, 2, 3, 4], [0, 0, 0, 0]])
    assert scores == pytest.approx([math.tanh(4.0), 0.0])


@pytest.mark.aioarray(max_compiles=0)
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 64])
async def test_no_request_has_to_wait_for_a_compile(scorer: service.Scorer, count: int) -> None:
    assert len(await scorer.score([[1.0] * service.FEATURES] * count)) == count


@settings(max_examples=20, deadline=None)
@given(x=strategies.arrays("float32", strategies.shapes(min_dims=2, max_dims=2, min_side=4, max_side=4)))
async def test_any_document_has_a_score(x: object) -> None:
    for score in await service.Scorer(WEIGHTS).score(x.tolist()):  # type: ignore[attr-defined]
        assert math.isnan(score) or -1 <= score <= 1


async def test_a_later_request_may_be_done_first(scorer: service.Scorer, device_gate: testing.Gate) -> None:
    done: list[str] = []

    async def request(name: str) -> None:
        await scorer.score([[1.0] * service.FEATURES])
        done.append(name)

    slow = asyncio.create_task(request("slow"))
    await device_gate.wait_for(1)
    quick = asyncio.create_task(request("quick"))
    held = await device_gate.wait_for(2)
    held[1].release()
    await quick
    assert done == ["quick"]
    held[0].release()
    await slow


async def test_it_turns_requests_away_before_it_drowns(device_gate: testing.Gate) -> None:
    scorer = service.Scorer(WEIGHTS, limit=3)
    taken_on = [asyncio.create_task(scorer.score([[1.0] * service.FEATURES])) for _ in range(3)]
    await device_gate.wait_for(3)
    with pytest.raises(service.Overloaded):
        await scorer.score([[1.0] * service.FEATURES])
    device_gate.release()
    assert len(await asyncio.gather(*taken_on)) == 3


@pytest.mark.aioarray(max_loop_lag=30_000)
async def test_large_requests_do_not_hold_the_loop(scorer: service.Scorer) -> None:
    with testing.count() as counted:
        await asyncio.gather(*[scorer.score([[1.0] * service.FEATURES] * 64) for _ in range(20)])
    assert counted.launches >= 20
    assert counted.sync_reads == 0
