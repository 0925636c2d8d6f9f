"""The first call of a program compiles it, which takes long: elsewhere, once, and while other work goes on."""

from __future__ import annotations

import asyncio
import itertools
import time

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import from_host
from tests.promise.work import within
from tests.support.loop_lag import LoopLag

OPERATIONS = 1000
_different = itertools.count(1)


def new_function() -> tuple[object, float]:
    """A function of 1,000 operations that was never compiled before, and its value at 1."""
    step = next(_different)

    def thousand(x: aio.Array) -> aio.Array:
        for i in range(OPERATIONS // 2):
            x = (x + float(step + i % 7)) * 0.5
        return x

    expected = 1.0
    for i in range(OPERATIONS // 2):
        expected = (expected + (step + i % 7)) * 0.5
    return aio.jit(thousand), expected


@pytest.mark.asyncio
async def test_twenty_tasks_compile_once_and_the_loop_goes_on() -> None:
    x = from_host(np.ones((8, 8), np.float32))
    four = from_host(np.arange(4, dtype=np.float32))
    await (four + four)

    async def measure() -> dict[str, float]:
        function, expected = new_function()
        compiles = aio.stats()["compiles"]
        longest = 0.0
        additions = 0
        done = asyncio.Event()

        async def add() -> None:
            nonlocal longest, additions
            while not done.is_set():
                start = time.perf_counter()
                await (four + four)
                longest = max(longest, time.perf_counter() - start)
                additions += 1
                await asyncio.sleep(0.002)

        async def call() -> np.ndarray:
            return await (await function(x)).to_host()

        async with LoopLag() as lag:
            adding = asyncio.create_task(add())
            start = time.perf_counter()
            values = await asyncio.gather(*[call() for _ in range(20)])
            seconds = time.perf_counter() - start
            done.set()
            await adding
        for value in values:
            np.testing.assert_allclose(value, np.full((8, 8), expected), rtol=1e-5)
        assert aio.stats()["compiles"] - compiles == 1
        assert additions > 5, f"only {additions} additions in {seconds:.3f} s"
        return {"longest addition": longest, "p99 lag": lag.figures()["p99"], "compiling": seconds}

    await within({"p99 lag": 0.010, "longest addition": 0.020}, measure)


@pytest.mark.asyncio
async def test_results_of_an_uncompiled_program_are_arrays_at_once() -> None:
    function, expected = new_function()
    result = function(from_host(np.ones((8, 8), np.float32)))
    assert not result.is_ready()
    assert (result.shape, result.dtype) == ((8, 8), np.float32)
    later = result[0] + 1.0
    assert later.shape == (8,)
    np.testing.assert_allclose(await later.to_host(), np.full(8, expected + 1), rtol=1e-5)
