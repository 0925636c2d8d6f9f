"""A device that fails now and then: which failures are retried, how often, and what callers get to see."""

from __future__ import annotations

from typing import Any

import pytest
import service

import aioarray as aio
from aioarray import testing

pytestmark = pytest.mark.asyncio

DOCUMENT = [[1.0] * service.FEATURES]
OUT_OF_MEMORY = "RESOURCE_EXHAUSTED: out of memory"


@pytest.fixture
def scorer() -> service.Scorer:
    return service.Scorer([1.0] * service.FEATURES, retries=2)


@pytest.mark.parametrize("failures", [1, 2])
async def test_want_of_memory_is_retried(scorer: service.Scorer, fault_injector: Any, failures: int) -> None:
    fault = fault_injector(OUT_OF_MEMORY, match="scores_of", nth=range(1, failures + 1))
    assert len(await scorer.score(DOCUMENT)) == 1
    assert (fault.injected, fault.matched) == (failures, failures + 1)


async def test_it_gives_up_after_the_third_time(scorer: service.Scorer, fault_injector: Any) -> None:
    fault = fault_injector(OUT_OF_MEMORY, match="scores_of")
    with pytest.raises(aio.errors.DeviceError, match="out of memory") as caught:
        await scorer.score(DOCUMENT)
    assert caught.value.location is not None
    assert "service.py" in caught.value.location
    assert fault.injected == 3
    assert scorer.under_way == 0


async def test_other_errors_are_not_retried(scorer: service.Scorer, fault_injector: Any) -> None:
    fault = fault_injector("INTERNAL: the device is gone", match="scores_of")
    with pytest.raises(aio.errors.DeviceError, match="the device is gone"):
        await scorer.score(DOCUMENT)
    assert fault.injected == 1


@pytest.mark.parametrize("copy", ["device_put", "to_host"])
async def test_copies_fail_too(scorer: service.Scorer, copy: str) -> None:
    with testing.inject("INTERNAL: bus error", match=copy, nth=1), pytest.raises(aio.errors.DeviceError, match="bus"):
        await scorer.score(DOCUMENT)
    assert len(await scorer.score(DOCUMENT)) == 1


async def test_a_program_that_does_not_compile(scorer: service.Scorer) -> None:
    with testing.inject("INTERNAL: too large", match_compile="scores_of"), pytest.raises(aio.errors.CompileError):
        await scorer.score(DOCUMENT)
    assert len(await scorer.score(DOCUMENT)) == 1


async def test_a_slow_device_runs_into_the_time_limit() -> None:
    scorer = service.Scorer([1.0] * service.FEATURES, timeout=0.02)
    with testing.delay(30, match="scores_of"), pytest.raises(TimeoutError):
        await scorer.score(DOCUMENT)
    assert scorer.under_way == 0
