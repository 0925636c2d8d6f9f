"""Launch workers: threads that make the launches which may run inside the dispatch call."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from .cost import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

    from .launch import Launch
    from .state import State
    from .threads import Request, Threads

# A launch often computes on the thread that makes it: more of them would take the cores from the event loop.
WORKERS: Final = 3
# One is for programs that turn out to be short.
LONG_WORKERS: Final = WORKERS - 1


class Workers:
    """Fields are written under the scheduler's lock, and methods called under it where no comment differs."""

    __slots__ = ("_count", "_idle", "_launch", "_long", "_state", "_take", "_threads", "_work")

    def __init__(
        self,
        threads: Threads,
        state: State,
        take: Callable[[bool, bool], Launch | None],
        launch: Callable[[Launch], None],
    ) -> None:
        """``take(dear, long)`` gives what is to be launched next, under the lock; ``launch`` launches it, without."""
        self._threads = threads
        self._state = state
        self._work = threading.Condition(state.lock)
        self._take = take
        self._launch = launch
        self._count = self._idle = 0
        self._long = 0  # of them busy with long programs

    def first_thread(self) -> Request:
        """The thread to begin with."""
        self._count = 1
        return self._run, "aioarray-launch-1"

    def call(self, number: int = 1) -> None:
        """Have so many workers, as far as there are, look for what may be launched."""
        for _ in range(min(number, WORKERS)):
            if self._idle:
                self._idle -= 1
                self._work.notify()
            elif self._count < WORKERS and not self._state.closing:
                self._count += 1
                self._threads.start(self._run, f"aioarray-launch-{self._count}")

    def close(self) -> None:
        """Tell the threads to end, now that all is closing."""
        self._work.notify_all()

    def after_fork_in_child(self) -> None:
        """The threads are not in the child, and there is another lock."""
        self._work = threading.Condition(self._state.lock)
        self._count = self._idle = self._long = 0

    def _run(self) -> None:
        launch: Launch | None
        while True:
            with self._work:
                while (launch := self._take(True, self._long < LONG_WORKERS)) is None:
                    if self._state.closing:
                        return
                    self._idle += 1
                    self._work.wait()  # whoever notifies takes us off the idle ones
                long = launch.level >= LONG
                self._long += long
            self._launch(launch)
            launch = None  # not held while waiting for the next
            if long:
                with self._work:
                    self._long -= 1
