"""Launches that the caller's thread makes itself: through ``enqueue``, or on the fast path.

Who runs here: callers, among them event loops. Only what is quick comes here.
"""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING

from .. import _xla
from .failure import Failure, origin
from .launch import LAUNCHED, Launch, Pending
from .waiters import wake
from .window import outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._xla import Buffer
    from .endings import Endings
    from .launch import Program, Waiter
    from .state import State
    from .watchers import Watchers
    from .window import Placed


def unobserved(program: Program, arguments: list[Buffer | Pending]) -> Launch | None:
    """Nobody wants to see a launch."""
    return None


def outputs(launch: Launch) -> list[Pending]:
    """The results of ``launch``, which is made now or later."""
    pendings = [Pending(launch, None, launch.observer) for _ in launch.program.out_specs]
    launch.outputs = [weakref.ref(pending) for pending in pendings]
    return pendings


class Inline:
    """Gives launches to PJRT in the caller's thread, and begins to follow those that are not over then."""

    __slots__ = (
        "_close",
        "_counts",
        "_endings",
        "_flying",
        "_lanes",
        "_leave_fast_path",
        "_state",
        "_vacated",
        "_watchers",
        "_window",
        "observe",
    )

    def __init__(
        self,
        state: State,
        endings: Endings,
        watchers: Watchers,
        lanes: Iterator[int],
        close: Callable[[], None],
        vacated: Callable[[list[Waiter]], None],
        leave_fast_path: Callable[[Program], None],
    ) -> None:
        """``close()`` hears that all places are taken, ``vacated(woken)`` that one has been given up."""
        self._state = state
        self._counts = state.counts
        self._window = state.window
        self._flying = state.window.flying
        self._endings = endings
        self._watchers = watchers
        self._lanes = lanes
        self._close = close
        self._vacated = vacated
        self._leave_fast_path = leave_fast_path
        # Makes the launches that an instrument wants to see. Written by the scheduler.
        self.observe: Callable[[Program, list[Buffer | Pending]], Launch | None] = unobserved

    # Launches that have taken a place

    def launch(
        self,
        program: Program,
        arguments: list[Buffer | Pending],
        sources: list[Pending],
        launch: Launch | None,
        place: Placed,
    ) -> list[Buffer | Pending]:
        """Launch where ``place`` has been taken in the window; a ready buffer or a ``Pending`` for each result.

        ``launch``, then the same as ``place``, is made before where it has unfinished inputs or an observer. If this
        raises, the place is still taken.
        """
        compiled = program.compiled
        assert compiled is not None
        launch_class = compiled.launch_class
        # A lane of its own, or it would wait behind whatever this thread launched before.
        _xla.set_stream(next(self._lanes))
        failure = None
        buffers: list[Buffer] = []
        woken: list[Waiter] = []
        start = time.perf_counter()
        try:
            buffers = compiled.execute(arguments).consume_with_handlers(compiled.handlers)
        except Exception as error:  # whatever it is belongs to whoever awaits the result
            failure = Failure(program.name, origin(), *_xla.translate(error))
        seconds = time.perf_counter() - start
        ready = failure is not None or not buffers or _xla.is_ready(buffers[0])
        with self._state.lock:
            self._window.launched(place)
            self._counts.launched += 1
            launch_class.launched_inline(seconds)
            if ready and failure is None and launch is None and not program.may_fail:
                if not launch_class.settled:
                    launch_class.ran(seconds, at_most=True)
                self._counts.finished += 1
                self._window.leave(place)
                self._vacated(woken)
                results: list[Buffer | Pending] = buffers
            else:
                if launch is None:
                    launch = Launch(program, [], sources, origin(), LAUNCHED)
                    launch.level, launch.rank = place.level, place.rank
                    launch.placed, place.placed = True, False
                launch.observer.launched(start, start + seconds, self._window.fillings)
                results = self._take_in(launch, sources, buffers, ready, failure, woken, start)
        wake(woken)
        return results

    def give_back(self, place: Placed) -> None:
        """Give up ``place``, which an interrupted caller has taken; unless PJRT has the launch, which will do so."""
        woken: list[Waiter] = []
        with self._state.lock:
            self._window.launched(place)
            if place.placed and place not in self._flying:
                self._window.leave(place)
                self._counts.failed += 1
                self._vacated(woken)
        wake(woken)

    def _take_in(
        self,
        launch: Launch,
        sources: list[Pending],
        buffers: list[Buffer],
        ready: bool,
        failure: Failure | None,
        woken: list[Waiter],
        begun: float,
    ) -> list[Buffer | Pending]:
        """Begin to follow a launch that the caller's thread has made. Under the lock."""
        launch.arguments, launch.sources, launch.state = [], sources, LAUNCHED
        if launch.begun is None:  # or its inputs have become ready meanwhile
            launch.begun = begun
        pendings = outputs(launch)
        for pending, buffer in zip(pendings, buffers, strict=False):
            pending.buffer = buffer
        if ready:
            self._endings.finish(launch, outcome(buffers[0]) if buffers else None, failure, woken)
        else:
            self.take_off(launch, buffers[0])
        return list(pendings)

    def take_off(self, launch: Launch, buffer: Buffer) -> None:
        """PJRT has ``launch``, which is not over. Under the lock."""
        self._flying[launch] = buffer
        if self._window.occupied():
            self._close()
        if launch.waiters or self._state.queue.runnable or self._state.drainers:
            self._watchers.watch(launch)  # somebody waits for it, for a place, or for the count to fall
        else:
            self._watchers.follow(self._flying)

    # Launches of the fast path

    def adopt(self, program: Program, buffers: list[Buffer]) -> list[Buffer | Pending]:
        """Follow a launch that the fast path made and that is not over yet; its inputs were ready.

        Takes the lock only where somebody else is concerned: this is as long as the launch itself. Each line that
        changes something is one step for other threads, which therefore go through copies of ``flying``.
        """
        observed = self.observe(program, [])
        if observed is not None:
            return self._adopt_observed(observed, buffers)
        launch = Launch(program, [], [], origin(2), LAUNCHED)
        launch.begun = time.perf_counter()
        pendings: list[Buffer | Pending] = [Pending(launch, buffer) for buffer in buffers]
        if len(pendings) == 1:
            launch.only = pendings[0]
        else:
            launch.outputs = list(map(weakref.ref, pendings))
        self._counts.enqueued += 1
        self._counts.launched += 1
        self._flying[launch] = buffers[0]
        window, state = self._window, self._state
        count = len(self._flying)
        if count > window.most_in_flight or window.full or state.queue.runnable or state.drainers:
            with state.lock:
                if window.occupied():
                    self._close()
                if state.queue.runnable or state.drainers:
                    self._watchers.watch(launch)
        launch_class = program.launch_class
        if launch_class is not None and launch_class.level:
            with state.lock:
                self._not_short(launch)
        return pendings

    def _not_short(self, launch: Launch) -> None:
        """A launch of the fast path is of a program that turned out to run long. Under the lock."""
        launch_class = launch.program.launch_class
        if launch_class is not None and launch_class.level and launch.state == LAUNCHED:
            launch.level = launch_class.level
            self._window.enter(launch)
        self._leave_fast_path(launch.program)

    def _adopt_observed(self, launch: Launch, buffers: list[Buffer]) -> list[Buffer | Pending]:
        woken: list[Waiter] = []
        begun = time.perf_counter()
        with self._state.lock:
            self._counts.enqueued += 1
            self._counts.launched += 1
            launch.observer.launched(begun, begun, self._window.fillings)
            results = self._take_in(launch, [], buffers, False, None, woken, begun)
        wake(woken)
        return results
