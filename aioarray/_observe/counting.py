"""``Counter``: how much of everything the code in a ``with`` does, and where."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from .._engine import engine
from .._engine.failure import location
from .scope import Scope

if TYPE_CHECKING:
    from .._engine import Launch
    from .._engine.failure import Origin
    from .._engine.instruments import Compilation, Copy, Observation


class Event(NamedTuple):
    """Something that happened: ``name`` is the operation, function or read, ``location`` the line it comes from."""

    name: str
    location: str | None

    def __str__(self) -> str:
        return self.name if self.location is None else f"{self.name} at {self.location}"


class Counter(Scope):
    """What ``testing.count`` gives. The counts go on while the ``with`` is on, and stay; any thread.

    ``launches`` counts operations and calls of jitted functions, each of which is one launch, when they are enqueued;
    ``compiles`` the programs they needed that this process had not compiled; ``host_copies`` values copied to the host
    or from there, Python numbers apart; ``sync_reads`` reads, on an event loop, of values that were not awaited;
    ``dropped`` launches that were not made since nobody held their results; ``failed`` those that failed, or could not
    begin since an input had.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._observations: list[Observation] = []
        self._compilations: list[tuple[Compilation, Event]] = []
        self._copies: list[str] = []
        self._reads: list[Event] = []

    def __repr__(self) -> str:
        return (
            f"<launches={self.launches}, compiles={self.compiles}, host_copies={self.host_copies}, "
            f"sync_reads={self.sync_reads}, dropped={self.dropped}, failed={self.failed}>"
        )

    @property
    def launches(self) -> int:
        """How many operations, and calls of jitted functions, were enqueued."""
        return len(self._observations)

    @property
    def launched(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple([observation.name for observation in self._observations])

    @property
    def compiles(self) -> int:
        """How many programs were needed that were not compiled before."""
        return len(self._compilations)

    @property
    def compiled(self) -> tuple[Event, ...]:
        """Those programs, and the lines that needed them."""
        return tuple([event for _, event in self._compilations])

    @property
    def host_copies(self) -> int:
        """How many values were copied between host and device."""
        return len(self._copies)

    @property
    def to_host(self) -> int:
        """How many of them to the host."""
        return self._copies.count("to_host")

    @property
    def sync_reads(self) -> int:
        """How many values were read on an event loop that were not awaited."""
        return len(self._reads)

    @property
    def read_synchronously(self) -> tuple[Event, ...]:
        """Those reads, and where they were made."""
        return tuple(self._reads)

    @property
    def dropped(self) -> int:
        """How many launches were not made, since nobody held their results."""
        return self._in_state("dropped")

    @property
    def failed(self) -> int:
        """How many launches failed, so far."""
        return self._in_state("failed")

    @property
    def unfinished(self) -> tuple[Event, ...]:
        """The launches that are neither finished nor dropped, and where they were enqueued."""
        engine.scheduler.unfinished()  # notices what was dropped
        return tuple([_event(o) for o in self._observations if o.state in ("queued", "launched")])

    @property
    def unused(self) -> tuple[Event, ...]:
        """The launches none of whose results was awaited, read or computed with, and where they were enqueued."""
        return tuple([_event(o) for o in self._observations if not o.is_used])

    @property
    def unseen_failures(self) -> tuple[str, ...]:
        """The errors of launches that nobody has awaited or read, each once."""
        failures = {id(o.failure): o.failure for o in self._observations if o.failure is not None}
        return tuple([str(failure) for failure in failures.values() if not failure.seen])

    def _in_state(self, state: str) -> int:
        engine.scheduler.unfinished()  # notices what was dropped
        return sum(observation.state == state for observation in self._observations)

    # The instrument

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        with self._lock:
            self._observations.append(observation)

    def on_submitted(self, compilation: Compilation) -> None:
        self._compilations.append((compilation, Event(compilation.name, _place(compilation.origin))))

    def on_copied(self, copy: Copy) -> None:
        self._copies.append(copy.name)

    def on_sync_read(self, what: str, where: Origin | None) -> None:
        self._reads.append(Event(what, _place(where)))


def _place(where: Origin | None) -> str | None:
    return None if where is None else location(where)


def _event(observation: Observation) -> Event:
    return Event(observation.name, _place(observation.origin))
