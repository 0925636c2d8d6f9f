"""``Batcher`` on real loops: what a request gets, whatever happens to its neighbours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray.serving import Batcher, TensorSpec

# What is waited for this long, in seconds, is lost: nothing here takes a tenth of it.
LOST = 30.0

Runner = Callable[[Callable[[], Coroutine[Any, Any, Any]]], Any]


def on_asyncio(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with asyncio.Runner() as runner:
        return runner.run(main())


RUNNERS: dict[str, Runner] = {"asyncio": on_asyncio, "trio": trio.run}


@pytest.fixture(params=RUNNERS.values(), ids=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Runner:
    def limited(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        async def within() -> Any:
            with anyio.fail_after(LOST):
                return await main()

        return request.param(within)

    return limited


def test_each_request_gets_its_own_rows(run: Runner) -> None:
    async def main() -> None:
        got: dict[int, Any] = {}
        async with Batcher(aio.jit(lambda x: {"twice": x * 2, "sum": aio.sum(x, axis=1)}), max_batch_size=8) as batcher:

            async def ask(i: int) -> None:
                got[i] = await batcher(np.full(3, i, np.float32))

            async with anyio.create_task_group() as group:
                for i in range(20):
                    group.start_soon(ask, i)
            stats = batcher.stats()
        assert len(got) == 20
        for i, result in got.items():
            np.testing.assert_array_equal(result["twice"], np.full(3, 2 * i, np.float32))
            assert result["sum"] == 3 * i
        assert (stats.accepted, stats.completed, stats.batches, stats.rows) == (20, 20, 3, 20)
        assert stats.queued == stats.running == 0

    run(main)


def test_lengths_are_padded_and_masked(run: Runner) -> None:
    shapes: list[tuple[int, ...]] = []

    def mean(x: aio.Array, mask: aio.Array, n: aio.Array) -> aio.Array:
        shapes.append(x.shape)
        return aio.sum(x * mask, axis=1) / n

    async def main() -> None:
        batcher = Batcher(
            mean,
            specs=TensorSpec(("tokens",), "float32", pad=7),
            buckets={"batch": (4,), "tokens": (4, 8)},
            arguments={"mask": "tokens", "n": "len(tokens)"},
        )
        async with batcher:
            assert await batcher([1.0, 2.0, 6.0]) == 3
            assert await batcher(np.arange(5, dtype=np.float32)) == 2

    run(main)
    assert shapes == [(4, 4), (4, 8)]
