"""From launched to finished: watchers and callers that wait in PJRT for launches, and note their ends.

A watcher is a thread that waits for one launch after the other; between two it makes launches that are quick.
"""

from __future__ import annotations

from abc import abstractmethod
from queue import SimpleQueue
from typing import TYPE_CHECKING

from .. import _xla
from .instruments import Wait
from .launch import FINISHED, LAUNCHED, QUEUED
from .observing import Observing
from .waiters import ThreadWaiter
from .window import outcome

if TYPE_CHECKING:
    from collections import deque
    from weakref import ReferenceType

    from .._xla import Buffer
    from .launch import Launch, Pending, Waiter
    from .threads import Threads


class Landing(Observing):
    """Launches in flight, and who waits for their ends. Fields are written under the lock."""

    __slots__ = ("_cheap", "_dear", "_idle_watchers", "_threads", "_to_watch", "_watchers")

    _cheap: deque[ReferenceType[Launch]]  # could be launched, any thread will do
    _dear: deque[ReferenceType[Launch]]  # could be launched, on a worker
    _threads: Threads

    def _forget_watchers(self) -> None:
        self._watchers = self._idle_watchers = 0
        self._to_watch: SimpleQueue[Launch | None] = SimpleQueue()

    @abstractmethod
    def _take(self, dear: bool) -> Launch | None:
        """The next launch that may be made, off the queue and with a place in the window. Under the lock."""

    @abstractmethod
    def _launch(self, launch: Launch) -> None:
        """Give ``launch``, which has been taken, to PJRT. Without the lock."""

    @abstractmethod
    def _call_worker(self) -> None:
        """Have a launch worker look for what may be launched. Under the lock."""

    def _watch(self, launch: Launch) -> None:
        """Have a watcher wait for ``launch``, if none does. Under the lock."""
        if launch.watched or launch.state != LAUNCHED:
            return
        launch.watched = True
        self._to_watch.put(launch)
        if self._idle_watchers:
            self._idle_watchers -= 1
        elif self._watchers < self.window and not self._closing:
            self._watchers += 1
            self._threads.start(self._watcher, f"aioarray-watch-{self._watchers}")

    def _idle_watcher(self) -> None:
        with self._lock:
            self._idle_watchers += 1
        self._watcher()

    def _watcher(self) -> None:
        while True:
            launch = self._to_watch.get()
            if launch is None:
                return
            buffer = self.flying.get(launch)
            if buffer is not None:
                self._await_buffer(launch, buffer)
            del launch, buffer
            while True:
                with self._lock:
                    next_launch = self._take(dear=False)
                    if self._dear and self.in_flight < self.window:
                        self._call_worker()
                if next_launch is None:
                    break
                self._launch(next_launch)
                del next_launch
            with self._lock:
                self._idle_watchers += 1

    def _await_buffer(self, launch: Launch, buffer: Buffer) -> None:
        try:
            _xla.wait(buffer)
        except _xla.ForeignError:  # not lost: `_finish` asks again and keeps it
            self._land_all()
        else:
            if not self._land_alone(launch):
                self._land_all()

    def land(self, launch: Launch) -> None:
        """``launch`` is ready: note that, and what else has become ready meanwhile. Any thread."""
        buffer = self.flying.get(launch)
        alone = buffer is not None and len(self.flying) == 1 and outcome(buffer) is None
        if not (alone and self._land_alone(launch)):
            self._land_all()

    def _land_alone(self, launch: Launch) -> bool:
        """Note that ``launch``, which has its value, is over, if it is the only one and nobody waits for anything.

        What `_land_all` does then, in a third of its time, which those feel who wait for each of their launches.
        """
        with self._lock:
            pending = launch.only
            if pending is None or len(self.flying) != 1 or launch.waiters:
                return False
            if self._cheap or self._dear or self._drainers:
                return False
            launch.state = FINISHED
            launch.only = pending.launch = None
            self.flying.pop(launch, None)
            self.finished += 1
            if not self.open:
                self._open_if_possible()
            return True

    def _land_all(self) -> None:
        woken: list[Waiter] = []
        landed = self._landed()
        with self._lock:
            self._sweep(landed, woken)
            if self._cheap or self._dear:
                for flying in list(self.flying):
                    self._watch(flying)
                for _ in range(min(len(self._cheap) + len(self._dear), self.window - self.in_flight)):
                    self._call_worker()
        self._wake(woken)

    def block(self, pending: Pending) -> None:
        """Hold the calling thread, without the GIL, until ``pending`` has finished."""
        launch = pending.launch
        if launch is None:
            return
        _xla.get_client()  # raises in a forked child, where nothing ever finishes
        if launch.observation is None:
            self._block(launch)
            return
        seen = Wait("block", launch.observation)
        try:
            self._block(launch)
        finally:
            seen.finish(pending.launch is not None)

    def _block(self, launch: Launch) -> None:
        # Not the buffer of `pending`: jaxlib 0.10 has results of one launch ready one after the other.
        buffer = self.flying.get(launch)
        if buffer is not None:
            self._await_buffer(launch, buffer)
            return
        waiter = ThreadWaiter()
        if self.add_waiter(launch, waiter, waiter) is not None:
            try:
                waiter.wait()
            finally:
                self.remove_waiter(launch, waiter)
            if launch.state == QUEUED:
                self._refuse(launch)

    def _take_thread_waiters(self) -> list[Waiter]:
        """The threads that wait for launches which are made no more. Under the lock."""
        found: list[Waiter] = []
        for reference in self._queued:
            launch = reference()
            if launch is None or launch.state != QUEUED:
                continue
            for key, waiter in list(launch.waiters.items()):
                if isinstance(waiter, ThreadWaiter):
                    found.append(launch.waiters.pop(key))
        return found
