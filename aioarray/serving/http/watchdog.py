"""How long the event loop was held up, and by what."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

logger = logging.getLogger("aioarray.serving")

PERIOD: Final = 0.05
WINDOW: Final = 1200  # samples: the latest minute


class LoopLag(NamedTuple):
    """How late the loop came to a timer, in seconds: of the latest minute, and the most ever."""

    latest: float
    p50: float
    p99: float
    most: float
    stalls: int  # how often the loop was held up for longer than allowed


class Watchdog:
    """Measures the loop's lag, and logs where the loop's thread is when it is held up for ``limit`` seconds.

    ``async with`` runs it. The samples are the loop thread's; the thread that watches only reads the time of the
    latest, and asks for the stack.
    """

    def __init__(self, limit: float = 1.0) -> None:
        if not limit > 0:
            raise ValueError(f"Watchdog: limit is {limit}; it must be above 0")
        self.limit = limit
        self.stalls: int = 0  # the watching thread's
        self.where: str = ""  # the watching thread's: the stack of the latest stall
        self._samples: deque[float] = deque(maxlen=WINDOW)
        self._most = 0.0
        self._beat = time.monotonic()
        self._thread_id = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Watchdog:
        self._thread_id = threading.get_ident()
        self._stop.clear()
        self._beat = time.monotonic()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._measure)
        self._thread = threading.Thread(target=self._watch, name="aioarray-watchdog", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)
        assert self._thread is not None
        self._thread.join()

    async def _measure(self) -> None:
        while True:
            planned = time.monotonic() + PERIOD
            await anyio.sleep(PERIOD)
            now = time.monotonic()
            lag = max(0.0, now - planned)
            self._beat = now
            self._samples.append(lag)
            self._most = max(self._most, lag)

    def _watch(self) -> None:
        reported = 0.0
        while not self._stop.wait(self.limit / 4):
            beat = self._beat
            late = time.monotonic() - beat - PERIOD
            if late < self.limit or beat == reported:
                continue
            reported = beat
            self.stalls += 1
            frame: Any = sys._current_frames().get(self._thread_id)
            self.where = "".join(traceback.format_stack(frame, 12)) if frame is not None else ""
            logger.warning("the event loop is held up for %.2f s, at:\n%s", late, self.where)

    def lag(self) -> LoopLag:
        """What was measured."""
        ordered = sorted(self._samples)
        if not ordered:
            return LoopLag(0.0, 0.0, 0.0, 0.0, self.stalls)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        return LoopLag(self._samples[-1], ordered[len(ordered) // 2], p99, self._most, self.stalls)
