"""``hold``: what stays pending, in which order it is let go, and who may wait for that."""

from __future__ import annotations

import asyncio
import gc
import random
import threading

import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray import testing
from aioarray._engine import instruments
from tests.promise.work import LOST
from tests.testing.gates import names, ones


def test_what_is_enqueued_stays_pending_until_it_is_released() -> None:
    x = ones()
    with testing.hold() as gate:
        y = x + 1
        z = aio.sin(y)
        assert names(gate) == ["add", "sin"]
        assert not y.is_ready()
        gate.release()
        assert gate.pending == ()
        assert y.tolist() == [2.0] * 3
        assert np.allclose(z.tolist(), np.sin(2.0))


def test_entries_name_the_line_that_enqueued_them() -> None:
    x = ones()
    with testing.hold() as gate:
        held = x + 1
        (entry,) = gate.pending
        assert entry.location is not None
        assert "test_hold.py" in entry.location
        assert "test_entries_name_the_line" in entry.location
        assert "add" in repr(entry)
        assert "add" in repr(gate)
        entry.release()
        with pytest.raises(RuntimeError, match="not held any more"):
            entry.release()
    held.block_until_ready()


def test_the_first_so_many_are_released() -> None:
    x = ones()
    with testing.hold() as gate:
        results = [x + i for i in range(5)]
        gate.release(2)
        aio.block_until_ready(results[:2])
        assert [y.is_ready() for y in results] == [True, True, False, False, False]
        gate.release(0)
        with pytest.raises(ValueError, match="cannot release 4, 3 held"):
            gate.release(4)
        assert len(gate.pending) == 3


@pytest.mark.parametrize("seed", range(5))
def test_independent_work_ends_in_any_order_the_test_chooses(seed: int) -> None:
    async def main() -> list[int]:
        x = ones()
        order: list[int] = []

        async def waiter(number: int, array: aio.Array) -> None:
            await array
            order.append(number)

        with testing.hold() as gate:
            arrays = [x * (i + 1) for i in range(6)]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(waiter(i, array)) for i, array in enumerate(arrays)]
                for number in chosen:
                    gate.release(arrays[number])
                    await asyncio.wait_for(tasks[number], LOST)
        return order

    chosen = list(range(6))
    random.Random(seed).shuffle(chosen)
    assert asyncio.run(main()) == chosen


def test_a_dependent_that_is_released_first_waits_for_its_input() -> None:
    x = ones()
    with testing.hold() as gate:
        y = x + 1
        z = y * 2
        first, second = gate.pending
        second.release()
        assert names(gate) == ["add"]
        assert not z.is_ready()
        first.release()
        assert z.tolist() == [4.0] * 3


def test_an_array_that_is_not_held_cannot_be_released() -> None:
    x = ones()
    with testing.hold() as gate:
        y = x + 1
        with pytest.raises(ValueError, match="this Array is not held"):
            gate.release(x)
        gate.release(y)
        with pytest.raises(ValueError, match="this Array is not held"):
            gate.release(y)


def test_an_open_gate_holds_nothing_more() -> None:
    x = ones()
    with testing.hold() as gate:
        y = x + 1
        gate.open()
        assert (x + y).tolist() == [3.0] * 3
        assert gate.pending == ()


def test_the_end_of_the_block_lets_everything_go_also_for_tasks_that_were_started_in_it() -> None:
    async def later(x: aio.Array, left: asyncio.Event) -> aio.Array:
        await left.wait()
        return await (x + 2)

    async def main() -> None:
        x, left = ones(), asyncio.Event()
        with testing.hold():
            y = x + 1
            task = asyncio.create_task(later(x, left))
            await asyncio.sleep(0)
        left.set()
        await asyncio.wait_for(y, LOST)
        assert (await asyncio.wait_for(task, LOST)).tolist() == [3.0] * 3

    asyncio.run(main())


def test_only_what_matches_is_held() -> None:
    x = ones()
    with testing.hold("s*") as gate:
        y, z, w = x + 1, aio.sin(x), aio.sqrt(x)
        assert names(gate) == ["sin", "sqrt"]
        y.block_until_ready()
        assert not z.is_ready()
        assert not w.is_ready()


