"""Awaiting on asyncio, with whatever loop class. Does not import asyncio, which takes a while."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from .host import Host

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator

# The time that resuming tasks may take of one round of the loop.
TURN_SECONDS: Final = 1e-3


class AsyncioHost(Host):
    """asyncio, with whatever loop class."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = ref(loop)
        self._inbox: deque[Callable[[], object]] = deque()  # any thread appends, the loop takes
        self._scheduled = False  # `_deliver` is on its way and has not begun

    def post(self, function: Callable[[], object]) -> None:
        self._inbox.append(function)
        if not self._scheduled:
            self._schedule()

    def _deliver(self) -> None:
        # Cleared before the inbox is read: what is posted after the reading schedules the next delivery.
        self._scheduled = False
        inbox = self._inbox
        deadline = time.perf_counter() + TURN_SECONDS
        while inbox:
            inbox.popleft()()
            if time.perf_counter() > deadline and inbox:
                self._schedule()
                return

    def _schedule(self) -> None:
        self._scheduled = True
        loop = self.loop()
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # The loop has been closed: its tasks are gone, there is nobody to tell.
            self._inbox.clear()

    def yield_once(self) -> Generator[Any, Any, None]:
        yield  # a task that yields nothing is continued in the loop's next round

    def park(self, line: dict[Any, None]) -> Generator[Any, Any, None]:
        loop = self.loop()
        assert loop is not None, "this generator runs on it"
        future = loop.create_future()
        line[future] = None
        try:
            yield from future
        finally:
            line.pop(future, None)

    def resume(self, waiting: asyncio.Future[None]) -> None:
        if not waiting.done():
            waiting.set_result(None)
