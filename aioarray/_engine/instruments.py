"""Instruments: what tests and profiles have the engine tell them, and what they make it do.

While none is installed, launches have an observer that does nothing (``observer``). Installing one closes the fast
path, unless a record of what was done there is enough for it. An instrument holds for the code that runs in the context
where it was installed, in the tasks and the worker threads that this code starts, or everywhere.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .failure import origin
from .launch import QUEUED, Launch, Pending
from .observer import UNOBSERVED_COMPILE, CompileObserver, Fault, Observer, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._graph import ArraySpec
    from .failure import Failure, Origin
    from .launch import Program


class Observation(Observer):
    """What becomes of one launch. Times are those of ``perf_counter``; None where it did not come to that.

    Written by whoever has the launch in hand, under the scheduler's lock but for ``used``; read by any thread.
    """

    __slots__ = (
        "__weakref__",
        "awaited",
        "begun",
        "behind",
        "delay",
        "enqueued",
        "failure",
        "fault",
        "fillings",
        "held",
        "holds",
        "inline",
        "instruments",
        "is_used",
        "name",
        "origin",
        "parents",
        "program",
        "ready",
        "returned",
        "runnable_at",
        "state",
        "thread",
        "window_was_full",
    )

    follows = True

    def __init__(self, program: Program, where: Origin | None, instruments: tuple[Instrument, ...]) -> None:
        self.program: Program = program
        self.name: str = program.name
        self.origin: Origin | None = where
        self.instruments: tuple[Instrument, ...] = instruments
        self.thread: int = threading.get_ident()  # that enqueued it
        self.parents: tuple[Observation, ...] = ()  # whose results it reads, if observed and unfinished
        self.state: str = "queued"  # then "launched", "finished", "failed" or "dropped"
        self.enqueued: float = perf_counter()
        # What instruments do to it; they write this before it is enqueued.
        self.fault: Fault | None = None
        self.delay: float = 0.0  # seconds by which it is made later than it could be
        self.holds: int = 0
        self.held: bool = False
        self.runnable_at: float | None = None  # inputs and executable were there
        self.window_was_full: bool = False  # when it became runnable, or before it was launched
        self.behind: str | None = None  # what it waited behind, where it could be made before it was
        self.fillings: int = 0  # of the window, when it became runnable
        self.begun: float | None = None  # the call into PJRT
        self.returned: float | None = None  # the end of that call
        self.inline: bool = False  # that call was made by the thread that enqueued it
        self.ready: float | None = None  # the value, or the error, was seen to be there
        self.awaited: float | None = None  # the first who waited went on
        self.failure: Failure | None = None
        self.is_used: bool = False  # somebody waited for a result, read it or computed with it; any thread

    @property
    def detained(self) -> bool:  # type: ignore[override]
        return self.held or self.fault is not None

    def delayed(self) -> float:
        delay, self.delay = self.delay, 0.0
        return delay

    def runnable(self, full: bool, fillings: int) -> None:
        self.runnable_at = perf_counter()
        self.window_was_full = full
        self.fillings = fillings

    def waits(self, reason: str) -> None:
        self.behind = reason

    def launched(self, begun: float, returned: float, fillings: int) -> None:
        if self.runnable_at is None:
            self.runnable_at = self.enqueued
            self.inline = True
        elif fillings > self.fillings + 1:  # others than this one have filled it
            self.window_was_full = True
        self.begun = begun
        self.returned = returned
        self.state = "launched"
        for instrument in self.instruments:
            instrument.on_launched(self)

    def finished(self, failure: Failure | None) -> None:
        self._end("finished" if failure is None else "failed", failure)

    def dropped(self) -> None:
        self._end("dropped", None)

    def _end(self, state: str, failure: Failure | None) -> None:
        self.ready = perf_counter()
        self.state = state
        self.failure = failure
        history = False
        for instrument in self.instruments:
            history = history or instrument.keeps_history
            instrument.on_finished(self)
        if not history:
            self.parents = ()

    def let_go(self) -> None:
        self.holds -= 1

    def wait(self, kind: str) -> Waiting:
        return Wait(kind, self)

    def used(self, pending: object, what: str) -> bool:
        if what in LOOKS:
            return False
        assert isinstance(pending, Pending)
        for instrument in self.instruments:
            instrument.on_touched(pending, what)
        first = not self.is_used
        self.is_used = True
        if first:
            for instrument in self.instruments:
                instrument.on_used(self, what)
        return True


class Copy:
    """One copy between host and device. Written by the thread that makes it."""

    __slots__ = ("begun", "done", "name", "origin", "spec", "thread")

    def __init__(self, name: str, spec: ArraySpec) -> None:
        self.name: str = name  # "to_host" or "device_put"
        self.spec: ArraySpec = spec
        self.origin: Origin | None = origin()
        self.thread: int = threading.get_ident()
        self.begun: float = perf_counter()
        self.done: float | None = None


class Compilation(CompileObserver):
    """One program's way through the compile service. Written by it."""

    __slots__ = ("begun_at", "done", "failure", "instruments", "name", "origin", "outcome", "program", "submitted")

    def __init__(self, program: Program, instruments: tuple[Instrument, ...]) -> None:
        self.program: Program = program
        self.name: str = program.name
        self.origin: Origin | None = origin()  # of the code that needed it first
        self.instruments: tuple[Instrument, ...] = instruments
        self.submitted: float = perf_counter()
        self.begun_at: float | None = None
        self.done: float | None = None
        self.outcome: str = "pending"  # or as `finish` says
        self.failure: Failure | None = None

    def begun(self, when: float) -> None:
        self.begun_at = when

    def finish(self, outcome: str, failure: Failure | None) -> None:
        self.done = perf_counter()
        self.begun_at = self.done if self.begun_at is None else self.begun_at  # it waited for an equal one
        self.outcome = outcome
        self.failure = failure
        for instrument in self.instruments:
            instrument.on_compiled(self)


