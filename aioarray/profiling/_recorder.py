"""``Recorder``: keeps what the engine tells a profile."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from .._engine import current_host, instruments
from .._observe import LoopWatch

if TYPE_CHECKING:
    from .._engine import Launch, Program
    from .._engine.failure import Origin
    from .._engine.instruments import Compilation, Copy, Observation, Wait

# Seconds between two looks at a loop: it answers each of them, which takes it about 50 microseconds.
LOOK_SECONDS = 0.01
# A loop that does not answer for longer is shown as held.
HELD_SECONDS = 0.002


class Recorder(instruments.Instrument):
    """Keeps what it is told. Lists are appended to by any thread."""

    keeps_history = True
    passive = True

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.tiny: list[tuple[Program, float]] = []  # launches that were over at once, and when
        self.record = self.tiny.append
        self.observations: list[Observation] = []
        self.compilations: list[Compilation] = []
        self.copies: list[Copy] = []
        self.waits: list[Wait] = []
        self.sync_reads: list[tuple[float, str, Origin | None]] = []
        self.watches: dict[object, LoopWatch] = {}  # by host; under the lock
        self.threads: dict[int, str] = {}
        self._lock = threading.Lock()
        self._stopped = False

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        self.observations.append(observation)

    def on_submitted(self, compilation: Compilation) -> None:
        self.compilations.append(compilation)

    def on_copied(self, copy: Copy) -> None:
        self.copies.append(copy)

    def on_sync_read(self, what: str, where: Origin | None) -> None:
        self.sync_reads.append((time.perf_counter(), what, where))

    def on_wait(self, wait: Wait) -> None:
        self.waits.append(wait)
        if wait.kind == "await":
            self.watch_loop()

    def watch_loop(self) -> None:
        """Look at the loop that runs here, if that is not done yet."""
        host = current_host()
        if host in self.watches:
            return
        with self._lock:
            if self._stopped or host in self.watches:
                return
            watch = self.watches[host] = LoopWatch(HELD_SECONDS, LOOK_SECONDS)
            watch.start()

    def stop(self) -> None:
        """Look at no loop any more."""
        with self._lock:
            self._stopped = True
            watches = list(self.watches.values())
        for watch in watches:
            watch.stop()
