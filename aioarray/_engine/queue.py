"""The queue: launches that are enqueued and not made yet. Under the scheduler's lock where no comment differs.

Those that could be made stand in heaps, one for each kind of place and thread that they need. In a heap the order is
that of priority, then of the time at which they could be made plus the time that they will run: the shorter first, but
each passes only those that came little earlier, so none waits for ever. Pushing and taking cost O(log n). What has
died, or has been pushed again since, is thrown away when it comes to the top.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import ref

from .cost import DEAR, LEVELS, LONG
from .launch import QUEUED, Launch
from .priority import BACKGROUND
from .waiters import ThreadWaiter

if TYPE_CHECKING:
    from weakref import ReferenceType

    from .launch import Waiter
    from .observer import Observer
    from .window import Window

# A heap of this size is looked through for the dead, and again each time it has doubled.
SWEEP: Final = 256


class Entry(NamedTuple):
    """One launch in a heap; compared from left to right, as far as ``number``."""

    rank: int  # the launch's priority
    due: float
    number: int  # different for each entry
    reference: ReferenceType[Launch]

    def launch(self) -> Launch | None:
        """The launch, if it is still to be made and this is its last entry."""
        launch = self.reference()
        return launch if launch is not None and launch.state == QUEUED and launch.entry == self.number else None


class Heap:
    """Launches that need the same kind of place, and of thread."""

    __slots__ = ("_entries", "_sweep", "ahead", "dear", "level")

    def __init__(self, level: int, ahead: bool, dear: bool) -> None:
        self.level = level
        self.ahead = ahead
        self.dear = dear
        self._entries: list[Entry] = []
        self._sweep = SWEEP

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, entry: Entry) -> None:
        entries = self._entries
        heappush(entries, entry)
        if len(entries) >= self._sweep:
            self._entries = entries = [one for one in entries if one.launch() is not None]
            heapify(entries)
            self._sweep = max(SWEEP, 2 * len(entries))

    def first(self) -> Entry | None:
        """What is to be made first."""
        entries = self._entries
        while entries:
            if entries[0].launch() is not None:
                return entries[0]
            heappop(entries)
        return None

    def pop(self) -> Launch | None:
        """Take that out."""
        return heappop(self._entries).launch() if self._entries else None

    def sorted(self) -> list[Launch]:
        """All, in order."""
        return [launch for entry in sorted(self._entries) if (launch := entry.launch()) is not None]

    def clear(self) -> None:
        self._entries.clear()


class Queue:
    """Holds no launch: one whose results nobody can see dies, and is dropped."""

    __slots__ = ("_dead", "_heaps", "_number", "_used", "_waiting")

    def __init__(self) -> None:
        # All that wait, for inputs or for their turn, each with whom to tell if it dies. A launch that dies says so by
        # the callback of its reference, which is a method of C that may run at any moment.
        self._waiting: dict[ReferenceType[Launch], Observer] = {}
        self._dead: deque[ReferenceType[Launch]] = deque()
        # By level, whether ahead, whether dear; and those that are not empty, in this order.
        self._heaps = [Heap(n // 4, bool(n & 2), bool(n & 1)) for n in range(4 * LEVELS)]
        self._used: list[Heap] = []
        self._number = count(1)

    def __len__(self) -> int:
        """How many wait, for whatever."""
        return len(self._waiting)

    @property
    def runnable(self) -> bool:
        """Whether some could be made if there is a place; or have died, and nobody has noticed."""
        return bool(self._used)

    def add(self, launch: Launch) -> ReferenceType[Launch]:
        """Enter ``launch``; give the reference by which others may keep it in mind."""
        launch.reference = reference = ref(launch, self._dead.append)
        self._waiting[reference] = launch.observer
        return reference

    def remove(self, launch: Launch) -> None:
        """``launch`` does not wait any more."""
        assert launch.reference is not None
        self._waiting.pop(launch.reference, None)
        launch.reference = None  # or its callback would tell of a death that is none of a queued launch
        launch.entry = 0

    def push(self, launch: Launch) -> None:
        """``launch``, which has been entered, could be made; or its rank or its readiness has changed since."""
        launch_class = launch.program.launch_class
        level, expected, dear = 0, 0.0, True
        if launch_class is not None:  # or it is to fail
            level, expected, dear = launch_class.level, launch_class.expected, launch_class.current == DEAR
        launch.level = level
        launch.entry = number = next(self._number)
        heap = self._heaps[4 * level + 2 * launch.ahead + dear]
        if not heap:
            self._used = [other for other in self._heaps if other or other is heap]
        heap.push(Entry(launch.rank, perf_counter() + expected, number, ref(launch)))

    def choose(self, window: Window, dear: bool, long: bool) -> Heap | None:
        """The heap with the launch that is to be made next, and has a place; None if there is none.

        Only with ``dear`` one that needs a worker, and only with ``long`` such a one that is long too.
        """
        best: Heap | None = None
        best_order: tuple[int, bool, float] | None = None
        normal = False  # something waits that is not background
        # The last level of which something waits that can run, and its rank: it goes before what is ahead.
        ready, ready_rank = -1, 0
        for heap in list(self._used):
            first = heap.first()
            if first is None:
                self._used.remove(heap)
                continue
            if not heap.ahead:
                ready_rank = first.rank if heap.level != ready else min(ready_rank, first.rank)
                ready = heap.level
            elif heap.level == ready and ready_rank <= first.rank:
                continue
            normal = normal or first.rank < BACKGROUND
            if heap.dear and not (dear and (long or heap.level < LONG)):
                continue
            order = first.rank, heap.ahead, first.due
            if (best_order is None or order < best_order) and window.has_place(heap.level, heap.ahead, first.rank):
                best, best_order = heap, order
        return None if best_order is not None and best_order[0] >= BACKGROUND and normal else best

    def waits(self, level: int) -> bool:
        """Whether something of this level waits that can run."""
        return any(heap.level == level and not heap.ahead for heap in self._used)

    def take(self, heap: Heap) -> Launch | None:
        """Take out the first launch of ``heap``, which `choose` gave.

        None if it has died since, or is known to run longer than when it was put there: then it stands where it should.
        """
        launch = heap.pop()
        if not heap:
            self._used.remove(heap)
        if launch is None:
            return None
        launch_class = launch.program.launch_class
        if launch_class is not None and launch_class.level > launch.level:
            self.push(launch)
            return None
        self.remove(launch)
        return launch

    def before(self, launch: Launch) -> list[str] | None:
        """The names of what is made before ``launch`` by the same kind of thread; None if it could not be made."""
        for heap in self._used:
            launches = heap.sorted()
            if launch in launches:
                return [other.program.name for other in launches[: launches.index(launch)]]
        return None

    def bury(self) -> int:
        """Take out those that have died, and say so; how many these were."""
        count = 0
        while self._dead:
            observer = self._waiting.pop(self._dead.popleft(), None)
            if observer is not None:
                count += 1
                observer.dropped()
        return count

    def launches(self) -> list[Launch]:
        """Those that wait, as far as anybody holds them."""
        return [launch for reference in self._waiting if (launch := reference()) is not None]

    def take_thread_waiters(self) -> list[Waiter]:
        """The threads that wait for launches in the queue, which will not be made."""
        found: list[Waiter] = []
        for launch in self.launches():
            for key, waiter in list(launch.waiters.items()):
                if isinstance(waiter, ThreadWaiter):
                    found.append(launch.waiters.pop(key))
        return found

    def close(self) -> None:
        """Nothing is made any more."""
        for heap in self._used:
            heap.clear()
        self._used.clear()

    def after_fork_in_child(self) -> None:
        """Forget everything: the threads that would make it are in the parent."""
        self.close()
        self._waiting.clear()
        self._dead.clear()