class Wait(Waiting):
    """One await, or one thread's waiting, for the end of a launch. Written by whoever waits."""

    __slots__ = ("begun", "cancelled", "done", "kind", "observation", "origin", "thread")

    def __init__(self, kind: str, observation: Observation) -> None:
        self.kind: str = kind  # "await" or "block"
        self.observation: Observation = observation
        self.origin: Origin | None = origin()
        self.thread: int = threading.get_ident()
        self.cancelled: bool = False  # it ended before the launch did
        self.done: float | None = None
        self.begun: float = perf_counter()
        for instrument in observation.instruments:
            instrument.on_wait(self)

    def finish(self, cancelled: bool) -> None:
        self.done = perf_counter()
        self.cancelled = cancelled
        if not cancelled and self.observation.awaited is None:
            self.observation.awaited = self.done


class Instrument:
    """Is told about launches, compilations, copies and reads. The methods are to be overridden; here they do nothing.

    They are called on whatever thread, some of them under the scheduler's lock: they must be quick, and neither wait,
    nor raise, nor call the engine.
    """

    active = False  # installed; written by `install` and `uninstall`
    # Whether a record is enough of launches on the fast path that are over when they return: `record` is called with
    # the program, and when that was. Then the fast path stays open. For instruments that see the whole process.
    passive = False
    record: Callable[[tuple[Program, float]], object]
    keeps_history = False  # wants `Observation.parents` kept, and so all launches from the first

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        """``launch`` is about to be enqueued.

        May hold it up or make it fail: by ``holds``, ``delay`` and ``fault`` of its ``observation``. Without the lock.
        """

    def on_compiling(self, program: Program) -> Fault | None:
        """Somebody needs the executable of ``program``. A fault that comes back takes its place. Without the lock."""
        return None

    def on_launched(self, observation: Observation) -> None:
        """PJRT has the launch. Under the lock."""

    def on_finished(self, observation: Observation) -> None:
        """The launch is over: finished, failed or dropped. Under the lock."""

    def on_submitted(self, compilation: Compilation) -> None:
        """A program that nobody needed before goes to the compile service."""

    def on_compiled(self, compilation: Compilation) -> None:
        """It is through."""

    def on_copying(self, copy: Copy) -> Fault | None:
        """A copy is about to be made. A fault that comes back takes its place."""
        return None

    def on_copied(self, copy: Copy) -> None:
        """The copy has been made."""

    def on_sync_read(self, what: str, where: Origin | None) -> None:
        """``what`` reads, on an event loop, a value that was not awaited."""

    def on_wait(self, wait: Wait) -> None:
        """Somebody begins to wait for the launch, which is not over."""

    def on_used(self, observation: Observation, what: str) -> None:
        """A result of the launch is waited for, read or computed with for the first time: ``what`` says which."""

    def on_touched(self, pending: Pending, what: str) -> None:
        """``pending``, which has an observation, is waited for, read or computed with: each time, and first of all.

        What this raises, that raises.
        """


