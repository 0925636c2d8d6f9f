"""Whose turn it is: from the queue to a place in the window. Under the lock where no comment differs."""

from __future__ import annotations

import time
import weakref
from functools import partial
from typing import TYPE_CHECKING

from .launch import LAUNCHING, QUEUED
from .lookahead import Lookahead
from .priority import BACKGROUND
from .waiters import wake

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType

    from .endings import Endings
    from .launch import Launch, Pending, Program, Waiter
    from .state import State
    from .watchers import Watchers
    from .window import Placed


class Turns:
    """Has launches stand in the queue when they can be made, and takes them out when it is their turn."""

    __slots__ = (
        "_call_at",
        "_call_worker",
        "_close",
        "_endings",
        "_queue",
        "_state",
        "_vacated",
        "_watchers",
        "_window",
        "lookahead",
    )

    def __init__(
        self,
        state: State,
        endings: Endings,
        watchers: Watchers,
        call_worker: Callable[[], None],
        call_at: Callable[[float, Callable[[], object]], None],
        close: Callable[[], None],
        vacated: Callable[[list[Waiter]], None],
    ) -> None:
        """``call_worker()`` has a worker look here; ``call_at`` is the timer's; ``close()`` hears that all is full."""
        self._state = state
        self._window = state.window
        self._queue = state.queue
        self._endings = endings
        self._watchers = watchers
        self._call_worker = call_worker
        self._call_at = call_at
        self._close = close
        self._vacated = vacated
        self.lookahead = Lookahead(state.window, watchers, self._runnable)

    def _runnable(self, launch: Launch) -> None:
        """Executable and inputs of ``launch`` are there; the inputs may be unfinished."""
        delay = launch.observer.delayed()
        if delay:
            launch.missing = 1
            self._call_at(time.perf_counter() + delay, partial(self._delay_is_over, weakref.ref(launch)))
        elif self.lookahead.place(launch):
            self._push(launch)
        else:
            self.lookahead.watch(launch)

    def _push(self, launch: Launch) -> None:
        """``launch`` may be made when there is a place."""
        again = launch.entry
        self._queue.push(launch)
        has_place = self._window.has_place(launch.level, launch.ahead, launch.rank)
        if not again:
            launch.observer.runnable(not has_place, self._window.fillings)
        if has_place:
            self._call_worker()
        else:
            self._watchers.watch_all(self._window.flying)
            if launch.observer.follows:
                launch.observer.waits(self._reason(launch))

    def _delay_is_over(self, reference: ReferenceType[Launch]) -> None:
        """Without the lock."""
        with self._state.lock:
            launch = reference()
            if launch is not None and launch.state == QUEUED:
                self.found(launch)

    def found(self, launch: Launch) -> None:
        """One of what ``launch`` waits for is there."""
        launch.missing -= 1
        if launch.missing == 0:
            self.ready(launch)

    def ready(self, launch: Launch) -> None:
        """Nothing is missing."""
        if launch.sources:
            self.lookahead.follow(launch)
        self._runnable(launch)

    def let_go(self, launch: Launch) -> None:
        """A gate that has held ``launch`` does so no more. Any thread."""
        with self._state.lock:
            launch.observer.let_go()
            if launch.reference is not None and launch.state == QUEUED:  # else it is on its way in, or has failed
                self.found(launch)

    def before(self, launch: Launch) -> tuple[list[str], str] | None:
        """The names of what is launched before a queued ``launch``, and why not this one. Any thread.

        None if it could not be launched: something it needs is not there, or its inputs are far from finished.
        """
        with self._state.lock:
            names = self._queue.before(launch)
            return None if names is None else (names, self._reason(launch))

    def _reason(self, launch: Launch) -> str:
        """Why ``launch``, which could be made, is not. Empty if it only needs a worker."""
        window = self._window
        if window.has_place(launch.level, launch.ahead, launch.rank):
            return "" if launch.rank < BACKGROUND else "work of higher priority goes first"
        if window.full or launch.level == 0:
            return f"{window.in_flight} launches run already"
        if launch.rank >= BACKGROUND:
            return "background work is launched one at a time, while a core is free"
        if launch.ahead:
            return "its input is not finished, and as many as needed wait inside for theirs"
        names = [
            other.program.name for other in list(self._window.flying) if other.level == launch.level and not other.ahead
        ]
        return f"{', '.join(f'`{name}`' for name in names[:3]) or 'others'} of about its duration run already"

    def take(self, dear: bool = True, long: bool = True) -> Launch | None:
        """The next launch that may be made, off the queue and with a place in the window."""
        if self._state.closing:
            return None
        while (heap := self._queue.choose(self._window, dear, long)) is not None:
            launch = self._queue.take(heap)
            if launch is not None:
                launch.state = LAUNCHING
                self.begin(launch)
                return launch
        return None

    def program_compiled(self, program: Program) -> None:
        """Called by a compile worker: ``program`` has an executable, or a failure."""
        woken: list[Waiter] = []
        with self._state.lock:
            waiting, program.waiting = program.waiting, []
            for reference in waiting:
                launch = reference()
                if launch is None or launch.state != QUEUED:
                    continue
                if program.failure is not None:
                    self._endings.fail_queued(launch, program.failure, woken)
                else:
                    self.found(launch)
            self._vacated(woken)  # those that have died meanwhile
        wake(woken)

    def donor_finished(self, pending: Pending, reference: ReferenceType[Launch]) -> None:
        """``pending``, which a queued launch takes over, is finished."""
        woken: list[Waiter] = []
        with self._state.lock:
            launch = reference()
            if launch is not None and launch.state == QUEUED:
                if pending.failure is not None:
                    self._endings.fail_queued(launch, pending.failure, woken)
                else:
                    self.found(launch)
        wake(woken)

    def lift(self, sources: list[Pending], rank: int) -> None:
        """What a launch of this rank needs is made as if it had that rank itself. A loop: chains may be long."""
        stack = list(sources)
        while stack:
            launch = stack.pop().launch
            if launch is None or launch.state != QUEUED or launch.rank <= rank:
                continue
            launch.rank = rank
            if launch.entry:
                self._push(launch)
            stack.extend(launch.sources)

    def begin(self, place: Placed) -> None:
        """Take ``place`` for what is about to be given to PJRT."""
        window = self._window
        window.begin(place)
        if window.occupied():
            self._close()
