"""``hold``, ``delay`` and ``inject`` concern the code in their block, and no other task, thread or context."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

import aioarray as aio
from aioarray import testing
from aioarray._engine import engine, instruments
from aioarray.errors import DeviceError
from tests.promise.work import LOST, idle
from tests.testing.gates import names, ones


def test_a_gate_may_be_released_from_another_thread() -> None:
    x = ones()
    with testing.hold() as gate:
        y = x + 1
        thread = threading.Thread(target=gate.release)
        thread.start()
        y.block_until_ready()
        thread.join()


def test_run_sync_works_in_the_same_context_and_plain_threads_do_not() -> None:
    async def main() -> None:
        x = ones()
        with testing.hold() as gate:
            held: list[Any] = []
            thread = threading.Thread(target=lambda: held.append((x + 1).block_until_ready()))
            thread.start()
            thread.join(LOST)
            assert len(held) == 1
            y = await aio.run_sync(lambda: x * 2)
            assert names(gate) == ["multiply"]
            gate.release()
            await y

    asyncio.run(main())


def test_parallel_tasks_do_not_meet() -> None:
    async def held(x: aio.Array, turn: asyncio.Event, done: asyncio.Event) -> None:
        with testing.hold() as gate, testing.inject("INTERNAL: mine", match="sin"):
            y, z = x + 1, aio.sin(x)
            turn.set()
            await done.wait()
            assert names(gate) == ["add", "sin"]
            assert not y.is_ready()
            gate.release()
            await y
            with pytest.raises(DeviceError, match="mine"):
                await z

    async def free(x: aio.Array, turn: asyncio.Event, done: asyncio.Event) -> None:
        await turn.wait()
        with testing.count() as counter:
            assert (await (x + 1)).tolist() == [2.0] * 3
            await aio.sin(x)
        assert counter.launches == 2
        done.set()

    async def main() -> None:
        turn, done = asyncio.Event(), asyncio.Event()
        x = await ones()
        async with asyncio.timeout(LOST):
            await asyncio.gather(held(x, turn, done), free(x, turn, done))

    asyncio.run(main())


def test_contexts_do_not_meet() -> None:
    x = ones()
    with testing.hold() as gate:
        contextvars.Context().run(lambda: (x + 1).block_until_ready())
        assert gate.pending == ()


def test_a_scope_is_entered_once() -> None:
    gate = testing.hold()
    with gate:
        pass
    with pytest.raises(RuntimeError, match="once"), gate:
        pass


def test_everything_is_back_to_normal_afterwards() -> None:
    idle()
    opened = engine.scheduler.open  # an earlier test may have closed it for good, with other default dtypes
    with testing.hold(), testing.count(), testing.delay(0.0):
        assert len(instruments.state.active) == 3
        assert not engine.scheduler.open
    idle()
    assert not instruments.state.active
    assert instruments.current() == ()
    assert engine.scheduler.open == opened


def test_patterns_that_are_none_are_refused_at_the_call_and_not_where_something_is_enqueued() -> None:
    function = aio.jit(lambda x: x)
    for make in (
        lambda: testing.hold(function),  # type: ignore[arg-type]
        lambda: testing.delay(1, match=function),  # type: ignore[arg-type]
        lambda: testing.inject("INTERNAL: x", match=function),  # type: ignore[arg-type]
        lambda: testing.inject("INTERNAL: x", match_compile=function),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"^(hold|delay|inject): a pattern is .*must be the name of an operation"):
            make()