class _State:
    """Which instruments there are. Written under ``lock``; read by any thread without."""

    __slots__ = ("active", "changed", "everywhere", "lock")

    def __init__(self) -> None:
        self.active: tuple[Instrument, ...] = ()
        self.everywhere: tuple[Instrument, ...] = ()
        self.changed: list[Callable[[tuple[Instrument, ...]], None]] = []
        self.lock = threading.RLock()

    def change(self, active: tuple[Instrument, ...]) -> None:
        self.active = active
        for function in self.changed:
            function(active)


# What is done with an Array without using its value.
LOOKS = frozenset({"is_ready", "repr"})

# Owned by this module.
state = _State()
_scoped: ContextVar[tuple[Instrument, ...]] = ContextVar("aioarray_instruments", default=())


def call_when_changed(function: Callable[[tuple[Instrument, ...]], None]) -> None:
    """Have ``function`` called with all instruments whenever there are other ones."""
    state.changed.append(function)


def install(instrument: Instrument, *, everywhere: bool = False) -> None:
    """From here on, let ``instrument`` see what this context does; or what the process does."""
    with state.lock:
        assert not instrument.active
        instrument.active = True
        if everywhere:
            state.everywhere = (*state.everywhere, instrument)
        else:
            _scoped.set((*_scoped.get(), instrument))
        state.change((*state.active, instrument))


def uninstall(instrument: Instrument) -> None:
    """The end of that. Any context; copies of contexts that still have the instrument take no notice of it."""
    with state.lock:
        if not instrument.active:
            return
        instrument.active = False
        state.everywhere = tuple([other for other in state.everywhere if other is not instrument])
        _scoped.set(tuple([other for other in _scoped.get() if other is not instrument]))
        state.change(tuple([other for other in state.active if other is not instrument]))


def current() -> tuple[Instrument, ...]:
    """The instruments that see what is done here: process-wide ones, then the outermost ``with`` first."""
    if not state.active:
        return ()
    return tuple([instrument for instrument in (*state.everywhere, *_scoped.get()) if instrument.active])


def fault_in_compiling(program: Program) -> Fault | None:
    """The fault that somebody who needs ``program`` compiled is to have, if any."""
    for instrument in current():
        fault = instrument.on_compiling(program)
        if fault is not None:
            return fault
    return None


def observe(program: Program, arguments: list[Any]) -> Launch | None:
    """The launch of ``program`` that is about to be enqueued, with an ``Observation``; None if nobody wants that."""
    seen_by = current()
    if not seen_by:
        return None
    where = origin()
    observation = Observation(program, where, seen_by)
    observation.parents = tuple(
        [a.observer for a in arguments if type(a) is Pending and isinstance(a.observer, Observation)]
    )
    observation.fault = fault_in_compiling(program)
    launch = Launch(program, arguments, [], where, QUEUED, observation)
    for instrument in seen_by:
        instrument.on_enqueued(launch, observation)
    observation.held = observation.holds > 0 or observation.delay > 0.0
    return launch


def observe_compile(program: Program) -> CompileObserver:
    """Whom to tell of ``program``, which is submitted to the compile service."""
    seen_by = current()
    if not seen_by:
        return UNOBSERVED_COMPILE
    compilation = Compilation(program, seen_by)
    for instrument in seen_by:
        instrument.on_submitted(compilation)
    return compilation


def note_sync_read(what: str) -> None:
    """``what`` reads, on an event loop, a value that was not awaited."""
    for instrument in current():
        instrument.on_sync_read(what, origin())


def recording(active: Sequence[Instrument]) -> Callable[[tuple[Program, float]], object] | None:
    """What the fast path calls of each launch that is over at once, for those of ``active`` that a record is enough."""
    records = [instrument.record for instrument in active if instrument.passive]
    if len(records) < 2:
        return records[0] if records else None

    def call(what: tuple[Program, float]) -> None:
        for record in records:
            record(what)

    return call
