"""What waits, what goes next, and what is turned away: the rules of a batcher, without a loop and without a clock.

Invariants, which hold between calls:

- A request is in the queue (``queued``) until all its rows were taken into batches, or it ended. ``rows``, ``requests``
  and each group's rows are the exact sums over these requests; when there are none, nothing is kept but measurements.
- Requests go in the order of (priority, tag). Tags are start-time fair queueing: a client's next turn begins where its
  last one ends, and no earlier than what is being served; so clients get equal shares. A turn is for as many rows as a
  batch has at most: a request of more has another turn behind the client's other requests when they are taken, and
  these wait for one batch of each, not for all of it. Requests that fit into a turn go in the order they came. A group
  is served when it holds the next request of all, so no group starves another one.
- Rows of any but the first priority are in batches that take ``low_priority_seconds`` at most, by what was measured; or
  they fill up a batch of more urgent ones, as far as that makes it no larger. So an urgent request waits no longer.
- The heaps and the arrivals may hold requests that are not queued any more. These hold no data, are dropped when they
  come up, and never outnumber the others by much.

Everything here belongs to the loop's thread. Times are seconds on one clock, passed in.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..._base.errors import DeadlineError, InvalidInputError, QueueFullError
from .requests import Batch, Part, Request

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .estimates import Estimates

Entry = tuple[float, float, int, Request]

# Entries of requests that are gone, beyond as many as there are others, before they are swept out.
SWEEP: Final = 64
FEW_GROUPS: Final = 16


class TooMuchWorkError(InvalidInputError):
    """A request takes longer by itself than it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How many rows wait and run at once, and for how long. Costs and seconds may be infinite."""

    max_batch_size: int
    max_delay: float
    max_queue: int
    max_concurrent_batches: int = 1
    priority_levels: int = 1
    max_batch_cost: float = math.inf
    max_wait: float = math.inf
    low_priority_seconds: float = math.inf
    eager: bool = True


class Group:
    """Queued requests that can be in one batch."""

    __slots__ = ("backlogs", "cost", "heap", "key", "requests", "rows", "seconds")

    def __init__(self, key: Hashable, levels: int, seconds: float) -> None:
        self.key = key
        self.seconds = seconds  # of a full batch, as of when the last one left
        self.heap: list[Entry] = []
        self.requests = 0
        self.rows = [0] * levels  # queued rows of each priority
        self.cost = [0.0] * levels
        self.backlogs = [0.0] * levels  # seconds to serve this priority and those before it


class Client:
    """One client's requests of one priority."""

    __slots__ = ("end", "requests")

    def __init__(self) -> None:
        self.end = 0.0  # the tag where its last request ends
        self.requests: int = 0  # queued


