"""``profile``: records what the engine does while a ``with`` is on."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .._engine import current_host, engine, in_event_loop, instruments
from .._observe import LoopWatch
from ._build import Builder
from ._page import page
from ._summary import summary
from ._trace import trace

if TYPE_CHECKING:
    import os
    from types import TracebackType
    from typing import Self

    from .._engine import Launch, Program
    from .._engine.failure import Origin
    from .._engine.instruments import Compilation, Copy, Observation, Wait
    from ._timeline import Timeline

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


class Profile:
    """What ``aio.profile`` gives. May be read while the ``with`` is on, and afterwards. Not reusable."""

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._end: float | None = None
        self._threads: dict[int, str] = {}
        self._timeline: Timeline | None = None

    def __repr__(self) -> str:
        if self._recorder is None:
            return "<profile, not begun>"
        state = "running" if self._end is None else "done"
        return f"<profile, {state}, {len(self._recorder.observations) + len(self._recorder.tiny)} launches>"

    def __enter__(self) -> Self:
        if self._recorder is not None:
            raise RuntimeError("profile: this one was used before; make another one")
        self._recorder = Recorder()
        instruments.install(self._recorder, everywhere=True)
        if in_event_loop():
            self._recorder.watch_loop()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._recorder is not None
        engine.scheduler.unfinished()  # notices what was dropped
        self._end = time.perf_counter()
        instruments.uninstall(self._recorder)
        self._recorder.stop()
        self._threads = _thread_names()

    def timeline(self) -> Timeline:
        """The recording as plain data, which everything else is made of. ``RuntimeError`` before the ``with``."""
        if self._recorder is None:
            raise RuntimeError("profile: nothing recorded yet; use it as `with aio.profile() as p: ...`")
        if self._timeline is not None:
            return self._timeline
        if self._end is None:
            engine.scheduler.unfinished()  # notices what was dropped
        now = time.perf_counter() if self._end is None else self._end
        threads = _thread_names() if self._end is None else self._threads
        timeline = Builder(self._recorder, threads, now).build()
        if self._end is not None:
            self._timeline = timeline
        return timeline

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording in the Trace Event format, which Perfetto (ui.perfetto.dev) and Chrome open."""
        Path(path).write_text(trace(self.timeline()), encoding="utf-8")

    def html(self, path: str | os.PathLike[str]) -> None:
        """Write one page that needs nothing else: a timeline, totals, and the critical path of each await."""
        Path(path).write_text(page(self.timeline()), encoding="utf-8")

    def summary(self) -> str:
        """Tables for the terminal: time by operation and by what was waited for, compiles, copies, the loop's lag."""
        return summary(self.timeline())


def profile() -> Profile:
    """Record what the process does with Arrays while the ``with`` is on.

    For each launch: when it was enqueued, launched, ready and awaited, and what it waited for: inputs, a compile, a
    place in the window, a launch worker. Then compiles, host copies, synchronous reads, and the lag of the event loops
    in which Arrays are awaited; from every task and thread of the process. Operations so small that they are over when
    the call returns are recorded by name and time alone. ``p.summary()`` is a table, ``p.html(path)`` a page with a
    timeline, ``p.save(path)`` a trace for Perfetto, ``p.timeline()`` the data.

    >>> x = aio.ones((4, 4))
    >>> with aio.profile() as p:
    ...     _ = await aio.sum(x @ x)
    >>> [launch.name for launch in p.timeline().launches]
    ['matmul', 'sum']
    """
    return Profile()


def _thread_names() -> dict[int, str]:
    return {thread.ident: thread.name for thread in threading.enumerate() if thread.ident is not None}
