"""``Program``, ``Launch`` and ``Pending``: what is run, one run of it, and one result of that run.

Ownership goes from results to inputs, never the other way: a ``Pending`` holds its ``Launch``, a ``Launch`` holds the
``Pending`` objects it reads. Queues, and the lists of who waits for what, hold weak references. So a queued launch dies
by reference counting as soon as nobody can see its results, and its queued inputs with it.

Fields are written under the scheduler's lock unless a comment says otherwise. They may be read without it by code that
checks again under the lock before it acts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from .observer import UNOBSERVED, Observer
from .priority import NORMAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from weakref import ReferenceType

    from .._graph import ArraySpec, Graph
    from .._xla import Buffer, Device, Executable, ResultHandler
    from .cost import LaunchClass
    from .failure import Failure, Origin

QUEUED: Final = 0  # waits for inputs, executable, window or worker
LAUNCHING: Final = 1  # taken off the queue by a thread that is calling PJRT
LAUNCHED: Final = 2  # inside PJRT, unfinished
FINISHED: Final = 3  # has buffers that are ready, or a failure


# Launches of a program that must have been over when they returned before it is believed that all are.
PROOFS: Final = 16


class Waiter(Protocol):
    """Something to tell that a launch has finished."""

    def wake(self) -> None:
        """Called once, on any thread, without the scheduler's lock; must neither block nor raise."""


class CompiledProgram:
    """What compiling a program gives, and what its launches teach. Any thread reads it."""

    __slots__ = ("asynchronous", "executable", "execute", "handlers", "launch_class", "proofs", "synchronous")

    def __init__(
        self,
        execute: Any,
        handlers: list[ResultHandler],
        launch_class: LaunchClass,
        executable: Executable | None = None,
    ) -> None:
        self.execute: Any = execute
        self.handlers: list[ResultHandler] = handlers
        self.launch_class: LaunchClass = launch_class
        self.executable: Executable | None = executable  # None for what runs Python instead
        # Seen to be over when the launch returns, or not to be, many times running: XLA decides that once a program.
        self.synchronous: bool = False
        self.asynchronous: bool = False
        self.proofs: int = 0  # how many times running; negative if it was not over

    def was_over(self, over: bool) -> bool:
        """Learn from a launch of this quick program on ready inputs whether it was over when it returned. Any thread.

        What XLA runs in the calling thread it always does. Even if this were wrong: the work of a quick program is over
        in microseconds, and nothing but the count of the window depends on it.
        """
        self.proofs = max(self.proofs, 0) + 1 if over else min(self.proofs, 0) - 1
        self.synchronous = self.proofs >= PROOFS
        self.asynchronous = self.proofs <= -PROOFS
        return over


class Program:
    """A computation on given specs. All but the last fields is known when it is built."""

    __slots__ = (
        "bounded",
        "cached",
        "compiled",
        "device",
        "donated",
        "failure",
        "graph",
        "in_specs",
        "may_fail",
        "name",
        "options",
        "out_specs",
        "requested",
        "single",
        "steady",
        "used",
        "waiting",
    )

    def __init__(
        self,
        name: str,
        graph: Graph | None,
        device: Device,
        in_specs: tuple[ArraySpec, ...],
        out_specs: tuple[ArraySpec, ...],
        *,
        bounded: bool,
        may_fail: bool,
        steady: bool = True,
        single: bool = True,
        donated: frozenset[int] = frozenset(),
        options: tuple[tuple[str, Any], ...] = (),
    ) -> None:
        self.name: str = name
        self.graph: Graph | None = graph  # None once lowered
        self.device: Device = device
        self.in_specs: tuple[ArraySpec, ...] = in_specs
        self.out_specs: tuple[ArraySpec, ...] = out_specs
        self.bounded: bool = bounded
        self.may_fail: bool = may_fail
        self.steady: bool = steady
        self.single: bool = single  # gives its result itself, not in a tuple
        self.donated: frozenset[int] = donated
        self.options: tuple[tuple[str, Any], ...] = options
        # Set once, one or the other, when compilation ends.
        self.compiled: CompiledProgram | None = None
        self.failure: Failure | None = None
        self.requested: bool = False  # handed to the compile service
        self.waiting: list[ReferenceType[Launch]] = []  # launches that wait for the end of compilation
        self.cached: bool = False  # it was entered in the cache of programs; set there
        self.used: bool = True  # set by any thread at each use, cleared by eviction

    @property
    def launch_class(self) -> LaunchClass | None:
        """How long it runs; None as long as it is not compiled."""
        return None if self.compiled is None else self.compiled.launch_class


