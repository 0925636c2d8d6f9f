"""The queue: launches that are enqueued and not made yet. Under the scheduler's lock where no comment differs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING
from weakref import ref

from .cost import DEAR
from .launch import QUEUED, Launch
from .waiters import ThreadWaiter

if TYPE_CHECKING:
    from weakref import ReferenceType

    from .launch import Waiter
    from .observer import Observer


class Queue:
    """Holds no launch: one whose results nobody can see dies, and is dropped."""

    __slots__ = ("_cheap", "_dead", "_dear", "_waiting")

    def __init__(self) -> None:
        # All that wait, for inputs or for their turn, each with whom to tell if it dies. A launch that dies says so by
        # the callback of its reference, which is a method of C that may run at any moment.
        self._waiting: dict[ReferenceType[Launch], Observer] = {}
        self._dead: deque[ReferenceType[Launch]] = deque()
        # Those that could be made: on any thread, or on a worker.
        self._cheap: deque[ReferenceType[Launch]] = deque()
        self._dear: deque[ReferenceType[Launch]] = deque()

    def __len__(self) -> int:
        """How many wait, for whatever."""
        return len(self._waiting)

    @property
    def runnable(self) -> int:
        """How many could be made, give or take the dead."""
        return len(self._cheap) + len(self._dear)

    @property
    def dear(self) -> int:
        """How many of these need a worker."""
        return len(self._dear)

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

    def push(self, launch: Launch) -> None:
        """``launch``, which has been entered, could be made."""
        launch_class = launch.program.launch_class
        if launch_class is None or launch_class.current == DEAR:  # None if it is to fail
            self._dear.append(ref(launch))
        else:
            self._cheap.append(ref(launch))

    def pop(self, dear: bool) -> Launch | None:
        """The next launch to be made, taken out; only with ``dear`` one that needs a worker."""
        for queue in (self._cheap, self._dear) if dear else (self._cheap,):
            while queue:
                launch = queue.popleft()()
                if launch is not None and launch.state == QUEUED:
                    self.remove(launch)
                    return launch
        return None

    def before(self, launch: Launch) -> list[str] | None:
        """The names of what is made before ``launch``; None if it could not be made."""
        for queue in (self._dear, self._cheap):
            names: list[str] = []
            for reference in queue:
                other = reference()
                if other is launch:
                    return names
                if other is not None and other.state == QUEUED:
                    names.append(other.program.name)
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
        self._cheap.clear()
        self._dear.clear()

    def after_fork_in_child(self) -> None:
        """Forget everything: the threads that would make it are in the parent."""
        self.close()
        self._waiting.clear()
        self._dead.clear()
