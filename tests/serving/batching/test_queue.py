"""The rules of the queue, on a clock that the test turns: no loop, no model."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from aioarray.errors import DeadlineError, QueueFullError
from aioarray.serving.batching.estimates import Estimates
from aioarray.serving.batching.inputs import BatchSizes
from aioarray.serving.batching.queue import SWEEP, BatchQueue, QueueLimits, TooMuchWorkError
from aioarray.serving.batching.requests import Batch, Request


def make(estimates: Estimates | None = None, **options: Any) -> BatchQueue:
    defaults: dict[str, Any] = {"max_batch_size": 4, "max_delay": 1.0, "max_queue": 100}
    return BatchQueue(estimates or Estimates(lambda rows: rows), QueueLimits(**(defaults | options)))


def admit(queue: BatchQueue, now: float = 0.0, group: str = "g", rows: int = 1, **options: Any) -> Request:
    request = Request(group, rows, **options)
    queue.admit(request, now)
    return request


def requests_of(batch: Batch | None) -> list[Request]:
    assert batch is not None
    return [part.request for part in batch.parts]


# When a batch leaves


def test_leaves_at_once_when_idle_and_grows_while_one_runs() -> None:
    queue = make()
    first = admit(queue)
    running = queue.take(0.0)
    assert requests_of(running) == [first]
    others = [admit(queue, 0.1 * i) for i in range(3)]
    assert queue.take(5.0) is None
    assert queue.wake_at(5.0) == math.inf
    queue.finished(running)
    assert requests_of(queue.take(5.0)) == others


def test_with_another_slot_a_batch_waits_for_max_delay_or_until_it_is_full() -> None:
    queue = make(max_concurrent_batches=2)
    admit(queue)
    queue.take(0.0)
    waiting = [admit(queue, 0.5)]
    assert queue.take(1.4) is None
    assert queue.wake_at(1.4) == 1.5
    assert requests_of(queue.take(1.5)) == waiting
    queue = make(max_concurrent_batches=2)
    admit(queue)
    queue.take(0.0)
    four = [admit(queue, 0.5) for _ in range(4)]
    assert requests_of(queue.take(0.5)) == four


def test_not_eager_waits_when_idle_too() -> None:
    queue = make(eager=False)
    request = admit(queue)
    assert queue.take(0.5) is None
    assert queue.wake_at(0.5) == 1.0
    assert requests_of(queue.take(1.0)) == [request]


def test_draining_waits_for_nothing() -> None:
    queue = make(eager=False)
    request = admit(queue)
    queue.draining = True
    assert requests_of(queue.take(0.0)) == [request]


# What it holds


def test_groups_are_batched_apart_in_the_order_of_their_oldest() -> None:
    queue = make(max_concurrent_batches=3)
    a1, b1, a2, b2 = (admit(queue, i / 10, group) for i, group in enumerate("abab"))
    assert requests_of(queue.take(1.0)) == [a1, a2]
    assert requests_of(queue.take(1.1)) == [b1, b2]


def test_a_large_request_is_split_and_fills_up_batches() -> None:
    queue = make(max_concurrent_batches=9, max_delay=0)
    small = admit(queue, rows=3)
    large = admit(queue, rows=6)
    batches = [queue.take(0.0) for _ in range(3)]
    parts = [[(p.request, p.start, p.stop) for p in b.parts] for b in batches if b is not None]
    assert parts == [[(small, 0, 3), (large, 0, 1)], [(large, 1, 5)], [(large, 5, 6)]]
    assert queue.take(0.0) is None
    assert queue.rows == queue.requests == 0


def test_a_request_without_rows_travels_too() -> None:
    queue = make()
    empty = admit(queue, rows=0)
    assert requests_of(queue.take(0.0)) == [empty]
    assert queue.requests == 0


def test_cost_limits_a_batch() -> None:
    queue = make(max_batch_cost=10.0)
    costs = [6.0, 4.0, 0.5]
    requests = [admit(queue, cost=cost) for cost in costs]
    batch = queue.take(0.0)
    assert requests_of(batch) == requests[:2]
    queue.finished(batch)
    assert requests_of(queue.take(0.0)) == requests[2:]


def test_lower_priority_numbers_first_and_others_fill_up() -> None:
    queue = make(priority_levels=3)
    low = [admit(queue, priority=2) for _ in range(3)]
    high = [admit(queue, priority=0) for _ in range(2)]
    middle = admit(queue, priority=1)
    assert requests_of(queue.take(0.0)) == [*high, middle, low[0]]


def test_clients_take_turns() -> None:
    queue = make(max_batch_size=2)
    flood = [admit(queue, client="flood") for _ in range(10)]
    batch = queue.take(0.0)
    assert requests_of(batch) == flood[:2]
    queue.finished(batch)
    # A client that comes later has not been served yet, so it is its turn; then it is alternately.
    other = [admit(queue, client="other") for _ in range(4)]
    batch = queue.take(0.0)
    assert requests_of(batch) == other[:2]
    queue.finished(batch)
    batch = queue.take(0.0)
    assert set(requests_of(batch)) == {flood[2], other[2]}
    queue.finished(batch)
    assert set(requests_of(queue.take(0.0))) == {flood[3], other[3]}


def test_a_client_of_another_group_does_not_wait_for_a_flood() -> None:
    queue = make(max_batch_size=2)
    for _ in range(50):
        admit(queue, group="a", client="flood")
    batch = queue.take(0.0)
    queue.finished(batch)
    other = admit(queue, group="b", client="other")
    served = []
    while other not in served:
        batch = queue.take(0.0)
        served += requests_of(batch)
        queue.finished(batch)
    assert len(served) <= 5


# What an urgent request waits for


def measured(seconds: dict[int, float], group: str = "g") -> Estimates:
    """Batches of so many rows took so long."""
    estimates = Estimates(BatchSizes("test", sorted(seconds), None).padded)
    for rows, each in seconds.items():
        estimates.add(group, rows, each, 0.0, first_counts=True)
    return estimates


def sizes_of(queue: BatchQueue, count: int) -> list[int]:
    """The rows of the next batches, one after another."""
    sizes = []
    for _ in range(count):
        batch = queue.take(0.0)
        assert batch is not None
        sizes.append(batch.rows)
        queue.finished(batch)
    return sizes


TIMES = {1: 0.002, 4: 0.008, 8: 0.018, 16: 0.035, 32: 0.07}


def test_rows_of_low_priority_go_in_batches_of_bounded_time() -> None:
    options = {"max_batch_size": 32, "priority_levels": 2, "max_queue": 1000}
    for bound, expected in ((0.02, 8), (0.05, 16), (0.001, 1), (math.inf, 32)):
        queue = make(measured(TIMES), low_priority_seconds=bound, **options)
        admit(queue, rows=96, priority=1)
        assert sizes_of(queue, 3) == [expected] * 3
        # What is urgent is not bounded, nor is what nobody has measured.
        admit(queue, rows=32)
        assert sizes_of(queue, 1) == [32]
    queue = make(low_priority_seconds=0.02, **options)
    admit(queue, rows=96, priority=1)
    assert sizes_of(queue, 2) == [32, 32]


def test_rows_of_low_priority_fill_up_what_urgent_ones_are_padded_to_and_no_more() -> None:
    queue = make(measured(TIMES), max_batch_size=32, priority_levels=2, low_priority_seconds=0.02)
    low = admit(queue, rows=50, priority=1)
    urgent = admit(queue, rows=9)
    batch = queue.take(0.0)
    assert batch is not None
    assert [(part.request, part.rows) for part in batch.parts] == [(urgent, 9), (low, 7)]
    queue.finished(batch)
    urgent = admit(queue, rows=1)
    batch = queue.take(0.0)
    assert batch is not None
    assert [(part.request, part.rows) for part in batch.parts] == [(urgent, 1), (low, 7)]


def test_an_urgent_request_goes_before_the_next_batch_of_low_priority() -> None:
    queue = make(measured(TIMES), max_batch_size=32, priority_levels=2, low_priority_seconds=0.02)
    admit(queue, rows=60, priority=1, client="bulk")
    running = queue.take(0.0)
    assert running is not None
    assert running.rows == 8
    urgent = admit(queue)
    queue.finished(running)
    assert requests_of(queue.take(0.0))[0] is urgent


@pytest.mark.parametrize("group", ["g", "other"])
def test_a_small_request_waits_for_one_batch_of_each_large_one_of_its_client(group: str) -> None:
    queue = make(max_batch_size=4, max_queue=10**6)
    large = [admit(queue, rows=400, client="one") for _ in range(3)]
    first = queue.take(0.0)
    assert first is not None
    small = admit(queue, group=group, client="one")
    served = []
    while small not in served:
        queue.finished(next(iter(queue.running)))
        served += requests_of(queue.take(0.0))
    assert served[:4] == [large[1], large[2], large[0], small]


def test_large_requests_of_a_client_take_turns_and_all_rows_are_taken_once() -> None:
    queue = make(max_batch_size=4, max_queue=10**6)
    requests = [admit(queue, rows=rows) for rows in (10, 6, 1)]
    parts = []
    while (batch := queue.take(0.0)) is not None:
        parts.append([(requests.index(part.request), part.start, part.stop) for part in batch.parts])
        queue.finished(batch)
    assert parts == [[(0, 0, 4)], [(1, 0, 4)], [(2, 0, 1), (0, 4, 7)], [(0, 7, 8), (1, 4, 6), (0, 8, 9)], [(0, 9, 10)]]


# What is turned away


def test_full_queue_says_when_to_try_again() -> None:
    estimates = Estimates(lambda rows: rows)
    queue = make(estimates, max_queue=8)
    for _ in range(8):
        admit(queue)
    with pytest.raises(QueueFullError, match="max_queue=8") as unknown:
        admit(queue)
    assert unknown.value.retry_after is None
    for request in queue.take_all():
        request.abandon()
    estimates.add("g", 4, 2.0, 0.0, first_counts=True)
    for _ in range(4):
        admit(queue)
    queue.take(0.0)
    for _ in range(8):
        admit(queue)
    with pytest.raises(QueueFullError) as known:
        admit(queue, now=0.5)
    assert known.value.retry_after == pytest.approx(1.5 + 2 * 2.0)


def test_max_wait_turns_away_what_would_wait_longer() -> None:
    estimates = Estimates(lambda rows: rows)
    estimates.add("g", 4, 1.0, 0.0, first_counts=True)
    queue = make(estimates, max_wait=0.5)
    for _ in range(4):
        admit(queue)
    queue.take(0.0)
    with pytest.raises(QueueFullError, match="max_wait") as error:
        admit(queue, now=0.25)
    assert error.value.retry_after == pytest.approx(0.25)
    with pytest.raises(QueueFullError, match="max_wait"):
        queue.check_any(0.25)
    queue.check_any(0.5)
    for _ in range(4):
        admit(queue, now=0.5)
    with pytest.raises(QueueFullError):
        admit(queue, now=0.9)


def test_what_cannot_make_its_deadline_is_refused_at_once() -> None:
    estimates = Estimates(lambda rows: rows)
    for rows in (1, 4):
        estimates.add("g", rows, 1.0, 0.0, first_counts=True)
    queue = make(estimates)
    with pytest.raises(DeadlineError, match="at least 1 s"):
        admit(queue, deadline=0.9)
    admit(queue, deadline=1.1)
    for _ in range(3):
        admit(queue)
    queue.take(0.0)
    with pytest.raises(DeadlineError):
        admit(queue, now=0.5, deadline=1.9)
    admit(queue, now=0.5, deadline=2.1)


def test_an_old_measurement_refuses_nobody() -> None:
    estimates = Estimates(lambda rows: rows)
    estimates.add("g", 1, 0.5, 0.0, first_counts=True)
    queue = make(estimates)
    with pytest.raises(DeadlineError):
        admit(queue, now=5.0, deadline=5.4)
    admit(queue, now=5.1, deadline=5.4)


def test_the_first_batch_of_a_size_is_no_measurement() -> None:
    estimates = Estimates(lambda rows: rows)
    estimates.add("g", 1, 9.0, 0.0)
    assert estimates.mean("g", 1) == 0
    estimates.add("g", 1, 1.0, 0.0)
    assert estimates.mean("g", 1) == estimates.least("g", 1, 0.0) == 1


# Leaving


def test_deadlines_pass_in_the_queue_and_in_batches() -> None:
    queue = make()
    running = admit(queue, deadline=2.0)
    queue.take(0.0)
    waiting = admit(queue, deadline=1.0)
    late = admit(queue, deadline=3.0)
    assert queue.wake_at(0.0) == 1.0
    assert queue.expire(0.5) == []
    assert queue.expire(1.0) == [waiting]
    assert queue.expire(2.0) == [running]
    running.abandon()
    assert queue.wake_at(2.0) == 3.0
    assert queue.requests == 1
    assert late.queued


def test_what_became_hopeless_is_left_out_of_the_batch() -> None:
    estimates = Estimates(lambda rows: rows)
    estimates.add("g", 1, 1.0, 0.0, first_counts=True)
    queue = make(estimates)
    hopeless = admit(queue, deadline=2.0)
    fine = admit(queue, deadline=3.0)
    assert requests_of(queue.take(1.5)) == [fine]
    assert queue.take_overdue() == [hopeless]
    assert queue.take_overdue() == []


def test_nothing_is_kept_of_requests_that_left() -> None:
    queue = make(max_queue=10**6)
    staying = admit(queue, group="stay", client="stay")
    for i in range(2000):
        request = admit(queue, group=f"g{i % 3}", client=i, deadline=100.0)
        queue.remove(request)
        request.abandon()
    assert queue.requests == queue.rows == 1
    limit = 2 * SWEEP + 10
    sizes = (len(queue._heap), len(queue._arrivals), len(queue._deadlines), len(queue._clients[0]))
    assert max(sizes) <= limit
    assert list(queue._groups) == ["stay"]
    queue.remove(staying)
    assert not queue._heap
    assert not queue._groups
    assert not queue._full
    assert queue._backlogs == [0.0]


# Any order of events


class Queue(RuleBasedStateMachine):
    """Whatever happens in whatever order: every row is computed once or its request ended, and the sums are right."""

    @initialize(
        size=st.integers(1, 5),
        concurrent=st.integers(1, 3),
        levels=st.integers(1, 3),
        eager=st.booleans(),
        cost=st.sampled_from([math.inf, 4.0, 7.5]),
        measured=st.booleans(),
        longest=st.sampled_from([math.inf, 0.4, 1.0]),
        low=st.sampled_from([math.inf, 0.3]),
    )
    def start(
        self,
        size: int,
        concurrent: int,
        levels: int,
        eager: bool,
        cost: float,
        measured: bool,
        longest: float,
        low: float,
    ) -> None:
        self.now = 0.0
        self.size = size
        self.levels = levels
        self.cost = cost
        self.longest = longest
        self.estimates = Estimates(BatchSizes("test", None, size).padded)
        if measured:
            self.estimates.add("a", size, 0.5, 0.0, first_counts=True)
        self.queue = make(
            self.estimates,
            max_batch_size=size,
            max_concurrent_batches=concurrent,
            priority_levels=levels,
            eager=eager,
            max_batch_cost=cost,
            max_queue=30,
            max_wait=longest,
            low_priority_seconds=low,
        )
        self.alive: list[Request] = []
        self.rows: dict[Request, list[tuple[int, int]]] = {}

    def end(self, request: Request) -> None:
        request.abandon()
        self.alive.remove(request)

    @rule(
        group=st.sampled_from("abc"),
        rows=st.integers(0, 9),
        priority=st.integers(0, 2),
        client=st.sampled_from([None, 1, 2]),
        timeout=st.sampled_from([math.inf, 0.0, 0.5, 3.0]),
        cost=st.sampled_from([0.0, 1.0, 2.5]),
    )
    def admit(self, group: str, rows: int, priority: int, client: int | None, timeout: float, cost: float) -> None:
        request = Request(
            group,
            rows,
            cost=cost,
            priority=priority % self.levels,
            client=client,
            deadline=self.now + timeout,
        )
        before = self.queue.rows
        try:
            self.queue.check_any(self.now)
            some = True
        except QueueFullError:
            some = False
        try:
            self.queue.admit(request, self.now)
        except QueueFullError:
            assert before + max(rows, 1) > 30 or self.longest < math.inf or (rows > self.size and timeout < math.inf)
        except TooMuchWorkError:
            assert rows > self.size
            assert timeout < 0.5 * rows / self.size
        except DeadlineError:
            assert timeout < math.inf
        else:
            assert some
            self.alive.append(request)
            self.rows[request] = []

    @rule(seconds=st.sampled_from([0.1, 0.5, 1.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        expected = {r for r in self.alive if r.deadline <= self.now}
        expired = self.queue.expire(self.now)
        assert len(expired) == len(set(expired))
        assert set(expired) == expected
        for request in expired:
            self.end(request)

    @rule()
    def take(self) -> None:
        slots = self.queue.may_take
        batch = self.queue.take(self.now)
        hopeless = self.queue.take_overdue()
        for request in hopeless:
            assert request.deadline < self.now + 0.5 + 1e-9
            self.end(request)
        if batch is None:
            assert not slots or not self.queue.requests or self.queue.wake_at(self.now) > self.now
            return
        assert slots
        assert batch.parts
        assert batch.rows == sum(part.rows for part in batch.parts) <= self.size
        cost = sum(part.rows * part.request.cost for part in batch.parts)
        assert cost <= self.cost + 1e-6 or batch.rows == 1
        for part in batch.parts:
            assert part.request.group == batch.group
            assert part.request in self.alive
            spans = self.rows[part.request]
            assert part.start == (spans[-1][1] if spans else 0)
            spans.append((part.start, part.stop))

    @precondition(lambda self: self.queue.running)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        batch = data.draw(st.sampled_from(list(self.queue.running)))
        self.queue.finished(batch)
        for part in batch.parts:
            request = part.request
            request.unanswered -= part.rows
            if not request.done and request.unanswered == 0 and not request.queued:
                assert self.rows[request][-1][1] == request.rows
                self.end(request)

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.alive))
        self.queue.remove(request)
        self.end(request)

    @invariant()
    def sums_are_right(self) -> None:
        queued = [request for request in self.alive if request.queued]
        assert self.queue.requests == len(queued)
        assert self.queue.rows == sum(request.rows - request.taken for request in queued)
        assert set(self.queue._groups) == {request.group for request in queued}
        for name, group in self.queue._groups.items():
            own = [r for r in queued if r.group == name]
            assert group.requests == len(own)
            assert sum(group.rows) == sum(r.rows - r.taken for r in own)
        backlog = sum(group.backlogs[-1] for group in self.queue._groups.values())
        assert self.queue._backlogs[-1] == pytest.approx(backlog)

    def teardown(self) -> None:
        if not hasattr(self, "queue"):
            return
        # Drained, everything that is left ends.
        self.queue.draining = True
        for _ in range(1000):
            if not self.queue.requests and not self.queue.running:
                break
            for batch in list(self.queue.running):
                self.queue.finished(batch)
                for part in batch.parts:
                    part.request.unanswered -= part.rows
                    if not part.request.done and part.request.unanswered == 0 and not part.request.queued:
                        self.end(part.request)
            self.queue.take(self.now)
            for request in self.queue.take_overdue():
                self.end(request)
        assert self.alive == []


TestAnyOrder = Queue.TestCase
TestAnyOrder.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@given(
    arrivals=st.lists(st.tuples(st.sampled_from("xyz"), st.integers(1, 4)), min_size=10, max_size=60),
    size=st.integers(1, 6),
)
def test_no_client_gets_ahead_of_another_that_waits(arrivals: list[tuple[str, int]], size: int) -> None:
    """While two clients both wait, the rows they were served differ by less than the largest requests and a batch."""
    queue = make(max_batch_size=size, max_queue=10**6)
    waiting: dict[str, int] = dict.fromkeys("xyz", 0)
    for client, rows in arrivals:
        admit(queue, rows=rows, client=client)
        waiting[client] += rows
    served = dict.fromkeys("xyz", 0)
    while (batch := queue.take(0.0)) is not None:
        for part in batch.parts:
            served[part.request.client] += part.rows
        queue.finished(batch)
        backlogged = [client for client in waiting if waiting[client] > served[client]]
        ahead = [served[client] for client in backlogged]
        assert not ahead or max(ahead) - min(ahead) <= 2 * 4 + size
    assert served == waiting


def test_a_request_of_many_batches_is_refused_by_what_they_take() -> None:
    queue = make(measured({4: 1.0}), max_queue=1000)
    with pytest.raises(TooMuchWorkError, match="40 rows take 10 s, by the batches measured, and the deadline is in 9"):
        admit(queue, rows=40, deadline=9.0)
    admit(queue, rows=40, deadline=11.0)
    # It would be in time alone, and not behind the other: that may be otherwise soon.
    with pytest.raises(QueueFullError, match="would wait") as caught:
        admit(queue, rows=40, deadline=19.0)
    assert caught.value.retry_after == pytest.approx(1.0)
    admit(queue, rows=40, deadline=21.0)
    # What nobody has measured is taken.
    admit(queue, group="other", rows=400, deadline=1.0)