class Pending:
    """One result that was not yet finished when its launch was enqueued."""

    __slots__ = ("__weakref__", "buffer", "dependents", "failure", "launch", "observer")

    def __init__(self, launch: Launch | None, buffer: Buffer | None = None, observer: Observer = UNOBSERVED) -> None:
        self.observer: Observer = observer  # of its launch
        self.launch: Launch | None = launch  # None once finished; `buffer` or `failure` is set before
        self.buffer: Any = buffer  # set when launched
        self.failure: Failure | None = None
        self.dependents: list[ReferenceType[Launch]] | None = None  # queued launches that wait for `buffer`


class Launch:
    """One run of a program."""

    __slots__ = (
        "__weakref__",
        "ahead",
        "arguments",
        "begun",
        "entry",
        "followers",
        "launching",
        "lead",
        "level",
        "missing",
        "observer",
        "only",
        "origin",
        "outputs",
        "placed",
        "program",
        "rank",
        "reference",
        "sources",
        "state",
        "waiters",
        "watched",
    )

    def __init__(
        self,
        program: Program,
        arguments: list[Buffer | Pending],
        sources: list[Pending],
        origin: Origin | None,
        state: int,
        observer: Observer = UNOBSERVED,
    ) -> None:
        self.program: Program = program
        self.observer: Observer = observer
        self.arguments: list[Any] = arguments  # emptied at launch
        self.sources: list[Pending] = (
            sources  # the arguments that were unfinished, to find whose error this one inherits
        )
        self.origin: Origin | None = origin
        self.state: int = state
        self.begun: float | None = None  # the call into PJRT, or the end of its last input if that came later
        self.missing: int = 0  # inputs without buffer, plus one for a missing executable
        self.outputs: Sequence[ReferenceType[Pending]] = ()
        # Instead of a reference in `outputs`, which takes longer to make: the result of a launch of the fast path. They
        # hold each other until the launch is finished, as all launches are that are in flight.
        self.only: Pending | None = None
        self.waiters: dict[Any, Waiter] = {}
        self.watched: bool = False  # a watcher thread waits for it
        self.reference: ReferenceType[Launch] | None = None  # to a queued one, with a callback for its death
        self.rank: int = NORMAL  # its priority
        self.level: int = 0  # how long it will run, when it was pushed or launched
        self.entry: int = 0  # the number of its entry among those that could be made; 0 if it has none
        self.ahead: bool = False  # some of its inputs are unfinished
        self.launching: bool = False  # counted by the window as being given to PJRT
        self.placed: bool = False  # counted by the window among those of its level and rank
        self.lead: float = 0.0  # seconds of work that come after what runs now and before it
        self.followers: list[ReferenceType[Launch]] | None = None  # read its results, and wait for its start or its end


def appended(
    references: list[ReferenceType[Launch]] | None, reference: ReferenceType[Launch]
) -> list[ReferenceType[Launch]]:
    """``references`` with one more; now and then without those of the dead, so that the list does not grow by them."""
    if references is None:
        return [reference]
    if len(references) >= 64 and len(references).bit_count() == 1:
        references = [other for other in references if other() is not None]
    references.append(reference)
    return references
