"""``Timer``: has functions called at given times, on one thread that is started when it is first needed."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .threads import Threads


class Timer:
    """The only instance is ``engine.scheduler.timer``. Fields are written under ``_lock``."""

    __slots__ = ("_closing", "_due", "_lock", "_number", "_running", "_threads")

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._due: list[tuple[float, int, Callable[[], object]]] = []  # a heap
        self._number = itertools.count()  # in the order of calls, where times are equal
        self._closing = False
        self._running = False
        self._lock = threading.Condition(threading.RLock())

    def call_at(self, when: float, function: Callable[[], object]) -> None:
        """Call ``function()``, which neither blocks nor raises, at ``when`` by ``perf_counter``. Any thread."""
        with self._lock:
            heapq.heappush(self._due, (when, next(self._number), function))
            if not self._running and not self._closing:
                self._running = True
                self._threads.start(self._run, "aioarray-timer")
            self._lock.notify()

    def close(self) -> None:
        """Interpreter exit: call nothing more, tell the thread to end."""
        with self._lock:
            self._closing = True
            self._due.clear()
            self._lock.notify()

    def after_fork_in_child(self) -> None:
        """The thread is not in the child."""
        self._lock = threading.Condition(threading.RLock())
        self._running = False
        self._due.clear()

    def _run(self) -> None:
        while True:
            with self._lock:
                while True:
                    if self._closing:
                        return
                    left = self._due[0][0] - time.perf_counter() if self._due else None
                    if left is not None and left <= 0.0:
                        break
                    self._lock.wait(left)
                _, _, function = heapq.heappop(self._due)
            function()
            del function
