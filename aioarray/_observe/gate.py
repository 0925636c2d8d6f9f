"""``Gate``: keeps what is enqueued from being launched until a test lets it go."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from .._array import Array
from .._engine import Rendezvous, current_host, engine, in_event_loop
from .._engine.failure import location
from .._engine.launch import QUEUED
from .scope import Scope, checked_pattern, matches

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from .._engine import Launch
    from .._engine.instruments import Observation


class Held:
    """An operation, or the call of a jitted function, that a gate holds.

    ``name`` is that of the operation or function, ``location`` the line that enqueued it.
    """

    __slots__ = ("_gate", "_launch", "location", "name")

    def __init__(self, gate: Gate, launch: Launch) -> None:
        self._gate = gate
        self._launch: ReferenceType[Launch] = ref(launch)
        self.name: str = launch.program.name
        self.location: str | None = None if launch.origin is None else location(launch.origin)

    def __repr__(self) -> str:
        return f"<held {self.name}>" if self.location is None else f"<held {self.name}, enqueued at {self.location}>"

    def release(self) -> None:
        """Let it go. ``RuntimeError`` if the gate does not hold it any more."""
        launch = self._launch()
        if launch is None or not self._gate._let_go(launch):
            raise RuntimeError(f"hold: {self.name} is not held any more")


class Gate(Scope):
    """What ``testing.hold`` gives. Its methods may be called on any thread."""

    def __init__(self, match: str | None = None) -> None:
        self._match = checked_pattern("hold", match)
        self._lock = threading.RLock()
        # In order of enqueueing. Under the lock; weak, so that work whose results nobody holds is still dropped.
        self._launches: list[ReferenceType[Launch]] = []
        self._waiting: dict[Rendezvous, int] = {}
        self._open = False  # written under the lock

    def __repr__(self) -> str:
        return f"<gate, {'open' if self._open else 'holding'} {[held.name for held in self.pending]}>"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, traceback)
        self.open()

    @property
    def pending(self) -> tuple[Held, ...]:
        """What is held, in the order in which it was enqueued; without what was dropped, or failed with its input."""
        return tuple([Held(self, launch) for launch in self._held()])

    def release(self, which: int | Array | Held | None = None) -> None:
        """Let go what is held: all of it, the first so many, or one, given by its entry in ``pending`` or its Array.

        What is enqueued afterwards is held again. Raises ``ValueError`` where fewer are held, or not that one.
        """
        if isinstance(which, Held):
            which.release()
            return
        held = self._held()
        if isinstance(which, Array):
            pending = which._pending
            launches = [launch for launch in held if pending is not None and pending.launch is launch]
            if not launches:
                raise ValueError(f"hold: this Array is not held; these are: {list(self.pending)}")
        else:
            count = len(held) if which is None else which
            if not 0 <= count <= len(held):
                raise ValueError(f"hold: cannot release {count}, {len(held)} held: {list(self.pending)}")
            launches = held[:count]
        for launch in launches:
            self._let_go(launch)

    def open(self) -> None:
        """Let go what is held, and hold nothing from now on."""
        with self._lock:
            # In one, or what another thread enqueues meanwhile would be held for good.
            self._open = True
            held = self._held()
        for launch in held:
            self._let_go(launch)

    async def wait_for(self, count: int = 1) -> tuple[Held, ...]:
        """Wait until code that runs in other tasks has enqueued ``count`` that are held, or more; give all of them."""
        if not in_event_loop():
            raise RuntimeError("hold: wait_for needs a running event loop")
        await _Arrival(self, count)
        return self.pending

    # The instrument

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        if not matches(self._match, launch.program.name):
            return
        woken: list[Rendezvous] = []
        with self._lock:
            if self._open:
                return
            observation.holds += 1
            self._launches.append(ref(launch))
            if self._waiting:
                count = len(self._held())
                woken = [rendezvous for rendezvous, least in self._waiting.items() if count >= least]
                for rendezvous in woken:
                    del self._waiting[rendezvous]
        for rendezvous in woken:
            rendezvous.wake()

    def _held(self) -> list[Launch]:
        with self._lock:
            held = [launch for reference in self._launches if (launch := reference()) is not None]
            held = [launch for launch in held if launch.state == QUEUED]
            self._launches = [ref(launch) for launch in held]
            return held

    def _let_go(self, launch: Launch) -> bool:
        with self._lock:
            reference: ReferenceType[Launch] = ref(launch)
            if reference not in self._launches:
                return False
            self._launches.remove(reference)
        engine.scheduler.let_go(launch)
        return True

    def _line_up(self, rendezvous: Rendezvous, count: int) -> bool:
        with self._lock:
            if len(self._held()) >= count:
                return False
            self._waiting[rendezvous] = count
            return True

    def _leave(self, rendezvous: Rendezvous) -> None:
        with self._lock:
            self._waiting.pop(rendezvous, None)


class _Arrival:
    """Awaits that a gate holds so many."""

    __slots__ = ("_count", "_gate")

    def __init__(self, gate: Gate, count: int) -> None:
        self._gate = gate
        self._count = count

    def __await__(self) -> Generator[Any, Any, None]:
        host = current_host()
        while True:
            rendezvous = Rendezvous(host)
            if not self._gate._line_up(rendezvous, self._count):
                return
            try:
                yield from host.park(rendezvous.line)
            finally:
                self._gate._leave(rendezvous)
