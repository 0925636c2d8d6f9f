"""The window: which launches are inside PJRT, who waits for them, and what happens when one is over.

One lock guards all state of the scheduler, of which this is the lower half; nobody computes, compiles, waits or runs
callbacks while holding it. It is re-entrant, since what a garbage collection runs while it is held may come here again.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Final, NoReturn

from .. import _xla
from .failure import Failure
from .instruments import ObservedReference
from .launch import FINISHED, LAUNCHED, QUEUED, Launch, Pending, Waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from weakref import ReferenceType

    from .._xla import Buffer
    from .instruments import Observation
    from .launch import Program

# Unfinished launches inside PJRT; its own limit, where dispatch begins to block, is 32.
WINDOW: Final = 16
# `drain()` returns below this many unfinished launches.
HIGH_WATER: Final = 256


def outcome(buffer: Buffer) -> Exception | None:
    """The error of a buffer that is ready, or None if it has a value. Gives up the GIL for a moment."""
    try:
        _xla.wait(buffer)
    except _xla.ForeignError as error:
        return error
    return None


class Window(ABC):
    """Counts, the launches in flight, and their ends. Fields are written under ``_lock`` where no comment differs."""

    __slots__ = (
        "_closing",
        "_dead",
        "_drainers",
        "_fast_path",
        "_followed",
        "_launching",
        "_lock",
        "_observed",
        "_queued",
        "_shown_all",
        "_traces",
        "dropped",
        "enqueued",
        "failed",
        "fillings",
        "finished",
        "flying",
        "inline",
        "launched",
        "most_in_flight",
        "open",
        "record",
        "window",
    )

    def __init__(self) -> None:
        self.window = WINDOW
        # Read by the fast path without the lock; False while the window is full, and for good after the end.
        self.open = False
        # Launches that were over when the fast path returned; `+=` on an int attribute has no point where CPython
        # would let another thread in, so it needs no lock.
        self.inline = 0
        self.enqueued = self.launched = self.finished = self.failed = self.dropped = 0
        self.most_in_flight = 0
        self.fillings = 0  # how many launches have taken the last place
        self._closing = False
        self._fast_path = False
        self._observed = False  # there are instruments, which what comes through `enqueue` and `adopt` is shown to
        self._followed: Launch | None = None  # the one of them in flight whose end is waited for
        self._shown_all = False  # they want everything to come that way
        # Told of launches that were over when the fast path returned, and when that was; read without the lock.
        self.record: Callable[[tuple[Program, float]], object] | None = None
        self._traces = 0  # functions that are being traced, on any thread: what they call must not be launched
        # Launched, unfinished, oldest first, each with a buffer to wait on. The fast path looks whether there are any,
        # and adds to it without the lock.
        self.flying: dict[Launch, Buffer] = {}
        self._launching = 0  # launches that some thread is just giving to PJRT
        # Launches that wait, and those of them that have died since nobody can see their results: what is queued is not
        # held, and says so by the callback of its reference, which is a method of C that may run at any moment.
        self._queued: set[ReferenceType[Launch]] = set()
        self._dead: deque[ReferenceType[Launch]] = deque()
        self._drainers: dict[Waiter, int] = {}  # who waits for fewer unfinished launches than that
        self._lock = threading.RLock()

    @abstractmethod
    def _watch(self, launch: Launch) -> None:
        """Have a thread wait for ``launch``, if none does. Under the lock."""

    @abstractmethod
    def _place_is_free(self) -> None:
        """A place in the window has become free. Under the lock."""

    def start(self, fast_path: bool) -> None:
        """Accept work; the client exists."""
        with self._lock:
            self._fast_path = fast_path
            self._open_if_possible()

    def close_fast_path(self) -> None:
        """From now on every launch comes through ``enqueue``. Any thread."""
        with self._lock:
            self._fast_path = self.open = False

    def begin_trace(self) -> None:
        """Keep callers off the fast path, which does not look whether they are being traced."""
        with self._lock:
            self._traces += 1
            self.open = False

    def end_trace(self) -> None:
        """The end of what ``begin_trace`` began."""
        with self._lock:
            self._traces -= 1
            self._open_if_possible()

    def _open_if_possible(self) -> None:
        closed = self._shown_all or self._traces or self._closing
        self.open = self._fast_path and not closed and self.in_flight < self.window

    # Places in the window: under the lock

    @property
    def in_flight(self) -> int:
        """Launches inside PJRT, or being given to it."""
        return len(self.flying) + self._launching

    def _occupied(self) -> None:
        """A launch has taken a place."""
        in_flight = self.in_flight
        self.most_in_flight = max(self.most_in_flight, in_flight)
        if in_flight >= self.window:
            self.open = False
            self.fillings += 1

    def _vacated(self, woken: list[Waiter]) -> None:
        """A launch has given up its place."""
        if not self.open:
            self._open_if_possible()
        self._place_is_free()
        if self._drainers:
            self._check_drainers(woken)

    def _check_drainers(self, woken: list[Waiter]) -> None:
        unfinished = self.unfinished()
        done = [waiter for waiter, limit in self._drainers.items() if unfinished < limit]
        for waiter in done:
            del self._drainers[waiter]
        woken.extend(done)

    def unfinished(self) -> int:
        """Launches that are enqueued and neither finished, failed nor dropped. Any thread."""
        with self._lock:
            self._count_dropped()
            return len(self._queued) + self.in_flight

    def unfinished_launches(self) -> list[Launch]:
        """Those launches themselves, as far as anybody holds them. Any thread."""
        with self._lock:
            queued = [launch for reference in self._queued if (launch := reference()) is not None]
            return [*self.flying, *queued]

    def _count_dropped(self) -> None:
        while self._dead:
            reference = self._dead.popleft()
            if reference in self._queued:  # not of one that was launched and then died
                self._queued.discard(reference)
                self.dropped += 1
                if type(reference) is ObservedReference:
                    self._note_end(reference.observation, "dropped", None)

    def _note_end(self, observation: Observation, state: str, failure: Failure | None) -> None:
        observation.ready = perf_counter()
        observation.state = state
        observation.failure = failure
        history = False
        for instrument in observation.instruments:
            history = history or instrument.keeps_history
            instrument.on_finished(observation)
        if not history:
            observation.parents = ()

    def _note_over(self, launch: Launch, failure: Failure | None) -> None:
        """``launch`` is over, which somebody may want to know."""
        if launch.observation is not None:
            self._note_end(launch.observation, "finished" if failure is None else "failed", failure)
            if launch is self._followed:
                self._followed = None
                self._follow()

    def _follow(self) -> None:
        """Have the end of the oldest of the observed launches noticed, and so, one by one, of all. Under the lock.

        By one thread, since many would only wake each other: mostly they end in this order.
        """
        if self._followed is None:
            for launch in list(self.flying):
                if launch.observation is not None and launch.state == LAUNCHED:
                    self._followed = launch
                    self._watch(launch)
                    return

    # From launched to finished: under the lock

    def _landed(self) -> list[tuple[Launch, Exception | None]]:
        """The launches in flight that are ready, each with its error. Best without the lock: this gives up the GIL."""
        flying = list(self.flying.items())
        return [(launch, outcome(buffer)) for launch, buffer in flying if _xla.is_ready(buffer)]

    def _sweep(self, landed: list[tuple[Launch, Exception | None]], woken: list[Waiter]) -> None:
        for launch, error in landed:
            if launch.state != FINISHED:
                self._finish(launch, error, None, woken)

    def _finish(self, launch: Launch, error: Exception | None, failure: Failure | None, woken: list[Waiter]) -> None:
        """``launch`` is over: its buffers have an ``error`` or values, or it has a ``failure``. Under the lock."""
        if failure is None and error is not None:
            failure = self._inherited(launch, woken) or Failure(
                launch.program.name, launch.origin, *_xla.translate(error)
            )
        launch.state = FINISHED
        self._note_over(launch, failure)
        self.flying.pop(launch, None)
        launch.sources = []
        if failure is None:
            self.finished += 1
        else:
            self.failed += 1
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
        self._vacated(woken)

    def _inherited(self, launch: Launch, woken: list[Waiter]) -> Failure | None:
        """The failure of the input that made ``launch`` fail, if it was one of its inputs."""
        for source in launch.sources:
            if source.failure is None and source.launch is not None and source.buffer is not None:
                # Ready before us, or we would not be; only not noticed yet.
                self._finish(source.launch, outcome(source.buffer), None, woken)
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

    def _fail_queued(self, launch: Launch, failure: Failure, woken: list[Waiter]) -> None:
        for pending in self._fail_one(launch, failure, woken):
            self._fail_dependents(pending, failure, woken)

    def _fail_one(self, launch: Launch, failure: Failure, woken: list[Waiter]) -> list[Pending]:
        """Fail a launch that was never made; give its results, whose dependents must fail too."""
        launch.state = FINISHED
        self._note_over(launch, failure)
        launch.arguments = []
        launch.sources = []
        assert launch.reference is not None
        self._queued.discard(launch.reference)
        launch.reference = None  # or its callback would tell of a death that is none of a queued launch
        self.failed += 1
        pendings = [pending for reference in launch.outputs if (pending := reference()) is not None]
        for pending in pendings:
            pending.failure = failure
            pending.launch = None
        woken.extend(launch.waiters.values())
        launch.waiters = {}
        if self._drainers:
            self._check_drainers(woken)
        return pendings

    # Who waits: any thread

    def _wake(self, woken: Sequence[Waiter]) -> None:
        for waiter in woken:
            waiter.wake()

    def add_waiter(self, launch: Launch, key: object, waiter: Waiter) -> Waiter | None:
        """Register ``waiter`` under ``key``, or give the one that is there; None if ``launch`` has finished."""
        _xla.get_client()  # raises in a forked child, where nothing ever finishes
        with self._lock:
            if launch.state == FINISHED:
                return None
            if not self._closing or launch.state != QUEUED:
                existing = launch.waiters.setdefault(key, waiter)
                self._watch(launch)
                return existing
        self._refuse(launch)

    def _refuse(self, launch: Launch) -> NoReturn:
        """``launch`` is awaited, but launches are made no more. Without the lock."""
        _xla.stop_daemon_thread()
        raise RuntimeError(f"{launch.program.name} was never launched: the interpreter is shutting down")

    def remove_waiter(self, launch: Launch, key: object) -> None:
        """Forget the waiter under ``key``, if it is still there."""
        with self._lock:
            launch.waiters.pop(key, None)

    def add_drainer(self, waiter: Waiter, limit: int) -> bool:
        """Wake ``waiter`` when fewer than ``limit`` launches are unfinished; False if that is so already."""
        if _xla.is_forked():
            _xla.get_client()  # raises
        woken: list[Waiter] = []
        with self._lock:
            self._sweep(self._landed(), woken)
            wait = self.unfinished() >= limit
            refused = wait and self._closing
            if wait and not refused:
                self._drainers[waiter] = limit
                for launch in list(self.flying):
                    self._watch(launch)
        self._wake(woken)
        if refused:
            _xla.stop_daemon_thread()
            raise RuntimeError("drain: not all work was launched: the interpreter is shutting down")
        return wait

    def remove_drainer(self, waiter: Waiter) -> None:
        """Forget ``waiter``."""
        with self._lock:
            self._drainers.pop(waiter, None)
