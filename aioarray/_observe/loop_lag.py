"""``LoopWatch``: how late an event loop is, and what it was doing meanwhile.

A thread posts something to the loop now and then and looks when it is run. While it is not, the thread can see where
the loop's thread is, so that what holds the loop is named, whatever it is.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from .._engine import current_host

if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Self

    from .._engine.host import Host

# Between two looks at a loop that answers.
INTERVAL_SECONDS = 0.005
# A loop that has not answered for as long as that is asked where it is.
NOTICED_SECONDS = 0.002
_EVENT_LOOPS = ("asyncio", "uvloop", "trio", "anyio", "selectors")
# Also what is imported meanwhile is named by the line that imports it.
_NOT_THE_PROGRAM = (os.path.dirname(os.__file__) + os.sep, "<frozen ")


class Blocked(NamedTuple):
    """A time in which a loop did not answer: from ``begun`` on, by ``perf_counter``, for ``seconds``."""

    begun: float
    seconds: float
    location: str | None  # where its thread was most of the time

    def __str__(self) -> str:
        where = "" if self.location is None else f" at {self.location}"
        return f"{self.seconds * 1e3:.0f} ms{where}"


class LoopWatch:
    """Watches the event loop that runs here: ``with LoopWatch() as watch``, or ``start()`` and ``stop()``.

    ``blocked`` are the times it did not answer for longer than ``noticed`` seconds; ``largest`` is the largest lag.
    ``RuntimeError`` where no loop runs.
    """

    def __init__(
        self,
        noticed: float = NOTICED_SECONDS,
        interval: float = INTERVAL_SECONDS,
    ) -> None:
        self._noticed = noticed
        self._interval = interval
        self.blocked: list[Blocked] = []  # appended to by the watching thread
        self.largest: float = 0.0  # seconds; written by the watching thread
        self.lags: list[float] = []  # of all looks, in seconds; appended to by the watching thread
        self.thread: int = 0  # the loop's
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._beat: _Beat | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to watch the loop that runs on this thread."""
        self.thread = threading.get_ident()
        self._beat = beat = _Beat(current_host(), self.thread)
        self._thread = threading.Thread(target=self._watch, args=(beat,), name="aioarray-loop-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The end of that; on the loop's thread, so that a lag that is not over yet counts too."""
        self._stopped.set()
        if self._beat is not None and self._thread is not None:
            self._beat.answer()  # the loop cannot: it is held here until the thread has ended
            self._thread.join()
            self._thread = None

    def _watch(self, beat: _Beat) -> None:
        while not self._stopped.is_set():
            begun = beat.post()
            if self._stopped.is_set():
                return  # perhaps it has answered just before
            seen: Counter[str | None] = Counter()
            wait = self._noticed
            while not beat.answered.wait(wait):
                seen[_where(beat.thread)] += 1
                wait = self._interval
            lag = beat.at - begun
            self.largest = max(self.largest, lag)
            self.lags.append(lag)
            if lag > self._noticed:
                del seen[None]
                self.blocked.append(Blocked(begun, lag, seen.most_common(1)[0][0] if seen else None))
            self._stopped.wait(self._interval)


class _Beat:
    """Something to be run by a loop."""

    __slots__ = ("_host", "answered", "at", "thread")

    def __init__(self, host: Host, thread: int) -> None:
        self._host = host
        self.thread = thread
        self.answered = threading.Event()
        self.at = 0.0  # written by the loop before ``answered`` is set

    def post(self) -> float:
        self.answered.clear()
        begun = time.perf_counter()
        self._host.post(self.answer)
        return begun

    def answer(self) -> None:
        self.at = time.perf_counter()
        self.answered.set()


def _where(thread: int) -> str | None:
    """The innermost line of ``thread`` that is the program's own: neither the loop's nor the standard library's."""
    frame: FrameType | None = sys._current_frames().get(thread)
    innermost: FrameType | None = None
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name.partition(".")[0] in _EVENT_LOOPS:
            break  # what is further out has started the loop
        if innermost is None and not _is_foreign(frame, name):
            innermost = frame
        frame = frame.f_back
    if innermost is None:
        return None
    return f"{innermost.f_code.co_filename}:{innermost.f_lineno} in {innermost.f_code.co_name}"


def _is_foreign(frame: FrameType, name: str) -> bool:
    return name.partition(".")[0] == __name__.partition(".")[0] or frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM)