class BatchQueue:
    """The queue of one batcher."""

    def __init__(self, estimates: Estimates, limits: QueueLimits) -> None:
        self.limits = limits
        self.rows: int = 0  # queued
        self.requests: int = 0
        self.running: dict[Batch, None] = {}
        self.draining = False
        self._estimates = estimates
        self._groups: dict[Hashable, Group] = {}
        self._full: dict[Group, None] = {}  # groups with enough for a whole batch
        self._heap: list[Entry] = []
        self._arrivals: deque[Request] = deque()
        self._deadlines: list[tuple[float, int, Request]] = []  # of queued and running requests
        self._deadlines_limit = SWEEP  # entries before those of requests that have ended are swept out
        self._overdue: list[Request] = []
        self._sequence = 0
        levels = limits.priority_levels
        self._backlogs = [0.0] * levels
        self._now = [0.0] * levels  # the tag being served, for each priority
        self._clients: list[dict[Hashable, Client]] = [{} for _ in range(levels)]

    # Admission

    def admit(self, request: Request, now: float) -> None:
        """Take ``request`` into the queue. ``QueueFullError`` or ``DeadlineError`` if it should not wait here."""
        if request.deadline <= now:
            raise DeadlineError("the deadline of the request has passed")
        self.check_room(request.rows, now)
        if request.deadline < math.inf or self.limits.max_wait < math.inf:
            self._check_times(request, now)
        self._enqueue(request, now)

    def check_room(self, rows: int, now: float) -> None:
        """``QueueFullError`` if there is no room for so many rows, or for a single one."""
        if self.rows + max(rows, 1) > self.limits.max_queue:
            raise QueueFullError(
                f"{self.rows} rows wait, and {rows} more would make it more than max_queue={self.limits.max_queue}",
                retry_after=self.seconds_until_empty(now),
            )

    def check_any(self, now: float) -> None:
        """``QueueFullError`` if ``admit`` would refuse a request of one row or more, whatever it is, for the queue."""
        self.check_room(1, now)
        # Looking through many groups would take longer than it spares.
        if self.limits.max_wait < math.inf and len(self._groups) <= FEW_GROUPS:
            waits = [self._wait(group, 0, now) for group in self._groups.values()]
            self._check_wait(min([self._wait(None, 0, now), *waits]))

    def _check_wait(self, wait: float) -> None:
        if wait > self.limits.max_wait:
            raise QueueFullError(
                f"the request would wait {wait:.3g} s, which is more than max_wait={self.limits.max_wait:.3g}",
                retry_after=wait - self.limits.max_wait,
            )

    def _check_times(self, request: Request, now: float) -> None:
        wait = self.wait(request, now)
        self._check_wait(wait)
        if request.rows > self.limits.max_batch_size:
            self._check_work(request, wait, now)
        least = self._estimates.least(request.group, min(request.rows, self.limits.max_batch_size), now)
        if least and now + wait + least > request.deadline:
            raise DeadlineError(
                f"the request would take at least {wait + least:.3g} s, by the batches measured, which is later than "
                f"its deadline in {request.deadline - now:.3g} s"
            )

    def _check_work(self, request: Request, wait: float, now: float) -> None:
        """Refuse a request of several batches that would not end in its time, by what whole ones take on average."""
        left = request.deadline - now
        batches = request.rows / self.limits.max_batch_size / self.limits.max_concurrent_batches
        work = batches * self._estimates.mean(request.group, self.limits.max_batch_size)
        if work > left:
            raise TooMuchWorkError(
                f"{request.rows} rows take {work:.3g} s, by the batches measured, and the deadline is in {left:.3g} s; "
                "send them in several requests"
            )
        if work and wait + work > left:
            raise QueueFullError(
                f"{request.rows} rows take {work:.3g} s, by the batches measured, and would wait {wait:.3g} s before, "
                f"and the deadline is in {left:.3g} s",
                retry_after=wait + work - left,
            )

    def _enqueue(self, request: Request, now: float) -> None:
        level = request.priority
        self._sequence += 1
        request.sequence = self._sequence
        request.arrived = now
        request.queued = True
        client = self._clients[level].get(request.client)
        if client is None:
            client = self._clients[level][request.client] = Client()
        client.requests += 1
        group = self._groups.get(request.group)
        if group is None:
            seconds = self._estimates.mean(request.group, self.limits.max_batch_size)
            group = self._groups[request.group] = Group(request.group, self.limits.priority_levels, seconds)
        self._give_turn(group, client, request)
        self._arrivals.append(request)
        if request.deadline < math.inf:
            heapq.heappush(self._deadlines, (request.deadline, self._sequence, request))
            self._sweep_deadlines()
        group.requests += 1
        self.requests += 1
        self._count(group, level, request.rows, request.rows * request.cost)

    def _give_turn(self, group: Group, client: Client, request: Request) -> None:
        """Put ``request`` behind its client's others, for as many of its rows as a batch has at most."""
        rows = min(request.rows - request.taken, self.limits.max_batch_size)
        request.tag = max(self._now[request.priority], client.end)
        request.turn = request.taken + rows
        client.end = request.tag + max(rows, 1) * (request.cost or 1.0)
        entry = request.priority, request.tag, request.sequence, request
        heapq.heappush(group.heap, entry)
        heapq.heappush(self._heap, entry)

    def wait(self, request: Request, now: float) -> float:
        """Seconds until a batch with ``request`` would leave, if it came now; 0 where nothing was measured."""
        return self._wait(self._groups.get(request.group), request.priority, now)

    def _wait(self, group: Group | None, level: int, now: float) -> float:
        wait = self._backlogs[level]
        if group is not None:
            # Its own group's last batch has room for it.
            wait -= group.backlogs[level]
            whole = math.floor(self._batches(group, level))
            wait += whole * group.seconds
        return max(0.0, wait) / self.limits.max_concurrent_batches + self._seconds_until_free(now)

    def seconds_until_empty(self, now: float) -> float | None:
        """Seconds until what waits now has been started; None where nothing was measured."""
        return self._backlogs[-1] / self.limits.max_concurrent_batches + self._seconds_until_free(now) or None

    def _seconds_until_free(self, now: float) -> float:
        if len(self.running) < self.limits.max_concurrent_batches:
            return 0.0
        return max(0.0, min(batch.started + batch.expected for batch in self.running) - now)

    # Leaving

    def remove(self, request: Request) -> None:
        """Take out a request that ends before its rows were all taken; nothing if they were."""
        if request.queued:
            group = self._groups[request.group]
            self._unqueue(group, request)
            clients = self._clients[request.priority]
            if not clients[request.client].requests:
                # It may have a debt for what was served before: of one request at most, for which it is not kept.
                del clients[request.client]
            rows = request.taken - request.rows
            self._count(group, request.priority, rows, rows * request.cost)
            self._forget_if_empty(group)
            if len(group.heap) > 2 * group.requests + SWEEP:
                group.heap = [entry for entry in group.heap if _waits(entry)]
                heapq.heapify(group.heap)
            self._sweep()

    def expire(self, now: float) -> list[Request]:
        """The requests, queued or in running batches, whose deadlines have passed; they are not queued any more."""
        expired = []
        deadlines = self._deadlines
        while deadlines and (deadlines[0][0] <= now or deadlines[0][2].done):
            request = heapq.heappop(deadlines)[2]
            if not request.done:
                self.remove(request)
                expired.append(request)
        return expired

    def take_overdue(self) -> list[Request]:
        """The requests that ``take`` left out because their deadlines come before their batch could end.

        As far as they have not ended since: their deadlines may have passed, or their callers may have gone.
        """
        overdue, self._overdue = self._overdue, []
        return [request for request in overdue if not request.done]

    def take_all(self) -> list[Request]:
        """Every queued request, in no order; the queue is empty then."""
        taken = [entry[-1] for entry in self._heap if _waits(entry)]
        for request in taken:
            self.remove(request)
        return taken

    # Batches

    def take(self, now: float) -> Batch | None:
        """The next batch, if one should leave now. It counts as running until ``finished``.

        Requests that cannot make their deadlines any more are left out, for ``take_overdue``.
        """
        while len(self.running) < self.limits.max_concurrent_batches:
            group = self._next_group(now)
            if group is None:
                return None
            batch = self._take_from(group, now)
            if batch is not None:
                return batch
        return None

    def _take_from(self, group: Group, now: float) -> Batch | None:
        least = self._estimates.least(group.key, 1, now)
        parts: list[Part] = []
        rows, cost = 0, 0.0
        leaving = [(0, 0.0)] * self.limits.priority_levels  # rows and cost, to be taken off the sums in one go
        heap = group.heap
        low_rows: int | None = None  # how many rows the batch may have with those of low priority
        while heap:
            request = heap[0][-1]
            if not _waits(heap[0]):
                heapq.heappop(heap)
                continue
            before = leaving[request.priority]
            if request.deadline < now + least:
                heapq.heappop(heap)
                self._unqueue(group, request)
                self._overdue.append(request)
                count = request.rows - request.taken
                leaving[request.priority] = before[0] + count, before[1] + count * request.cost
                continue
            if request.priority > 0 and low_rows is None:
                low_rows = self._low_priority_rows(group.key, rows)
            room = (self.limits.max_batch_size if request.priority == 0 or low_rows is None else low_rows) - rows
            if self.limits.max_batch_cost < math.inf and request.cost > 0:
                # The first row always fits; rounding shall not make it not.
                room = min(room, max(math.floor((self.limits.max_batch_cost - cost) / request.cost + 1e-9), not parts))
            count = min(room, request.turn - request.taken)
            if room <= 0:
                break
            if not parts:
                self._now[request.priority] = max(self._now[request.priority], request.tag)
            if parts and parts[-1].request is request:
                parts[-1].stop += count
            else:
                parts.append(Part(request, request.taken, request.taken + count))
            request.taken += count
            rows += count
            cost += count * request.cost
            if math.isnan(request.started):
                request.started = now
            if request.taken == request.rows:
                heapq.heappop(heap)
                self._unqueue(group, request)
            elif request.taken == request.turn:
                heapq.heappop(heap)
                self._give_turn(group, self._clients[request.priority][request.client], request)
            leaving[request.priority] = before[0] + count, before[1] + count * request.cost
        group.seconds = self._estimates.mean(group.key, self.limits.max_batch_size)
        for level, (level_rows, level_cost) in enumerate(leaving):
            if level_rows:
                self._count(group, level, -level_rows, -level_cost)
        self._forget_if_empty(group)
        self._sweep()
        if not parts:
            return None
        batch = Batch(group.key, parts, rows, now, self._estimates.mean(group.key, rows))
        self.running[batch] = None
        return batch

    def _low_priority_rows(self, group: Hashable, urgent: int) -> int:
        """How many rows a batch may have that has some of low priority behind ``urgent`` ones."""
        rows = self.limits.max_batch_size
        while rows > 1 and self._estimates.mean(group, rows) > self.limits.low_priority_seconds:
            rows //= 2
        padded = self._estimates.padded(urgent) if urgent else 0
        return min(max(rows, padded), self.limits.max_batch_size)

    def finished(self, batch: Batch) -> None:
        """``batch`` does not run any more."""
        del self.running[batch]
        if not self.running and not self.requests:
            # Nobody waits and nothing runs: what clients had before is settled.
            for clients in self._clients:
                clients.clear()

    def wake_at(self, now: float) -> float:
        """When to call ``expire`` and ``take`` again, if nothing else happens before."""
        wake = self.next_deadline()
        if self.requests and len(self.running) < self.limits.max_concurrent_batches:
            wake = min(wake, self._oldest().arrived + self.limits.max_delay)
        return wake

    def next_deadline(self) -> float:
        """The earliest deadline of a request that has not ended."""
        while self._deadlines and self._deadlines[0][2].done:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else math.inf

    @property
    def may_take(self) -> bool:
        """Whether there is room for another running batch."""
        return len(self.running) < self.limits.max_concurrent_batches

    def _next_group(self, now: float) -> Group | None:
        if not self.requests:
            return None
        if self.draining or (self.limits.eager and not self.running):
            return self._groups[self._first().group]
        candidates = list(self._full)
        oldest = self._oldest()
        if oldest.arrived + self.limits.max_delay <= now:
            candidates.append(self._groups[oldest.group])
        return min(candidates, key=self._head, default=None)

    def _first(self) -> Request:
        heap = self._heap
        while not _waits(heap[0]):
            heapq.heappop(heap)
        return heap[0][-1]

    def _oldest(self) -> Request:
        arrivals = self._arrivals
        while not arrivals[0].queued:
            arrivals.popleft()
        return arrivals[0]

    @staticmethod
    def _head(group: Group) -> tuple[float, float, int]:
        heap = group.heap
        while not _waits(heap[0]):
            heapq.heappop(heap)
        return heap[0][:3]

    # Sums

    def _unqueue(self, group: Group, request: Request) -> None:
        request.queued = False
        group.requests -= 1
        self.requests -= 1
        self._clients[request.priority][request.client].requests -= 1

    def _batches(self, group: Group, level: int) -> float:
        """How many batches there are in the group's requests of this priority and those before it."""
        batches = sum(group.rows[: level + 1]) / self.limits.max_batch_size
        if self.limits.max_batch_cost < math.inf:
            batches = max(batches, sum(group.cost[: level + 1]) / self.limits.max_batch_cost)
        return batches

    def _count(self, group: Group, level: int, rows: int, cost: float) -> None:
        """Add ``rows`` of a priority, or take them off."""
        self.rows += rows
        group.rows[level] += rows
        group.cost[level] += cost
        for each in range(level, self.limits.priority_levels):
            batches = self._batches(group, each)
            backlog = math.ceil(batches) * group.seconds
            self._backlogs[each] += backlog - group.backlogs[each]
            group.backlogs[each] = backlog
        if batches >= 1:
            self._full[group] = None
        else:
            self._full.pop(group, None)

    def _forget_if_empty(self, group: Group) -> None:
        if not group.requests and self._groups.pop(group.key, None) is not None:
            self._full.pop(group, None)
            for level, backlog in enumerate(group.backlogs):
                self._backlogs[level] -= backlog

    def _sweep(self) -> None:
        """Drop entries of requests that are gone, where there are too many."""
        if not self.requests:
            self._heap.clear()
            self._arrivals.clear()
            self._backlogs = [0.0] * self.limits.priority_levels  # and with it what rounding left
        limit = 2 * self.requests + SWEEP
        if len(self._heap) > limit:
            self._heap = [entry for entry in self._heap if _waits(entry)]
            heapq.heapify(self._heap)
        if len(self._arrivals) > limit:
            self._arrivals = deque(request for request in self._arrivals if request.queued)
        for level, clients in enumerate(self._clients):
            if len(clients) > limit:
                # A client whose last request ends before what is being served has no debt to be remembered.
                now = self._now[level]
                self._clients[level] = {
                    c: client for c, client in clients.items() if client.requests or client.end > now
                }

    def _sweep_deadlines(self) -> None:
        if len(self._deadlines) > self._deadlines_limit:
            self._deadlines = [entry for entry in self._deadlines if not entry[-1].done]
            heapq.heapify(self._deadlines)
            self._deadlines_limit = 2 * len(self._deadlines) + SWEEP


def _waits(entry: Entry) -> bool:
    """Whether an entry is of a request that waits, and of the turn that it waits for."""
    request = entry[-1]
    return request.queued and entry[1] == request.tag
