"""What a profile has recorded, as plain data. All times are in seconds from the beginning of the profile."""

from __future__ import annotations

from dataclasses import dataclass, field


class _Span:
    """What has a beginning and an end."""

    __slots__ = ()

    begun: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.begun


@dataclass(frozen=True, slots=True)
class Phase(_Span):
    """A part of the life of a launch.

    ``kind`` says what it waited for ("compile", "inputs", "window", "worker", or "hold" for gates and delays of tests),
    or "run": it was being computed.
    """

    kind: str
    begun: float
    ended: float


@dataclass(frozen=True, slots=True)
class Launch:
    """One operation, or one call of a jitted function.

    ``row`` is the row of the picture that its computation is in: one in which nothing else runs at that time.
    ``parents`` are the indices of the launches whose results it reads, as far as those were unfinished when it was
    enqueued.
    """

    index: int
    name: str
    location: str | None
    thread: str
    state: str  # "queued", "launched", "finished", "failed" or "dropped"
    error: str | None
    inline: bool  # launched on the thread that enqueued it
    enqueued: float
    runnable: float | None
    begun: float | None
    launched: float | None
    ready: float | None
    awaited: float | None
    phases: tuple[Phase, ...]
    parents: tuple[int, ...]
    row: int | None = None
    behind: str | None = None  # why it was not made when it could have been, in words

    @property
    def running(self) -> Phase | None:
        """The time in which it was being computed."""
        return next((phase for phase in self.phases if phase.kind == "run"), None)

    def seconds(self, kind: str) -> float:
        """How long its phases of that kind took."""
        return sum((phase.seconds for phase in self.phases if phase.kind == kind), 0.0)


@dataclass(frozen=True, slots=True)
class Step(_Span):
    """A part of a critical path: for all that time, the end depended on this phase of this launch."""

    kind: str
    name: str
    launch: int
    begun: float
    ended: float


@dataclass(frozen=True, slots=True)
class Await(_Span):
    """Somebody waited for a launch: with ``await``, or holding a thread ("block").

    ``path`` is the critical path to the value: the chain of phases each of which could only begin when the one before
    was over, from when its first launch was enqueued to when the value was there.
    """

    kind: str
    name: str
    launch: int
    location: str | None
    thread: str
    begun: float
    ended: float
    cancelled: bool
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Compile(_Span):
    """One program's way through the compile service. ``seconds`` leaves out the wait for a worker.

    ``outcome`` is "compiled", "loaded" from disk, "shared" with an equal program, "failed", or "pending" at the end.
    """

    name: str
    location: str | None
    outcome: str
    submitted: float
    begun: float
    ended: float
    row: int


@dataclass(frozen=True, slots=True)
class Copy(_Span):
    """One value copied: ``name`` is "to_host" or "device_put"."""

    name: str
    value: str
    nbytes: int
    location: str | None
    thread: str
    begun: float
    ended: float


@dataclass(frozen=True, slots=True)
class Lag(_Span):
    """A time in which an event loop answered nothing, and the line where its thread was."""

    loop: str
    location: str | None
    begun: float
    ended: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that a profile has recorded, in order of time."""

    seconds: float
    launches: tuple[Launch, ...] = ()
    awaits: tuple[Await, ...] = ()
    compiles: tuple[Compile, ...] = ()
    copies: tuple[Copy, ...] = ()
    lags: tuple[Lag, ...] = ()
    sync_reads: tuple[tuple[float, str, str | None], ...] = ()  # when, what, where
    loops: dict[str, tuple[float, ...]] = field(default_factory=dict)  # name -> every lag that was measured
