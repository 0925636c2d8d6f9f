"""Whose turn it is: which launch is made before which, on a device that finishes when the test says so."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import pytest

import aioarray as aio
from aioarray._engine import priority, queue
from aioarray._engine.cost import DEAR, LEVELS, QUICK, SHORT_SECONDS, TINY, LaunchClass, level_of
from aioarray._engine.lookahead import AHEAD_SECONDS, LASTING_SECONDS
from aioarray._engine.queue import SWEEP
from aioarray._engine.waiters import ThreadWaiter
from aioarray._engine.window import CORES
from aioarray._xla import Cost
from tests._engine.fakes import FakeBuffer, FakeComputation, program, scheduler
from tests._engine.test_scheduler import bell, ready

if TYPE_CHECKING:
    from aioarray._engine import Pending, Program, Scheduler

# Of level 3: a place for each core.
LONG = 8e-3


class Known(LaunchClass):
    """Believes what it is told instead of what it measures."""

    def __init__(self, seconds: float, kind: int) -> None:
        super().__init__(Cost(0.0, 0.0, 0.0), bounded=False)
        self.expected, self.level, self.current = seconds, level_of(seconds), kind
        self.needed = 1 << 30

    def ran(self, seconds: float, at_most: bool) -> None:
        pass


def lasting(seconds: float, execute: Any, *, kind: int = QUICK, name: str = "fake") -> Program:
    """A program that is expected to run that long."""
    made = program(execute, kind=kind, name=name)
    made.compiled.launch_class = Known(seconds, kind)
    return made


def wait_until_over(device: Scheduler, pending: Any) -> None:
    if pending.launch is not None:
        assert bell(device, pending).heard()


class Recorded:
    """Programs that note their names in the order in which they are launched."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.computations: dict[str, FakeComputation] = {}

    def __call__(self, name: str, seconds: float, kind: int = QUICK) -> Program:
        self.computations[name] = work = FakeComputation(during=lambda: self.order.append(name))
        return lasting(seconds, work, kind=kind, name=name)

    def finish(self, name: str) -> None:
        self.computations[name].wait_for_launches(1)
        self.computations[name].finish_all()


def fill(device: Scheduler, work: FakeComputation, seconds: float = LONG) -> list[Pending]:
    """Take all places of that level."""
    return [device.enqueue(lasting(seconds, work), [ready()])[0] for _ in range(CORES)]  # type: ignore[misc]


def test_what_is_over_in_the_call_needs_no_place() -> None:
    work, tiny = FakeComputation(), FakeComputation()
    with scheduler(window=2) as device:
        device.window.reserve = 2
        first = [device.enqueue(program(work), [ready()]) for _ in range(3)]
        assert work.launches == 2
        assert device.open  # for programs as short as this one
        at_once = program(tiny, kind=TINY, may_fail=False)
        kept = [device.enqueue(at_once, [ready()])]
        assert tiny.launches == 1
        kept.append(device.enqueue(at_once, [ready()]))
        assert not device.open  # the reserve is used up too
        kept.append(device.enqueue(at_once, [ready()]))
        assert (work.launches, tiny.launches) == (2, 2)
        tiny.finish_all()
        work.finish_all()
        tiny.wait_for_launches(3)
        work.wait_for_launches(3)
        tiny.finish_all()
        work.finish_all()
        for (pending,) in (*first, *kept):
            wait_until_over(device, pending)


def test_of_long_launches_as_many_run_as_there_are_cores_and_short_ones_pass() -> None:
    long, short, shorter = FakeComputation(), FakeComputation(), FakeComputation()
    with scheduler(window=4) as device:
        device.window.reserve = 100
        pendings = [device.enqueue(lasting(LONG, long), [ready()])[0] for _ in range(3 * CORES)]
        assert long.launches == CORES
        device.enqueue(program(short), [ready()])
        device.enqueue(lasting(LONG / 8, shorter), [ready()])  # level 1 has places of its own
        assert (short.launches, shorter.launches) == (1, 1)
        for count in range(CORES + 1, 3 * CORES + 1):
            long.results[count - CORES - 1][0].finish()
            long.wait_for_launches(count)
        for work in (long, short, shorter):
            work.finish_all()
        for pending in pendings:
            wait_until_over(device, pending)


def test_of_those_that_wait_the_shorter_goes_first() -> None:
    blocking, recorded = FakeComputation(), Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        fill(device, blocking)
        (long,) = device.enqueue(recorded("long", 15e-3), [ready()])
        (short,) = device.enqueue(recorded("short", 5e-3), [ready()])
        assert device.before(long.launch) == (
            ["short"],
            f"{', '.join(['`fake`'] * CORES)} of about its duration run already",
        )
        assert not recorded.order
        blocking.results[0][0].finish()
        recorded.finish("short")
        recorded.finish("long")
        wait_until_over(device, long)
        wait_until_over(device, short)
        assert recorded.order == ["short", "long"]
        blocking.finish_all()


