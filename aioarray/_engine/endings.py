"""How launches end: with values, or with a failure that goes on to what depends on them. Under the scheduler's lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _xla
from .failure import Failure
from .launch import FINISHED, QUEUED, Launch, Pending, Waiter
from .window import outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from .state import State


class Endings:
    """Writes down ends. Whom it concerns is appended to ``woken``, to be told when the lock is released."""

    __slots__ = ("_counts", "_ended", "_queue", "_window")

    def __init__(self, state: State, ended: Callable[[Launch, list[Waiter]], None]) -> None:
        """``ended(launch, woken)`` is called when a launch has left the window or the queue."""
        self._counts = state.counts
        self._window = state.window
        self._queue = state.queue
        self._ended = ended

    def sweep(self, landed: list[tuple[Launch, Exception | None]], woken: list[Waiter]) -> None:
        """The launches in ``landed`` are over, each with its error or None."""
        for launch, error in landed:
            if launch.state != FINISHED:
                self.finish(launch, error, None, woken)

    def finish(self, launch: Launch, error: Exception | None, failure: Failure | None, woken: list[Waiter]) -> None:
        """``launch`` is over: its buffers have an ``error`` or values, or it has a ``failure``."""
        if failure is None and error is not None:
            failure = self._inherited(launch, woken) or Failure(
                launch.program.name, launch.origin, *_xla.translate(error)
            )
        launch.state = FINISHED
        launch.observer.finished(failure)
        self._window.land(launch)
        launch.sources = []
        if failure is None:
            self._counts.finished += 1
        else:
            self._counts.failed += 1
        pendings = [reference() for reference in launch.outputs] if launch.only is None else [launch.only]
        launch.only = None
        for pending in pendings:
            if pending is None:
                continue
            if failure is not None:
                pending.failure = failure  # the buffer stays: a launch that was released by it may be about to read it
                self._fail_dependents(pending, failure, woken)
            pending.launch = None
        woken.extend(launch.waiters.values())
        launch.waiters = {}
        self._ended(launch, woken)

    def finish_alone(self, launch: Launch, pending: Pending) -> None:
        """``launch`` has its value, ``pending``; nobody waits for anything."""
        launch.state = FINISHED
        launch.only = pending.launch = None
        self._window.land(launch)
        self._counts.finished += 1

    def fail_queued(self, launch: Launch, failure: Failure, woken: list[Waiter]) -> None:
        """``launch``, which is in the queue, is not made but fails."""
        for pending in self._fail_one(launch, failure, woken):
            self._fail_dependents(pending, failure, woken)

    def _inherited(self, launch: Launch, woken: list[Waiter]) -> Failure | None:
        """The failure of the input that made ``launch`` fail, if it was one of its inputs."""
        for source in launch.sources:
            if source.failure is None and source.launch is not None and source.buffer is not None:
                # Ready before us, or we would not be; only not noticed yet.
                self.finish(source.launch, outcome(source.buffer), None, woken)
            if source.failure is not None:
                return source.failure
        return None

    def _fail_dependents(self, pending: Pending, failure: Failure, woken: list[Waiter]) -> None:
        """Fail what waits for ``pending``, and what waits for that; a loop, since chains may be long."""
        stack = [pending]
        while stack:
            current = stack.pop()
            references, current.dependents = current.dependents, None
            for reference in references or ():
                dependent = reference()
                if dependent is not None and dependent.state == QUEUED:
                    stack.extend(self._fail_one(dependent, failure, woken))

    def _fail_one(self, launch: Launch, failure: Failure, woken: list[Waiter]) -> list[Pending]:
        """Fail a launch that was never made; give its results, whose dependents must fail too."""
        launch.state = FINISHED
        launch.observer.finished(failure)
        launch.arguments = []
        launch.sources = []
        self._queue.remove(launch)
        self._counts.failed += 1
        pendings = [pending for reference in launch.outputs if (pending := reference()) is not None]
        for pending in pendings:
            pending.failure = failure
            pending.launch = None
        woken.extend(launch.waiters.values())
        launch.waiters = {}
        self._ended(launch, woken)
        return pendings
