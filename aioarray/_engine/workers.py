"""Launch workers: threads that make the launches which may run inside the dispatch call."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import TYPE_CHECKING, Final

from .cost import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

    from .cost import LaunchClass
    from .launch import Launch
    from .state import State
    from .threads import Request, Threads

# A launch often computes on the thread that makes it: more of them would take the cores from the event loop.
WORKERS: Final = 3
# One is for programs that turn out to be short.
LONG_WORKERS: Final = WORKERS - 1
# Whoever is inside one call for longer is held up: by a program that was taken for a short one. For each of those there
# is another worker, up to so many in all.
HELD_SECONDS: Final = 0.05
MOST_WORKERS: Final = 2 * WORKERS


class Workers:
    """Fields are written under the scheduler's lock, and methods called under it where no comment differs."""

    __slots__ = (
        "_call_at",
        "_calls",
        "_count",
        "_held",
        "_idle",
        "_launch",
        "_long",
        "_looking",
        "_more",
        "_state",
        "_take",
        "_threads",
        "_work",
    )

    def __init__(
        self,
        threads: Threads,
        state: State,
        take: Callable[[bool, bool], Launch | None],
        more: Callable[[bool], bool],
        launch: Callable[[Launch], None],
        call_at: Callable[[float, Callable[[], object]], None],
    ) -> None:
        """``take(dear, long)`` gives what is to be launched next, under the lock; ``launch`` launches it, without.

        ``more(long)`` says whether something could be taken; ``call_at`` is the timer's.
        """
        self._threads = threads
        self._state = state
        self._work = threading.Condition(state.lock)
        self._take = take
        self._more = more
        self._launch = launch
        self._call_at = call_at
        self._count = self._idle = 0
        self._long = 0  # of them busy with long programs
        # What workers are calling, by number: the class, unless it is known to be long, and since when. And the numbers
        # of those who are held up by it.
        self._calls: dict[int, tuple[LaunchClass | None, float]] = {}
        self._held: set[int] = set()
        self._looking = False  # the timer will look who is held up

    def first_thread(self) -> Request:
        """The thread to begin with."""
        self._count = 1
        return self._run, "aioarray-launch-1"

    def call(self) -> None:
        """Have a worker, as far as there are, look for what may be launched."""
        if self._idle:
            self._idle -= 1
            self._work.notify()
        elif self._count < WORKERS + len(self._held) and not self._state.closing:
            self._count += 1
            self._threads.start(self._run, f"aioarray-launch-{self._count}")
        elif self._count < MOST_WORKERS:
            self._look_later()

    def close(self) -> None:
        """Tell the threads to end, now that all is closing."""
        self._work.notify_all()

    def after_fork_in_child(self) -> None:
        """The threads are not in the child, and there is another lock."""
        self._work = threading.Condition(self._state.lock)
        self._count = self._idle = self._long = 0
        self._calls, self._held = {}, set()

    def _look_later(self) -> None:
        if not self._looking and not self._state.closing:
            self._looking = True
            self._call_at(perf_counter() + HELD_SECONDS, self._look)

    def _look(self) -> None:
        """See who is held up, and have others do what waits. Without the lock."""
        with self._state.lock:
            self._looking = False
            now = perf_counter()
            for number, (launch_class, begun) in self._calls.items():
                if launch_class is not None and now - begun >= HELD_SECONDS:
                    launch_class.runs(now - begun)
                    if len(self._held) < MOST_WORKERS - WORKERS:
                        self._held.add(number)
            if self._more(self._may_be_long()):
                self.call()

    def _may_be_long(self) -> bool:
        return self._long < LONG_WORKERS

    def _next(self) -> Launch | None:
        """What this worker is to launch; None if nothing, or if as many as should compute already."""
        if len(self._calls) - len(self._held) >= WORKERS:
            return None
        return self._take(True, self._may_be_long())

    def _run(self) -> None:
        launch: Launch | None
        number = threading.get_ident()
        while True:
            with self._work:
                while (launch := self._next()) is None:
                    if self._state.closing:
                        return
                    self._idle += 1
                    self._work.wait()  # whoever notifies takes us off the idle ones
                long = launch.level >= LONG
                self._long += long
                self._calls[number] = None if long else launch.program.launch_class, perf_counter()
                if self._more(self._may_be_long()):
                    self.call()  # this thread may be held up
            self._launch(launch)
            launch = None  # not held while waiting for the next
            with self._work:
                self._long -= long
                del self._calls[number]
                self._held.discard(number)
