"""Instruments: what tests and profiles have the engine tell them, and what they make it do.

While none is installed, nothing of this is on the way of a launch: installing one closes the fast path, unless it is
content with what that can tell, and everything else looks at ``state.installed`` first. An instrument holds for the
code that runs in the context where it was installed, in the tasks and the worker threads that this code starts, or
everywhere.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from .failure import origin
from .launch import QUEUED, Launch, Pending

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._graph import ArraySpec
    from .failure import Failure, Origin
    from .launch import Program


class Fault(NamedTuple):
    """An error to be had in place of a result."""

    status: str
    message: str
    compiling: bool = False


class Observation:
    """What becomes of one launch. Times are those of ``perf_counter``; None where it did not come to that.

    Written by whoever has the launch in hand, under the scheduler's lock but for ``used``; read by any thread.
    """

    __slots__ = (
        "__weakref__",
        "awaited",
        "begun",
        "enqueued",
        "failure",
        "fillings",
        "held",
        "inline",
        "instruments",
        "launched",
        "name",
        "origin",
        "parents",
        "program",
        "ready",
        "runnable",
        "state",
        "thread",
        "used",
        "window_was_full",
    )

    def __init__(self, program: Program, where: Origin | None, instruments: tuple[Instrument, ...]) -> None:
        self.program: Program = program
        self.name: str = program.name
        self.origin: Origin | None = where
        self.instruments: tuple[Instrument, ...] = instruments
        self.thread: int = threading.get_ident()  # that enqueued it
        self.parents: tuple[
            Observation, ...
        ] = ()  # whose results it reads, as far as they were observed and unfinished
        self.state: str = "queued"  # then "launched", "finished", "failed" or "dropped"
        self.enqueued: float = perf_counter()
        self.held: bool = False  # by a gate or a delay of a test
        self.runnable: float | None = None  # inputs and executable were there
        self.window_was_full: bool = False  # when it became runnable, or before it was launched
        self.fillings: int = 0  # of the window, when it became runnable
        self.begun: float | None = None  # the call into PJRT
        self.launched: float | None = None  # the end of that call
        self.inline: bool = False  # that call was made by the thread that enqueued it
        self.ready: float | None = None  # the value, or the error, was seen to be there
        self.awaited: float | None = None  # the first who waited went on
        self.failure: Failure | None = None
        self.used: bool = False  # somebody waited for a result, read it or computed with it; any thread


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


class Compilation:
    """One program's way through the compile service. Written by it."""

    __slots__ = ("begun", "done", "failure", "instruments", "name", "origin", "outcome", "program", "submitted")

    def __init__(self, program: Program, instruments: tuple[Instrument, ...]) -> None:
        self.program: Program = program
        self.name: str = program.name
        self.origin: Origin | None = origin()  # of the code that needed it first
        self.instruments: tuple[Instrument, ...] = instruments
        self.submitted: float = perf_counter()
        self.begun: float | None = None
        self.done: float | None = None
        self.outcome: str = (
            "pending"  # then "compiled", "loaded" from disk, "shared" with an equal program, or "failed"
        )
        self.failure: Failure | None = None

    def finish(self, outcome: str, failure: Failure | None) -> None:
        """The program is through."""
        self.done = perf_counter()
        self.begun = self.done if self.begun is None else self.begun  # it waited for an equal one
        self.outcome = outcome
        self.failure = failure
        for instrument in self.instruments:
            instrument.on_compiled(self)


class Wait:
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
        """The waiting is over."""
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
    # Is content to have of launches on the fast path what `record` is called with, if they are over when they return:
    # the program, and when that was. Then they stay on the fast path. For instruments that see the whole process.
    passive = False
    record: Callable[[tuple[Program, float]], object]
    keeps_history = False  # wants `Observation.parents` kept, and so all launches from the first

    def on_enqueued(self, launch: ObservedLaunch) -> None:
        """``launch`` is about to be enqueued; this may hold it up or make it fail. Without the lock."""

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
    """Which instruments there are. Written under ``lock``; ``installed`` is read by any thread without."""

    __slots__ = ("active", "changed", "everywhere", "installed", "lock")

    def __init__(self) -> None:
        self.installed = 0
        self.active: tuple[Instrument, ...] = ()
        self.everywhere: tuple[Instrument, ...] = ()
        self.changed: list[Callable[[tuple[Instrument, ...]], None]] = []
        self.lock = threading.RLock()

    def change(self, active: tuple[Instrument, ...]) -> None:
        self.active = active
        self.installed = len(active)
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
    return tuple([instrument for instrument in (*state.everywhere, *_scoped.get()) if instrument.active])


def note_use(pending: Pending, what: str) -> bool:
    """``what`` is done with a result that may have been observed; False if that was only a look at it."""
    observation: Observation | None = getattr(pending, "observation", None)
    if observation is None:
        return True
    if what in LOOKS:
        return False
    for instrument in observation.instruments:
        instrument.on_touched(pending, what)
    first = not observation.used
    observation.used = True
    if first:
        for instrument in observation.instruments:
            instrument.on_used(observation, what)
    return True


def fault_in_compiling(program: Program) -> Fault | None:
    """The fault that somebody who needs ``program`` compiled is to have, if any."""
    for instrument in current():
        fault = instrument.on_compiling(program)
        if fault is not None:
            return fault
    return None


class ObservedLaunch(Launch):
    """A launch that instruments look at."""

    __slots__ = ("delay", "fault", "holds", "observation")

    # What the base class has for all launches, each has for itself here.
    observation: Observation
    fault: Fault | None
    delay: float
    holds: int

    def __init__(
        self, program: Program, arguments: list[Any], where: Origin | None, seen_by: tuple[Instrument, ...]
    ) -> None:
        super().__init__(program, arguments, [], where, QUEUED)
        self.observation = Observation(program, where, seen_by)
        self.observation.parents = tuple(
            [a.observation for a in arguments if type(a) is Pending and hasattr(a, "observation")]
        )
        self.fault = None  # instead of being made, it fails with this
        self.delay = 0.0  # seconds by which it is made later than it could be
        self.holds = 0  # how many gates it waits for
        for instrument in seen_by:
            fault = instrument.on_compiling(program)
            if fault is not None:
                self.fault = fault
                break
        for instrument in seen_by:
            instrument.on_enqueued(self)
        self.observation.held = self.holds > 0 or self.delay > 0.0

    @property
    def detained(self) -> bool:
        """Whether it must not be made at once."""
        return self.holds > 0 or self.delay > 0.0 or self.fault is not None


class ObservedReference(ref[Launch]):
    """The reference of a queued launch, by which its death is noticed; knows what to tell then."""

    __slots__ = ("observation",)
    observation: Observation
