"""``hold``, ``delay`` and ``inject``: what the code in them sees, in which order, and that no other code does."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import random
import threading
import time
from typing import Any

import anyio
import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray import testing
from aioarray._engine import engine, instruments
from aioarray.errors import CompileError, DeviceError
from tests.promise.work import LOST, idle, start_python

ones = functools.partial(aio.ones, 3)


def names(gate: testing.Gate) -> list[str]:
    return [held.name for held in gate.pending]


# hold


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
        assert "test_control.py" in entry.location
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


def test_trio() -> None:
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
        assert instruments.state.installed == 3
        assert not engine.scheduler.open
    idle()
    assert instruments.state.installed == 0
    assert instruments.current() == ()
    assert engine.scheduler.open == opened


# delay


def test_a_delayed_launch_is_made_later_and_holds_no_thread() -> None:
    async def main() -> None:
        x = await ones()
        with testing.delay(0.03, match="add") as delay:
            begun = time.perf_counter()
            y = x + 1
            z = x * 2
            await z
            assert not y.is_ready()
            await asyncio.wait_for(y, LOST)
            assert time.perf_counter() - begun >= 0.03
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


# inject


@pytest.mark.parametrize("nth", [1, 2, 5])
def test_the_nth_match_fails_every_time_it_is_awaited(nth: int) -> None:
    async def main() -> None:
        x = await ones()
        with testing.inject("RESOURCE_EXHAUSTED: no memory left", match="add", nth=nth) as fault:
            results = [x + 1 for _ in range(5)]
            aio.sin(x)
        assert (fault.matched, fault.injected) == (5, 1)
        for number, result in enumerate(results, 1):
            if number != nth:
                await result
                continue
            for _ in range(3):
                with pytest.raises(DeviceError, match="no memory left") as caught:
                    await result
                assert caught.value.operation == "add"
                assert caught.value.status == "RESOURCE_EXHAUSTED"
                assert "test_control.py" in str(caught.value.location)
                assert caught.value.detail == "no memory left"

    asyncio.run(main())


def test_several_of_the_matches_fail() -> None:
    x = ones()
    with testing.inject("INTERNAL: flaky", nth=range(2, 100, 2)) as fault:
        results = [x + i for i in range(6)]
    assert (fault.matched, fault.injected) == (6, 3)
    for number, result in enumerate(results, 1):
        if number % 2:
            result.block_until_ready()
        else:
            with pytest.raises(DeviceError, match="flaky"):
                result.block_until_ready()


def test_a_retry_succeeds() -> None:
    async def robust(x: aio.Array) -> aio.Array:
        for _ in range(3):
            try:
                return await aio.exp(x)
            except DeviceError:
                continue
        raise AssertionError("gave up")

    async def main() -> None:
        x = await ones()
        with testing.count() as counter, testing.inject("UNAVAILABLE: busy", match="exp", nth=1):
            assert np.allclose((await robust(x)).tolist(), np.e)
        assert counter.launched == ("exp", "exp")
        assert counter.failed == 1

    asyncio.run(main())


def test_what_is_computed_from_it_fails_with_the_same_error() -> None:
    x = ones()
    with testing.inject("INTERNAL: first", match="add"):
        y = x + 1
        z = aio.sin(y)
    for array in (y, z, y * 2):
        with pytest.raises(DeviceError, match="first") as caught:
            array.block_until_ready()
        assert caught.value.operation == "add"
    assert (x * 2).tolist() == [2.0] * 3


def test_held_work_fails_when_it_is_released() -> None:
    x = ones()
    with testing.hold() as gate, testing.inject("INTERNAL: late"):
        y = x + 1
        assert not y.is_ready()
        gate.release()
        with pytest.raises(DeviceError, match="late"):
            y.block_until_ready()


def test_dependents_of_failed_work_are_not_held_any_more() -> None:
    x = ones()
    with testing.hold() as gate, testing.inject("INTERNAL: early", match="add"):
        y = x + 1
        z = aio.sin(y)
        gate.release(y)
        with pytest.raises(DeviceError, match="early"):
            z.block_until_ready()
        assert gate.pending == ()


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        ("NOT_FOUND: gone", "NOT_FOUND", "gone"),
        ("something", "UNKNOWN", "something"),
        (MemoryError("full"), "RESOURCE_EXHAUSTED", "full"),
        (TimeoutError(), "DEADLINE_EXCEEDED", "TimeoutError"),
        (DeviceError("lost", operation="any", status="DATA_LOSS"), "DATA_LOSS", "lost"),
    ],
)
def test_errors_come_as_the_device_would_report_them(error: Any, status: str, detail: str) -> None:
    x = ones()
    with testing.inject(error):
        y = x + 1
    with pytest.raises(DeviceError) as caught:
        y.block_until_ready()
    assert (caught.value.status, caught.value.detail) == (status, detail)


def test_jitted_functions_fail_by_their_name() -> None:
    @aio.jit
    def predict(x: aio.Array) -> dict[str, aio.Array]:
        return {"mean": aio.mean(x), "largest": aio.max(x)}

    x = ones()
    predict(x)["mean"].block_until_ready()
    with testing.inject("INTERNAL: device lost", match="predict", nth=2):
        good, bad = predict(x), predict(x)
    assert float(good["mean"]) == 1.0
    for key in ("mean", "largest"):
        with pytest.raises(DeviceError, match="device lost") as caught:
            bad[key].block_until_ready()
        assert caught.value.operation == "predict"
    assert float(predict(x)["largest"]) == 1.0


def test_compiles_fail_whether_or_not_the_program_was_compiled_before() -> None:
    @aio.jit
    def known(x: aio.Array) -> aio.Array:
        return x * 5 - 1

    @aio.jit
    def unknown(x: aio.Array) -> aio.Array:
        return x * 7 - 2

    x = ones()
    known(x).block_until_ready()
    with testing.count() as counter, testing.inject("INTERNAL: no compiler", match_compile="*known") as fault:
        for function in (known, unknown):
            for _ in range(2):
                with pytest.raises(CompileError, match="no compiler"):
                    function(x).block_until_ready()
        (x + 1).block_until_ready()
    assert (fault.matched, fault.injected) == (2, 2)
    assert counter.compiles == 0 or counter.compiled[0].name == "add"
    # Nothing of that is left.
    assert known(x).tolist() == [4.0] * 3
    assert unknown(x).tolist() == [5.0] * 3


def test_the_nth_compile_fails() -> None:
    function = aio.jit(lambda x: x + 11, name="grown")
    with testing.inject("INTERNAL: no", match_compile="grown", nth=2):
        first, second, third = (function(aio.ones(n)) for n in (1, 2, 3))
    first.block_until_ready()
    third.block_until_ready()
    with pytest.raises(CompileError, match="no"):
        second.block_until_ready()


def test_compiling_ahead_of_time_fails_too() -> None:
    async def main() -> None:
        function = aio.jit(lambda x: x + 13, name="ahead")
        spec = aio.ShapeDtype((3,), "float32")
        with testing.inject("INTERNAL: no", match_compile="ahead"), pytest.raises(CompileError, match="no"):
            await function.compile(spec)
        compiled = await function.compile(spec)
        assert (await compiled(ones())).tolist() == [14.0] * 3

    asyncio.run(main())


def test_copies_to_the_host_fail() -> None:
    async def main() -> None:
        x = await ones()
        with testing.inject("INTERNAL: bus", match="to_host", nth=2) as fault:
            await x.to_host()
            with pytest.raises(DeviceError, match="bus") as caught:
                await aio.to_host([x])
            assert caught.value.operation == "to_host"
            x.tolist()
        assert fault.matched == 3

    asyncio.run(main())


def test_copies_to_the_device_fail() -> None:
    async def main() -> None:
        host = np.ones(3, np.float32)
        large = np.ones(1 << 20, np.float32)  # which is copied by another thread
        with testing.inject("RESOURCE_EXHAUSTED: full", match="device_put", nth=(2, 4)):
            aio.asarray(host)
            with pytest.raises(DeviceError, match="full"):
                aio.asarray(host)
            await aio.device_put(large)
            with pytest.raises(DeviceError, match="full"):
                await aio.device_put(large)

    asyncio.run(main())


def test_wrong_injections_are_refused() -> None:
    with pytest.raises(ValueError, match="number 1"):
        testing.inject("INTERNAL: x", nth=0)
    with pytest.raises(ValueError, match="match or match_compile"):
        testing.inject("INTERNAL: x", match="a", match_compile="b")
    with pytest.raises(TypeError, match="must be an exception"):
        testing.inject(MemoryError)  # type: ignore[arg-type]
    for nth in ("2", 1.5, True):
        with pytest.raises(TypeError, match="it must be a number, or a container of numbers"):
            testing.inject("INTERNAL: x", nth=nth)  # type: ignore[arg-type]
    assert "0 of 0" in repr(testing.inject("INTERNAL: x", nth=np.int64(2)))  # type: ignore[arg-type]


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


def test_which_of_the_matches_fail_is_counted_by_pattern() -> None:
    x = ones().block_until_ready()
    with (
        testing.inject("INTERNAL: second sum", match="sum", nth=2) as sums,
        testing.inject("INTERNAL: third", nth=3) as all_of_them,
    ):
        made = [x + 1, aio.sum(x), x * 2, aio.sum(x), x - 1]
    assert (sums.matched, sums.injected) == (2, 1)
    assert (all_of_them.matched, all_of_them.injected) == (5, 1)
    outcomes = []
    for y in made:
        try:
            y.block_until_ready()
        except DeviceError as error:
            outcomes.append(error.detail)
        else:
            outcomes.append("")
    assert outcomes == ["", "", "third", "second sum", ""]


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


def test_an_injected_error_that_nobody_saw_is_logged() -> None:
    process = start_python(
        "import asyncio, gc, aioarray as aio\n"
        "x = aio.ones(3)\n"
        "with aio.testing.inject('INTERNAL: unheard', match='add'):\n"
        "    y = x + 1\n"
        "x.block_until_ready()\n"
        "asyncio.run(aio.drain(1))\n"
        "del y\n"
    )
    _, errors = process.communicate(timeout=3 * LOST)
    assert process.returncode == 0
    assert errors.count("unheard") == 1
    assert "an error that nobody awaited: add, enqueued at" in errors


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_faults_reach_tasks_on_any_loop(backend: str) -> None:
    async def main() -> None:
        x = await ones()
        with testing.inject("INTERNAL: anywhere", match="add"), anyio.fail_after(LOST):
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(failing, x)

    async def failing(x: aio.Array) -> None:
        with pytest.raises(DeviceError, match="anywhere"):
            await (x + 1)

    anyio.run(main, backend=backend)