def test_two_gates_must_both_let_go() -> None:
    x = ones()
    with testing.hold() as outer, testing.hold() as inner:
        y = x + 1
        inner.release()
        assert not y.is_ready()
        assert names(inner) == []
        assert names(outer) == ["add"]
        outer.release()
        y.block_until_ready()


def test_jitted_functions_are_held_and_their_compile_is_not() -> None:
    @aio.jit
    def scaled(x: aio.Array) -> aio.Array:
        return x * 3 + 1

    with testing.hold() as gate, testing.count() as counter:
        y = scaled(ones())
        assert names(gate)[-1] == "scaled"
        assert counter.compiled[-1].name == "scaled"
        gate.open()
        assert y.tolist() == [4.0] * 3
        again = scaled(y)
        assert again.tolist() == [13.0] * 3


def test_held_work_whose_results_nobody_holds_is_dropped() -> None:
    x = ones()
    with testing.hold() as gate, testing.count() as counter:
        y = x + 1
        z = y * 2
        assert len(gate.pending) == 2
        del z
        gc.collect()
        assert names(gate) == ["add"]
        assert counter.dropped == 1
        del y
        gc.collect()
        assert gate.pending == ()
        assert counter.dropped == 2


def test_cancelling_the_await_of_held_work_leaves_it_held() -> None:
    async def main() -> None:
        x = ones()
        with testing.hold() as gate:
            y = x + 1
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await y
            assert names(gate) == ["add"]
            gate.release()
            assert (await asyncio.wait_for(y, LOST)) is y

    asyncio.run(main())


def test_waiting_until_another_task_has_enqueued() -> None:
    async def service(x: aio.Array) -> float:
        y = await (x + 1)
        z = await aio.sum(y)
        return float(z)

    async def main() -> None:
        with testing.hold() as gate:
            task = asyncio.create_task(service(ones()))
            (first,) = await asyncio.wait_for(gate.wait_for(1), LOST)
            while first.name != "add":  # `ones` is an operation too
                gate.release()
                (first,) = await asyncio.wait_for(gate.wait_for(1), LOST)
            assert not task.done()
            gate.release()
            (second,) = await asyncio.wait_for(gate.wait_for(), LOST)
            assert second.name == "sum"
            gate.open()
            assert await asyncio.wait_for(task, LOST) == 6.0

    asyncio.run(main())


def test_waiting_for_a_gate_can_be_cancelled() -> None:
    async def main() -> None:
        with testing.hold() as gate:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await gate.wait_for(1)
            y = aio.asarray([1.0]) + 1
            assert len(await gate.wait_for(1)) == 1
            del y

    asyncio.run(main())


def test_waiting_for_a_gate_needs_a_loop() -> None:
    with testing.hold() as gate:
        waiting = gate.wait_for(1)
        with pytest.raises(RuntimeError, match="event loop"):
            waiting.send(None)


def test_tasks_of_trio_wait_for_gates_and_arrays() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def waiter(name: str, array: aio.Array) -> None:
            await array
            order.append(name)

        x = ones()
        with testing.hold() as gate:
            y, z = x + 1, x * 2
            with trio.fail_after(LOST):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(waiter, "add", y)
                    nursery.start_soon(waiter, "multiply", z)
                    assert len(await gate.wait_for(2)) == 2
                    gate.release(z)
                    await z
                    gate.release(y)
        return order

    assert trio.run(main) == ["multiply", "add"]


def test_what_another_thread_enqueues_while_a_gate_opens_is_not_held_for_good() -> None:
    x = ones().block_until_ready()
    gate = testing.hold("add")
    entered, go_on = threading.Event(), threading.Event()

    class Lock:
        """The gate's; one thread gets it only when the other has opened the gate."""

        def __init__(self) -> None:
            self.lock = gate._lock

        def __enter__(self) -> None:
            if threading.current_thread().name == "enqueues" and not entered.is_set():
                entered.set()
                assert go_on.wait(LOST)
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    gate._lock = Lock()  # type: ignore[assignment]
    instruments.install(gate, everywhere=True)
    try:
        results: list[aio.Array] = []
        thread = threading.Thread(target=lambda: results.append(x + 1), name="enqueues")
        thread.start()
        assert entered.wait(LOST)
        gate.open()
        go_on.set()
        thread.join(LOST)
        assert gate.pending == ()
        assert results[0].tolist() == [2.0] * 3
    finally:
        instruments.uninstall(gate)