def test_age_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has waited for as long as it takes longer goes first."""
    blocking, recorded = FakeComputation(), Recorded()
    now = 100.0
    monkeypatch.setattr(queue, "perf_counter", lambda: now)
    with scheduler() as device:
        device.window.reserve = 100
        fill(device, blocking)
        (old,) = device.enqueue(recorded("old", 15e-3), [ready()])
        now += 11e-3
        (new,) = device.enqueue(recorded("new", 5e-3), [ready()])
        blocking.results[0][0].finish()
        recorded.finish("old")
        recorded.finish("new")
        wait_until_over(device, old)
        wait_until_over(device, new)
        assert recorded.order == ["old", "new"]
        blocking.finish_all()


def test_one_successor_is_given_to_the_device_and_the_rest_of_a_chain_waits() -> None:
    work = FakeComputation()
    with scheduler(window=16) as device:
        device.window.reserve = 12
        (pending,) = device.enqueue(lasting(LONG, work), [ready()])
        for _ in range(5):
            (pending,) = device.enqueue(lasting(LONG, work), [pending])
        assert work.launches == 2
        last = bell(device, pending)
        for count in range(3, 7):
            work.results[count - 3][0].finish()
            work.wait_for_launches(count)
            assert device.in_flight <= 2
        work.finish_all()
        assert last.heard()


def test_short_launches_are_given_ahead_by_a_millisecond_of_work() -> None:
    work = FakeComputation()
    step = SHORT_SECONDS / 2
    with scheduler(window=16) as device:
        device.window.reserve = 12
        (pending,) = device.enqueue(lasting(step, work), [ready()])
        for _ in range(14):
            (pending,) = device.enqueue(lasting(step, work), [pending])
        assert work.launches == 2 + AHEAD_SECONDS // step
        last = bell(device, pending)
        for result in range(15):
            work.wait_for_launches(result + 1)
            work.results[result][0].finish()
        assert last.heard()


def test_nothing_is_given_ahead_behind_what_runs_for_very_long() -> None:
    long, short = FakeComputation(), FakeComputation()
    with scheduler(window=16) as device:
        (first,) = device.enqueue(lasting(LASTING_SECONDS, long), [ready()])
        (second,) = device.enqueue(lasting(LASTING_SECONDS, long), [first])
        pendings = [device.enqueue(program(short), [source])[0] for source in (first, second)]
        assert (long.launches, short.launches) == (1, 0)
        long.results[0][0].finish()
        long.wait_for_launches(2)
        short.wait_for_launches(1)
        assert (long.launches, short.launches) == (2, 1)
        long.results[1][0].finish()
        short.wait_for_launches(2)
        short.finish_all()
        for pending in pendings:
            wait_until_over(device, pending)


def test_what_can_run_goes_before_what_cannot() -> None:
    work, recorded = FakeComputation(), Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        running = fill(device, work)
        (waiting,) = device.enqueue(recorded("waiting", LONG), [ready()])
        successors = [device.enqueue(recorded(f"successor {n}", LONG), [x])[0] for n, x in enumerate(running)]
        work.results[0][0].finish()
        recorded.finish("waiting")
        assert recorded.order[0] == "waiting"
        work.finish_all()
        for n in range(len(successors)):
            recorded.finish(f"successor {n}")
        for pending in (waiting, *successors):
            wait_until_over(device, pending)


def test_background_is_launched_while_nothing_else_could_be_and_one_at_a_time() -> None:
    work, recorded = FakeComputation(), Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        fill(device, work)
        with aio.priority("background"):
            first = device.enqueue(recorded("background 1", LONG), [ready()])[0]
            second = device.enqueue(recorded("background 2", LONG), [ready()])[0]
        (normal,) = device.enqueue(recorded("normal", LONG), [ready()])
        work.results[0][0].finish()
        recorded.finish("normal")
        recorded.finish("background 1")
        recorded.finish("background 2")
        for pending in (normal, first, second):
            wait_until_over(device, pending)
        assert recorded.order == ["normal", "background 1", "background 2"]
        work.finish_all()


def test_background_work_ends_while_the_rest_leaves_a_core() -> None:
    work, recorded = FakeComputation(), Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        if CORES > 1:
            device.enqueue(lasting(LONG, work), [ready()])
        with aio.priority("background"):
            background = [device.enqueue(recorded(f"{n}", LONG), [ready()])[0] for n in range(5)]
        for n in range(5):
            recorded.finish(f"{n}")
            wait_until_over(device, background[n])
        assert recorded.order == [str(n) for n in range(5)]
        work.finish_all()


def test_high_priority_goes_first_and_has_a_place_of_its_own() -> None:
    work, recorded = FakeComputation(), Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        fill(device, work)
        (normal,) = device.enqueue(recorded("normal", LONG), [ready()])
        with aio.priority("high"):
            (first,) = device.enqueue(recorded("high 1", LONG), [ready()])
            (second,) = device.enqueue(recorded("high 2", LONG), [ready()])
        recorded.finish("high 1")
        recorded.finish("high 2")
        work.finish_all()
        recorded.finish("normal")
        for pending in (normal, first, second):
            wait_until_over(device, pending)
        assert recorded.order == ["high 1", "high 2", "normal"]


def test_what_something_urgent_needs_is_lifted() -> None:
    work, recorded = FakeComputation(), Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        fill(device, work)
        with aio.priority("background"):
            (other,) = device.enqueue(recorded("other", LONG), [ready()])
            (first,) = device.enqueue(recorded("needed 1", LONG), [ready()])
            (needed,) = device.enqueue(recorded("needed 2", LONG), [first])
        (normal,) = device.enqueue(recorded("normal", LONG), [ready()])
        with aio.priority("high"):
            (urgent,) = device.enqueue(recorded("urgent", LONG), [needed])
        assert first.launch.rank == needed.launch.rank == priority.HIGH
        assert other.launch.rank == priority.BACKGROUND
        for name in ("needed 1", "needed 2", "urgent"):
            recorded.finish(name)
        wait_until_over(device, urgent)
        work.finish_all()
        recorded.finish("normal")
        recorded.finish("other")
        for pending in (normal, other):
            wait_until_over(device, pending)
        assert recorded.order == ["needed 1", "needed 2", "urgent", "normal", "other"]


def test_a_queue_does_not_keep_the_dead() -> None:
    work = FakeComputation()
    with scheduler(window=1) as device:
        device.enqueue(program(work), [ready()])
        for _ in range(20 * SWEEP):
            device.enqueue(program(work), [ready()])
        gc.collect()
        assert device.unfinished() == 1
        assert sum(map(len, device._queue._heaps)) <= 2 * SWEEP
        work.finish_all()


def test_levels() -> None:
    assert [level_of(seconds) for seconds in (0.0, 249e-6, 250e-6, 1e-3, 4e-3, 16e-3, 64e-3, 10.0)] == [
        0, 0, 1, 2, 3, 4, 5, LEVELS - 1,
    ]  # fmt: skip


def test_programs_remember_how_long_they_ran() -> None:
    known = LaunchClass(Cost(4e8, 0.0, 0.0), bounded=True)
    assert known.expected == 0.1
    known.ran(10e-3, at_most=True)
    assert known.expected == 10e-3
    known.ran(50e-3, at_most=True)  # noticed late: says nothing
    assert known.expected == 10e-3
    known.ran(12e-3, at_most=False)
    assert known.expected == pytest.approx(10.25e-3)
    known.ran(5e-3, at_most=False)
    assert known.expected < 8e-3
    for _ in range(200):
        known.ran(1.0, at_most=False)
    assert known.expected == 0.1  # the prediction errs on the long side
    assert LaunchClass(Cost(4e8, 0.0, 0.0), bounded=False)._ceiling > 1e9


def test_a_program_on_the_border_of_two_levels_stays_in_one() -> None:
    border = LaunchClass(Cost(4e8, 0.0, 0.0), bounded=True)
    border.ran(4.2e-3, at_most=False)
    assert border.level == 3
    border.ran(3.6e-3, at_most=False)
    assert border.expected < 4e-3
    assert border.level == 3
    for _ in range(8):
        border.ran(2e-3, at_most=False)
    assert border.level == 2


def test_where_the_time_depends_on_values_the_longest_counts() -> None:
    unsteady = LaunchClass(Cost(0.0, 0.0, 0.0), bounded=False, steady=False)
    unsteady.ran(1e-3, at_most=False)
    unsteady.ran(1.0, at_most=False)
    assert unsteady.expected == 1.0
    unsteady.ran(1e-3, at_most=False)
    assert unsteady.expected > 0.9


def test_a_program_that_turns_out_long_leaves_the_fast_path() -> None:
    with scheduler() as device:
        buffer = FakeBuffer()
        slow = lasting(LONG, FakeComputation())
        (pending,) = device.adopt(slow, [buffer])
        assert pending.launch is not None  # type: ignore[union-attr]
        assert pending.launch.level == level_of(LONG)  # type: ignore[union-attr]
        waiter = bell(device, pending)
        buffer.finish()
        assert waiter.heard()
        device.adopt(slow, [FakeBuffer().finish()])
        assert not device.add_drainer(ThreadWaiter(), 1)


def test_dear_programs_that_are_short_find_a_worker() -> None:
    recorded = Recorded()
    with scheduler() as device:
        device.window.reserve = 100
        long = [device.enqueue(recorded(f"long {n}", LONG * 4**n, DEAR), [ready()])[0] for n in range(2)]
        (short,) = device.enqueue(recorded("short", 0.0, DEAR), [ready()])
        for name in ("short", "long 0", "long 1"):
            recorded.finish(name)
        for pending in (*long, short):
            wait_until_over(device, pending)


def test_priorities_are_of_contexts() -> None:
    async def inside() -> int:
        return priority.current.get()

    async def main() -> list[int]:
        outside = asyncio.create_task(inside())
        with aio.priority("high"):
            task = asyncio.create_task(inside())
            with aio.priority("background"):
                nested = await inside()
            return [await outside, await task, nested, await inside()]

    assert asyncio.run(main()) == [priority.NORMAL, priority.HIGH, priority.BACKGROUND, priority.HIGH]
    assert priority.current.get() == priority.NORMAL
    with pytest.raises(ValueError, match="priority: 'low' is not one of high, normal, background"):
        aio.priority("low")  # type: ignore[arg-type]
