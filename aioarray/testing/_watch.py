"""``Watch``: what the engine tells about one test."""

from __future__ import annotations

import gc
import sys
import threading
import time
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from .._engine import Pending, instruments
from .._engine.failure import location
from ._locks import HeldLockError, held_lock
from ._words import counted, launch_text, listed

if TYPE_CHECKING:
    from weakref import ReferenceType

    from .._engine import Launch
    from .._engine.failure import Origin
    from .._engine.instruments import Compilation, Copy, Observation
    from .._xla import Buffer


class Timed(NamedTuple):
    """A line of the report on durations."""

    seconds: float
    text: str


def _gone(launches: list[Observation]) -> list[Observation]:
    """Those of ``launches`` whose results nobody holds any more."""
    if not launches:
        return []
    held = {id(thing.observer) for thing in gc.get_referrers(*launches) if type(thing) is Pending}
    return [launch for launch in launches if id(launch) not in held]


class Watch(instruments.Instrument):
    """Keeps the launches, compilations and synchronous reads of the process; and looks at locks, if told to."""

    def __init__(self, held_locks: str | None) -> None:
        self._held_locks = held_locks
        self._reading = threading.local()  # `begun`, `text`: the synchronous read that this thread is in
        # Appended to by any thread.
        self.launches: list[Observation] = []
        self.compilations: list[Compilation] = []
        self.reads: list[Timed] = []
        self.locks: list[str] = []
        # Of results that were used: an Array that has taken over a buffer does not know whose result it was.
        self._buffers: dict[int, tuple[ReferenceType[Buffer], Observation]] = {}

    # As an instrument

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        self.launches.append(observation)

    def on_compiled(self, compilation: Compilation) -> None:
        self.compilations.append(compilation)

    def on_touched(self, pending: Pending, what: str) -> None:
        if pending.buffer is not None and isinstance(pending.observer, instruments.Observation):
            self._buffers[id(pending.buffer)] = ref(pending.buffer), pending.observer
        if what != "await" or self._held_locks not in ("warn", "raise"):
            return
        message = held_lock(sys._getframe(1))
        if message is None:
            return
        if message not in self.locks:
            self.locks.append(message)
        if self._held_locks == "raise":
            raise HeldLockError(message)

    def on_sync_read(self, what: str, where: Origin | None) -> None:
        self._reading.text = f"{what} at {location(where) if where else 'an unknown place'}"
        self._reading.begun = time.perf_counter()

    def on_copied(self, copy: Copy) -> None:
        begun = getattr(self._reading, "begun", None)
        if begun is not None:
            self.reads.append(Timed(time.perf_counter() - begun, self._reading.text))
            self._reading.begun = None

    # What is to be known of it

    def launch_of(self, buffer: Buffer) -> Observation | None:
        """The launch that ``buffer``, which was used, is a result of."""
        reference, observation = self._buffers.get(id(buffer), (None, None))
        return observation if reference is not None and reference() is buffer else None

    def unseen_errors(self) -> list[str]:
        """Errors of results that are gone without anybody having awaited or read them. Tells each once."""
        failed = [launch for launch in self.launches if launch.failure is not None and not launch.failure.seen]
        failures = {id(launch.failure): launch.failure for launch in _gone(failed)}
        for failure in failures.values():
            assert failure is not None
            failure.seen = True
        return [str(failure) for failure in failures.values()]

    def unawaited(self, launches: list[Observation]) -> list[str]:
        """Those of ``launches`` whose results are gone, and nobody has made use of; errors are another matter."""
        gone = _gone([launch for launch in launches if not launch.is_used and launch.state != "failed"])
        if not gone:
            return []
        return [
            f"{counted(len(gone), 'result was', 'results were')} never awaited, read or passed on: await what "
            "was computed, or do not compute it",
            *listed(launch_text(launch.name, launch.origin) for launch in gone),
        ]

    def durations(self) -> dict[str, list[Timed]]:
        """How long each launch, compilation and synchronous read took."""
        return {
            "launches": [
                Timed(launch.ready - launch.begun, launch_text(launch.name, launch.origin))
                for launch in self.launches
                if launch.ready is not None and launch.begun is not None
            ],
            "compiles": [
                Timed(one.done - one.begun_at, program_text(one))
                for one in self.compilations
                if one.done is not None and one.begun_at is not None
            ],
            "synchronous reads": list(self.reads),
        }


def program_text(compilation: Compilation) -> str:
    """ "`f` for float32[3], int32[2, 2], needed at file.py:12 in g"."""
    specs = ", ".join(f"{spec.dtype.name}{list(spec.shape)}" for spec in compilation.program.in_specs)
    where = f", needed at {location(compilation.origin)}" if compilation.origin else ""
    return f"`{compilation.name}`" + (f" for {specs}" if specs else "") + where
