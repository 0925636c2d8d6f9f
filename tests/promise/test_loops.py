"""Nothing is bound to a loop: any loop, any thread, asyncio with and without uvloop, trio."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import numpy as np
import pytest
import trio
import uvloop

import aioarray as aio
from aioarray._array import from_host
from tests.promise.work import LOST, products, shift, warm_up

Runner = Callable[[Callable[[], Coroutine[Any, Any, Any]]], Any]


def on_asyncio(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with asyncio.Runner() as runner:
        return runner.run(main())


def on_uvloop(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


RUNNERS: dict[str, Runner] = {"asyncio": on_asyncio, "uvloop": on_uvloop, "trio": trio.run}


@pytest.fixture(params=RUNNERS.values(), ids=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param


def test_await_gives_the_array_itself_ready(run: Runner) -> None:
    async def main() -> None:
        x = products(3)
        with anyio.fail_after(LOST):
            assert await x is x
            assert x.is_ready()
            assert await x is x
        assert (await x.to_host())[0, 3] == 1

    run(main)


def test_helpers(run: Runner) -> None:
    (-aio.ones(2)).block_until_ready()  # compiled

    async def main() -> None:
        with anyio.fail_after(LOST):
            tree = await aio.ready({"a": products(2), "b": [aio.ones(3) + 1, None]})
            assert tree["a"].is_ready()
            values = await aio.to_host(tree)
            np.testing.assert_array_equal(values["b"][0], [2, 2, 2])
            arrays = [products(4), -aio.ones(2), products(1)]
            seen = [x async for x in aio.as_completed(arrays)]
            assert {id(x) for x in seen} == {id(x) for x in arrays}
            assert seen[0] is arrays[1]
            await aio.drain(1)
            assert aio.stats()["pending"] == 0
            assert await aio.run_sync(lambda x: float(x[0]), aio.ones(2) + 1) == 2

    run(main)


def test_timeouts_and_cancellation(run: Runner) -> None:
    warm_up()

    async def main() -> None:
        x = products(100)
        with anyio.move_on_after(0.01) as scope:
            await x
        assert scope.cancelled_caught
        with anyio.move_on_after(0.01) as scope:
            await aio.drain(1)
        assert scope.cancelled_caught
        with anyio.fail_after(LOST):
            assert await x is x

    run(main)


def test_many_tasks_await_one_array(run: Runner) -> None:
    async def main() -> None:
        x = products(10)
        got: list[aio.Array] = []

        async def wait() -> None:
            got.append(await x)

        with anyio.fail_after(LOST):
            async with anyio.create_task_group() as group:
                for _ in range(100):
                    group.start_soon(wait)
        assert len(got) == 100
        assert all(y is x for y in got)

    run(main)


def test_gather() -> None:
    async def main() -> None:
        x, y = products(2), aio.ones(3) * 2
        first, second = await asyncio.wait_for(asyncio.gather(x, y), LOST)
        assert first is x
        assert second is y

    asyncio.run(main())


def test_created_in_one_run_awaited_in_the_next() -> None:
    async def create() -> aio.Array:
        return products(20)

    async def wait(x: aio.Array) -> aio.Array:
        return await asyncio.wait_for(x, LOST)

    x = asyncio.run(create())
    assert asyncio.run(wait(x)) is x
    assert np.asarray(x)[0, 20] == 1


def test_created_on_asyncio_awaited_on_trio_and_back() -> None:
    async def create() -> aio.Array:
        return products(20)

    async def wait() -> None:
        with anyio.fail_after(LOST):
            assert await x is x

    x = asyncio.run(create())
    trio.run(wait)
    x = trio.run(create)
    asyncio.run(wait())


def test_two_threads_with_a_loop_each() -> None:
    warm_up()
    matrix = from_host(shift(1024))
    x = products(30)
    outcomes: list[int] = []

    def work(runner: Runner) -> None:
        async def main() -> None:
            for count in range(10):
                with anyio.fail_after(LOST):
                    assert await x is x
                    y = x @ matrix
                    assert int(np.argmax((await y.to_host())[0])) == 31
                outcomes.append(count)

        runner(main)

    threads = [threading.Thread(target=work, args=(runner,)) for runner in RUNNERS.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LOST)
    assert sorted(outcomes) == sorted(list(range(10)) * len(threads))


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_closed_in_between(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    reported: list[dict[str, Any]] = []
    x = products(60)
    for _ in range(3):
        loop = factory()
        loop.set_exception_handler(lambda _, context: reported.append(context))

        async def start(tasks: list[asyncio.Future[None]]) -> None:
            tasks.extend(asyncio.ensure_future(_wait_for(x)) for _ in range(10))
            for _ in range(50):  # until they have given up looking and lined up to be woken
                await asyncio.sleep(0.0005)

        tasks: list[asyncio.Future[None]] = []
        loop.run_until_complete(start(tasks))
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()
    abandoned = factory()

    async def leave() -> None:
        tasks.append(asyncio.ensure_future(asyncio.shield(_wait_for(x))))
        await asyncio.sleep(0.005)

    abandoned.set_exception_handler(lambda _, context: reported.append(context))
    abandoned.run_until_complete(leave())
    for task in asyncio.all_tasks(abandoned):
        task.cancel()
    abandoned.run_until_complete(asyncio.sleep(0))
    abandoned.close()
    x.block_until_ready()  # the waiters of the closed loops are told, and nothing happens
    assert np.asarray(x)[0, 60] == 1
    assert reported == []


async def _wait_for(x: aio.Array) -> None:
    await x


def test_closed_loops_are_not_kept() -> None:
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def main() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await products(3)

    for _ in range(3):
        asyncio.run(main())
    asyncio.run(asyncio.sleep(0))
    gc.collect()
    assert [loop() for loop in loops[:-1]] == [None] * (len(loops) - 1)


def test_await_outside_of_a_known_loop_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="block_until_ready"):
        products(30).__await__().send(None)
