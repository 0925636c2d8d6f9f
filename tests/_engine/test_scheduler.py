"""When launches are made, where, and who hears of their end: on a device that finishes when the test says so."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any

import pytest

from aioarray._engine import Pending
from aioarray._engine.cost import DEAR, LIMIT_SECONDS, PROVEN_SECONDS, QUICK, TINY, LaunchClass
from aioarray._engine.waiters import ThreadWaiter
from aioarray._engine.window import Place
from aioarray._engine.workers import WORKERS
from aioarray._xla import Cost
from tests._engine.fakes import LOST, FakeBuffer, FakeComputation, dear, program, scheduler

if TYPE_CHECKING:
    from aioarray._engine import Scheduler


class Bell(ThreadWaiter):
    """A waiter that a test waits on, with a limit."""

    def heard(self) -> bool:
        return self._lock.acquire(timeout=LOST)

    def silent(self) -> bool:
        return self._lock.locked()


def bell(device: Scheduler, pending: Any) -> Bell:
    waiter = Bell()
    assert device.add_waiter(pending.launch, waiter, waiter) is waiter
    return waiter


def ready() -> FakeBuffer:
    return FakeBuffer().finish()


def test_quick_work_is_launched_on_the_callers_thread() -> None:
    launched_on: list[threading.Thread] = []
    work = FakeComputation(during=lambda: launched_on.append(threading.current_thread()))
    with scheduler() as device:
        (pending,) = device.enqueue(program(work), [ready()])
        assert launched_on == [threading.current_thread()]
        assert isinstance(pending, Pending)
        work.finish_all()


def test_dear_work_is_launched_elsewhere() -> None:
    launched_on: list[threading.Thread] = []
    work = FakeComputation(during=lambda: launched_on.append(threading.current_thread()))
    with scheduler() as device:
        (pending,) = device.enqueue(dear(work), [ready()])
        work.wait_for_launches(1)
        assert launched_on != [threading.current_thread()]
        waiter = bell(device, pending)
        work.finish_all()
        assert waiter.heard()


def test_no_more_than_the_window_is_launched() -> None:
    work = FakeComputation()
    with scheduler(window=3) as device:
        pendings = [device.enqueue(program(work), [ready()])[0] for _ in range(10)]
        assert work.launches == 3
        assert device.in_flight == device.window.most_in_flight == 3
        assert device.unfinished() == 10
        assert not device.open
        waiter = bell(device, pendings[-1])
        for count in range(3, 10):
            work.results[count - 3][0].finish()
            work.wait_for_launches(count + 1)
        work.finish_all()
        assert waiter.heard()
        assert device.window.most_in_flight == 3
        assert device.open


def test_a_launch_waits_for_its_inputs_alone() -> None:
    slow, quick, last = FakeComputation(), FakeComputation(), FakeComputation()
    with scheduler(window=2) as device:
        device.enqueue(program(slow), [ready()])
        (first,) = device.enqueue(program(quick), [ready()])
        (queued,) = device.enqueue(program(last), [first])
        assert last.launches == 0
        quick.finish_all()  # not what was launched first
        last.wait_for_launches(1)
        assert slow.results[0][0].is_ready() is False
        waiter = bell(device, queued)
        last.finish_all()
        assert waiter.heard()
        slow.finish_all()


def test_dear_work_queued_while_inline_launches_fill_the_window_is_launched_later() -> None:
    """The worker that was called for it finds the window full, and somebody must call it again."""
    inline, behind = FakeComputation(), FakeComputation()
    blocked = threading.Event()
    hold = threading.Event()

    def occupy() -> None:
        blocked.set()
        assert hold.wait(LOST)

    busy = FakeComputation(during=occupy)
    with scheduler(window=4) as device:
        held = [device.enqueue(dear(busy), [ready()]), device.enqueue(dear(busy), [ready()])]
        assert blocked.wait(LOST)
        (queued,) = device.enqueue(dear(behind), [ready()])
        for _ in range(4):
            device.enqueue(program(inline), [ready()])
        hold.set()
        waiter = bell(device, queued)
        inline.finish_all()
        busy.wait_for_launches(2)
        busy.finish_all()
        behind.wait_for_launches(1)
        behind.finish_all()
        assert waiter.heard()
        assert len(held) == 2


def test_drain_wakes_when_launches_made_after_it_began_are_over() -> None:
    work = FakeComputation()
    with scheduler(window=4) as device:
        device.enqueue(program(work), [ready()])
        waiter = Bell()
        assert device.add_drainer(waiter, 1)
        device.enqueue(program(work), [ready()])  # on the caller's thread, with nobody watching it
        work.results[0][0].finish()
        assert waiter.silent()
        work.results[1][0].finish()
        assert waiter.heard()
        assert not device.add_drainer(Bell(), 1)


def test_a_failed_input_does_not_stop_the_worker() -> None:
    """Its dependent was released by the launch and waits for a worker when the failure comes."""
    failing, dependent, other = FakeComputation(), FakeComputation(), FakeComputation()
    with scheduler() as device:
        (first,) = device.enqueue(dear(failing), [ready()])
        failing.wait_for_launches(1)
        (second,) = device.enqueue(dear(dependent), [first])
        waiter = bell(device, second)
        failing.results[0][0].fail()
        if dependent.launches:
            dependent.finish_all()
        assert waiter.heard()
        assert second.failure is first.failure is not None
        first.failure.seen = True
        (third,) = device.enqueue(dear(other), [ready()])
        other.wait_for_launches(1)
        waiter = bell(device, third)
        other.finish_all()
        assert waiter.heard()
        assert third.failure is None


def test_queued_work_whose_results_nobody_holds_is_dropped() -> None:
    work = FakeComputation()
    with scheduler(window=1) as device:
        (running,) = device.enqueue(program(work), [ready()])
        chain = running
        for _ in range(5):
            (chain,) = device.enqueue(program(work), [chain])
        assert device.unfinished() == 6
        del chain
        gc.collect()
        assert device.unfinished() == 1
        assert device.counts.dropped == 5
        waiter = bell(device, running)
        work.finish_all()
        assert waiter.heard()
        assert work.launches == 1
        assert device.counts.enqueued == device.counts.finished + device.counts.dropped == 6


def test_work_that_a_queued_launch_needs_is_not_dropped() -> None:
    work = FakeComputation()
    with scheduler(window=1) as device:
        (running,) = device.enqueue(program(work), [ready()])
        (middle,) = device.enqueue(program(work), [ready()])
        (end,) = device.enqueue(program(work), [middle])
        del running, middle
        gc.collect()
        assert device.unfinished() == 3
        waiter = bell(device, end)
        for count in (1, 2, 3):
            work.wait_for_launches(count)
            work.finish_all()
        assert waiter.heard()
        assert device.counts.dropped == 0


def test_an_interrupted_launch_gives_its_place_back() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with scheduler(window=2) as device:
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt):
                device.enqueue(program(FakeComputation(during=interrupt)), [ready()])
        assert device.in_flight == device.unfinished() == 0
        assert device.open
        assert not device.add_drainer(Bell(), 1)


def test_workers_held_up_by_what_was_taken_for_short_leave_the_rest_to_others() -> None:
    go_on = threading.Event()
    slow = [FakeComputation(during=lambda: go_on.wait(LOST)) for _ in range(WORKERS)]
    other = FakeComputation()
    with scheduler(window=16) as device:
        device.window.reserve = 12
        held = [device.enqueue(dear(work), [ready()])[0] for work in slow]
        (pending,) = device.enqueue(dear(other), [ready()])
        other.wait_for_launches(1)
        assert not any(work.launches for work in slow)
        go_on.set()
        for work in slow:
            work.wait_for_launches(1)
            work.finish_all()
        other.finish_all()
        for each in (*held, pending):
            if each.launch is not None:  # type: ignore[union-attr]
                assert bell(device, each).heard()


def test_drain_hears_of_work_that_was_dropped() -> None:
    with scheduler() as device:
        waiting = program(FakeComputation())
        waiting.compiled = None  # and, since it is asked for already, never will be
        held = [device.enqueue(waiting, [ready()]) for _ in range(10)]
        drained = Bell()
        assert device.add_drainer(drained, 1)
        held.clear()
        assert drained.heard()
        assert device.counts.dropped == 10


def test_a_place_that_was_given_back_is_not_given_back_again() -> None:
    with scheduler() as device:
        place = Place(1, 3)
        device.window.begin(place)
        device._inline.give_back(place)
        device._inline.give_back(place)
        assert device.in_flight == 0
        assert device.window._running[3] == 0


def test_an_error_of_the_call_belongs_to_the_result() -> None:
    def refuse() -> None:
        raise ValueError("no such thing")

    with scheduler() as device:
        (pending,) = device.enqueue(program(FakeComputation(during=refuse), name="refused"), [ready()])
        assert pending.launch is None
        error = pending.failure.exception()
        assert "refused" in str(error)
        assert "no such thing" in str(error)
        assert "test_scheduler.py" in error.location
        assert device.in_flight == 0


def test_an_error_after_the_fast_path_names_the_line_too() -> None:
    with scheduler() as device:
        buffer = FakeBuffer()
        (pending,) = device.adopt(program(FakeComputation(), name="adopted"), [buffer])
        waiter = bell(device, pending)
        buffer.fail("INTERNAL: late")
        assert waiter.heard()
        error = pending.failure.exception()
        assert "adopted" in str(error)
        assert "late" in str(error)
        assert "test_scheduler.py" in error.location
        assert device.in_flight == 0


def test_waiters_are_told_once() -> None:
    work = FakeComputation()
    with scheduler() as device:
        (pending,) = device.enqueue(program(work), [ready()])
        launch = pending.launch
        first, again = Bell(), Bell()
        assert device.add_waiter(launch, "key", first) is first
        assert device.add_waiter(launch, "key", again) is first
        gone = Bell()
        device.add_waiter(launch, "gone", gone)
        device.remove_waiter(launch, "gone")
        work.finish_all()
        assert first.heard()
        assert again.silent()
        assert gone.silent()
        assert device.add_waiter(launch, "late", Bell()) is None


def test_lists_of_dependents_do_not_grow_by_the_dead() -> None:
    work = FakeComputation()
    with scheduler(window=1) as device:
        device.enqueue(program(work), [ready()])
        (queued,) = device.enqueue(program(work), [ready()])
        for _ in range(2_000):
            device.enqueue(program(work), [queued])
        assert len(queued.dependents) < 300
        work.finish_all()
        work.wait_for_launches(2)
        work.finish_all()


def test_tiny_quick_and_dear_by_prediction() -> None:
    assert LaunchClass(Cost(16.0, 192.0, 0.0), bounded=True).current == TINY
    assert LaunchClass(Cost(0.0, 8e5, 0.0), bounded=True).current == QUICK
    assert LaunchClass(Cost(1e7, 8e7, 2e7), bounded=True).current == DEAR
    assert LaunchClass(Cost(16.0, 192.0, 0.0), bounded=False).current == DEAR


def test_one_slow_launch_makes_a_program_dear_and_proofs_make_it_quick_again() -> None:
    kind = LaunchClass(Cost(0.0, 8e5, 0.0), bounded=True)
    kind.launched_inline(LIMIT_SECONDS / 2)
    assert kind.current == QUICK
    kind.launched_inline(LIMIT_SECONDS * 2)
    assert kind.current == DEAR
    for _ in range(3):
        kind.launched_on_worker(PROVEN_SECONDS / 2)
    kind.launched_on_worker(PROVEN_SECONDS * 2)  # begins anew
    for _ in range(3):
        kind.launched_on_worker(PROVEN_SECONDS / 2)
    assert kind.current == DEAR
    kind.launched_on_worker(PROVEN_SECONDS / 2)
    assert kind.current == QUICK


def test_short_launches_prove_nothing_about_unsteady_programs() -> None:
    kind = LaunchClass(Cost(1e7, 8e7, 2e7), bounded=True, steady=False)
    for _ in range(100):
        kind.launched_on_worker(PROVEN_SECONDS / 2)
    assert kind.current == DEAR


def test_tiny_programs_stay_tiny() -> None:
    kind = LaunchClass(Cost(16.0, 192.0, 0.0), bounded=True)
    kind.launched_inline(1.0)  # the thread lost the core, which says nothing about the program
    assert kind.current == TINY
