"""Waiting for launches: who waits for which, and how their ends are noticed.

Without the scheduler's lock, on any thread, where no comment differs.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final, NoReturn

from .. import _xla
from .cost import SHORT_SECONDS
from .launch import FINISHED, LAUNCHED, QUEUED
from .waiters import ThreadWaiter, wake
from .window import outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from .endings import Endings
    from .launch import Launch, Pending, Waiter
    from .state import State
    from .watchers import Watchers


# How often those who drain are told of what has died: a launch that nobody can see any more cannot tell itself.
BURY_SECONDS: Final = 0.02


class Landing:
    """Waits in PJRT for the ends of launches, and lets others wait for them."""

    __slots__ = ("_burying", "_call_at", "_endings", "_flying", "_reopen", "_state", "_vacated", "_watchers")

    def __init__(
        self,
        state: State,
        endings: Endings,
        watchers: Watchers,
        reopen: Callable[[], None],
        vacated: Callable[[list[Waiter]], None],
        call_at: Callable[[float, Callable[[], object]], None],
    ) -> None:
        """``reopen()`` opens the fast path if it can be; ``vacated(woken)`` looks who may go on."""
        self._state = state
        self._endings = endings
        self._watchers = watchers
        self._reopen = reopen
        self._vacated = vacated
        self._call_at = call_at
        self._burying = False  # the timer will tell those who drain; under the lock
        self._flying = state.window.flying

    def add_waiter(self, launch: Launch, key: object, waiter: Waiter) -> Waiter | None:
        """Register ``waiter`` under ``key``, or give the one that is there; None if ``launch`` has finished."""
        _xla.get_client()  # raises in a forked child, where nothing ever finishes
        with self._state.lock:
            if launch.state == FINISHED:
                return None
            if not self._state.closing or launch.state != QUEUED:
                existing = launch.waiters.setdefault(key, waiter)
                self._watchers.watch(launch)
                return existing
        self._refuse(launch)

    def _refuse(self, launch: Launch) -> NoReturn:
        """``launch`` is awaited, but launches are made no more."""
        _xla.stop_daemon_thread()
        raise RuntimeError(f"{launch.program.name} was never launched: the interpreter is shutting down")

    def remove_waiter(self, launch: Launch, key: object) -> None:
        """Forget the waiter under ``key``, if it is still there."""
        with self._state.lock:
            launch.waiters.pop(key, None)

    def add_drainer(self, waiter: Waiter, limit: int) -> bool:
        """Wake ``waiter`` when fewer than ``limit`` launches are unfinished; False if that is so already."""
        if _xla.is_forked():
            _xla.get_client()  # raises
        woken: list[Waiter] = []
        with self._state.lock:
            self._endings.sweep(self._state.window.landed(), woken)
            wait = self._state.unfinished() >= limit
            refused = wait and self._state.closing
            if wait and not refused:
                self._state.drainers.add(waiter, limit)
                self._watchers.watch_all(self._flying)
                self._bury_later()
        wake(woken)
        if refused:
            _xla.stop_daemon_thread()
            raise RuntimeError("drain: not all work was launched: the interpreter is shutting down")
        return wait

    def _bury_later(self) -> None:
        """Under the lock."""
        if self._state.drainers and not self._burying:
            self._burying = True
            self._call_at(perf_counter() + BURY_SECONDS, self._bury)

    def _bury(self) -> None:
        """Count those that have died, and let go on who waits for that."""
        woken: list[Waiter] = []
        with self._state.lock:
            self._burying = False
            self._vacated(woken)
            self._bury_later()
        wake(woken)

    def remove_drainer(self, waiter: Waiter) -> None:
        """Forget ``waiter``."""
        with self._state.lock:
            self._state.drainers.remove(waiter)

    def block(self, pending: Pending) -> None:
        """Hold the calling thread, without the GIL, until ``pending`` has finished."""
        launch = pending.launch
        if launch is None:
            return
        _xla.get_client()  # raises in a forked child, where nothing ever finishes
        seen = launch.observer.wait("block")
        try:
            # Not the buffer of `pending`: jaxlib 0.10 has results of one launch ready one after the other.
            if not self.wait_for(launch):
                self._block(launch)
        finally:
            seen.finish(pending.launch is not None)

    def _block(self, launch: Launch) -> None:
        """Hold the thread until ``launch``, which was not in flight a moment ago, is over."""
        waiter = ThreadWaiter()
        if self.add_waiter(launch, waiter, waiter) is not None:
            try:
                waiter.wait()
            finally:
                self.remove_waiter(launch, waiter)
            if launch.state == QUEUED:
                self._refuse(launch)

    # From launched to finished

    def wait_for(self, launch: Launch) -> bool:
        """Wait in PJRT until ``launch`` is ready, and note its end; False if it is not in flight."""
        buffer = self._flying.get(launch)
        if buffer is None:
            return False
        late = _xla.is_ready(buffer)
        try:
            _xla.wait(buffer)
        except _xla.ForeignError:  # not lost: `finish` asks again and keeps it
            self._land_all()
        else:
            now = perf_counter()
            if not self._land_alone(launch, now, late):
                self._land_all(launch, now, late)
        return True

    def land(self, launch: Launch) -> None:
        """``launch`` is ready: note that, and what else has become ready meanwhile."""
        buffer = self._flying.get(launch)
        alone = buffer is not None and len(self._flying) == 1 and outcome(buffer) is None
        now = perf_counter()
        if not (alone and self._land_alone(launch, now, late=True)):
            self._land_all(launch, now, late=True)

    def _land_alone(self, launch: Launch, now: float, late: bool) -> bool:
        """Note that ``launch``, which has its value, is over, if it is the only one and nobody waits for anything.

        What `_land_all` does then, in a third of its time, which those feel who wait for each of their launches.
        """
        with self._state.lock:
            pending = launch.only
            if pending is None or len(self._flying) != 1 or launch.waiters or launch.followers:
                return False
            if self._state.queue.runnable or self._state.drainers:
                return False
            self._measure(launch, now, late)
            self._endings.finish_alone(launch, pending)
            self._reopen()
            return True

    def _land_all(self, launch: Launch | None = None, now: float = 0.0, late: bool = True) -> None:
        """Note all ends there are; ``launch`` was ready at ``now``, or before that if it was noticed ``late``."""
        woken: list[Waiter] = []
        landed = self._state.window.landed()
        with self._state.lock:
            if launch is not None and launch.state == LAUNCHED and not launch.ahead:
                self._measure(launch, now, late)
            self._endings.sweep(landed, woken)
        wake(woken)

    def _measure(self, launch: Launch, now: float, late: bool) -> None:
        """Learn how long ``launch`` ran. Under the lock."""
        launch_class = launch.program.launch_class
        if launch_class is None or launch.begun is None:
            return
        seconds = now - launch.begun
        if seconds > SHORT_SECONDS or launch_class.level or not launch_class.settled:
            launch_class.ran(seconds, late or self._state.window.crowded_beside(launch))
