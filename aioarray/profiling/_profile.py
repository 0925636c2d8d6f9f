"""``profile``: records what the engine does while a ``with`` is on."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .._engine import engine, in_event_loop, instruments
from ._build import Builder
from ._page import page
from ._recorder import Recorder
from ._summary import summary
from ._trace import trace

if TYPE_CHECKING:
    import os
    from types import TracebackType
    from typing import Self

    from ._timeline import Timeline


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
