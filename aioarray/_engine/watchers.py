"""Watchers: threads that wait in PJRT for launches, one after the other.

What a watcher does when its launch is over is the scheduler's: it hears of the end, and makes launches that are quick.
"""

from __future__ import annotations

from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from .launch import LAUNCHED, Launch
from .window import RESERVE, WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .state import State
    from .threads import Request, Threads

# So many may be needed: a thread for each launch in the window. Fewer, all waiting for long ones, would notice the end
# of a short one late.
WATCHERS: Final = WINDOW + RESERVE


class Watchers:
    """Fields are written under the scheduler's lock, and methods called under it where no comment differs."""

    __slots__ = ("_count", "_followed", "_idle", "_serve", "_state", "_threads", "_to_watch")

    def __init__(
        self,
        threads: Threads,
        state: State,
        serve: Callable[[Launch], None],
    ) -> None:
        """``serve(launch)`` waits for it and does what is to be done then, without the lock."""
        self._threads = threads
        self._state = state
        self._serve = serve
        self._to_watch: SimpleQueue[Launch | None] = SimpleQueue()
        self._count = self._idle = 0
        self._followed: Launch | None = None  # the observed launch whose end is waited for

    def first_thread(self) -> Request:
        """The thread to begin with."""
        self._count = 1
        return self._idle_run, "aioarray-watch-1"

    def watch(self, launch: Launch) -> None:
        """Have a thread wait for ``launch``, if none does."""
        if launch.watched or launch.state != LAUNCHED:
            return
        launch.watched = True
        self._to_watch.put(launch)
        if self._idle:
            self._idle -= 1
        elif self._count < WATCHERS and not self._state.closing:
            self._count += 1
            self._threads.start(self._run, f"aioarray-watch-{self._count}")

    def watch_all(self, launches: Iterable[Launch]) -> None:
        """Have a thread wait for each of ``launches`` that can run."""
        for launch in list(launches):
            if not launch.watched and not launch.ahead:
                self.watch(launch)

    def follow(self, launches: Iterable[Launch]) -> None:
        """Of the observed ones among ``launches``, the oldest first, see that the end of the first is noticed.

        And so, one by one, of all. By one thread, since many would only wake each other: mostly they end in this order.
        """
        if self._followed is None:
            for launch in list(launches):
                if launch.observer.follows and launch.state == LAUNCHED:
                    self._followed = launch
                    self.watch(launch)
                    return

    def ended(self, launch: Launch, launches: Iterable[Launch]) -> None:
        """``launch`` is over; ``launches`` are in flight."""
        if launch is self._followed:
            self._followed = None
            self.follow(launches)

    def close(self) -> None:
        """Tell the threads to end."""
        for _ in range(self._count):
            self._to_watch.put(None)

    def after_fork_in_child(self) -> None:
        """The threads are not in the child."""
        self._to_watch = SimpleQueue()
        self._count = self._idle = 0
        self._followed = None

    def _idle_run(self) -> None:
        with self._state.lock:
            self._idle += 1
        self._run()

    def _run(self) -> None:
        while True:
            launch = self._to_watch.get()
            if launch is None:
                return
            self._serve(launch)
            del launch
            with self._state.lock:
                self._idle += 1
