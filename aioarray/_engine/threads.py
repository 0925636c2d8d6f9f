"""The engine's threads, started without holding up whoever asks for one.

``Thread.start`` waits until the new thread runs, which on busy cores takes milliseconds; so one thread, the
housekeeper, does all the starting. Another one logs, for code that must not wait for a log handler. All are daemons,
since the interpreter joins others before the atexit hook that ends these.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Final

from .failure import log

Request = tuple[Callable[[], None], str]

# How long the end of the process waits for a log handler.
LOG_SECONDS: Final = 5.0


class Threads:
    """The only instance is ``engine.threads``; ``start`` may be called on any thread."""

    __slots__ = ("_housekeeper", "_logged", "_logger", "_messages", "_queue", "_threads")

    def __init__(self) -> None:
        self._queue: SimpleQueue[Request | Callable[[], None] | None] = SimpleQueue()
        self._messages: SimpleQueue[str | threading.Event | None] = SimpleQueue()
        self._logged = False  # something was given to `log`; any thread
        self._housekeeper: threading.Thread | None = None
        self._logger: threading.Thread | None = None  # the housekeeper only, and `join` after it
        self._threads: list[threading.Thread] = []  # appended to by `open`, then by the housekeeper only

    def open(self, first: Sequence[Request]) -> None:
        """Start the housekeeper, and the threads in ``first``: at first use of the engine.

        Those are the ones that the engine cannot do without: once the main thread has ended, Python starts no more,
        while other threads of the program may still wait for results.
        """
        self._housekeeper = threading.Thread(target=self._keep_house, name="aioarray-housekeeper", daemon=True)
        self._housekeeper.start()
        for target, name in first:
            self._start_now(target, name)

    def start(self, target: Callable[[], None], name: str) -> None:
        """Have ``target()`` run on a new thread soon. Does not wait."""
        self._queue.put((target, name))

    def log(self, message: str) -> None:
        """Have an error logged soon that nobody saw. Any thread, also in a destructor."""
        self._logged = True
        self._messages.put(message)
        self._queue.put(self._start_logger)

    def call_soon(self, function: Callable[[], None]) -> None:
        """Have ``function()``, which neither blocks nor raises, called soon. Any thread, also in a destructor."""
        self._queue.put(function)

    def set_when_logged(self, done: threading.Event) -> None:
        """Have ``done`` set when all is logged that was given to ``log`` before; at once if nothing ever was."""
        if not self._logged:
            done.set()
            return
        self._messages.put(done)
        self._queue.put(self._start_logger)

    def join(self) -> None:
        """Wait for all threads to end, which somebody has told them to."""
        if self._housekeeper is None:
            return
        self._queue.put(None)
        self._housekeeper.join()
        if self._logger is not None:
            self._messages.put(None)
            self._logger.join(LOG_SECONDS)  # a handler that never ends must not keep the process
        for thread in self._threads:
            thread.join()

    def count(self) -> int:
        """How many threads there are."""
        return len(self._threads) + (self._housekeeper is not None) + (self._logger is not None)

    def after_fork_in_child(self) -> None:
        """The threads are not in the child."""
        self._queue = SimpleQueue()
        self._messages = SimpleQueue()
        self._logged = False
        self._housekeeper = self._logger = None
        self._threads = []

    def _keep_house(self) -> None:
        while (request := self._queue.get()) is not None:
            if callable(request):
                request()
                continue
            try:
                self._start_now(*request)
            except RuntimeError:
                # The interpreter is ending and starts no more threads; the first ones do the work that is left.
                continue

    def _start_logger(self) -> None:
        """Have a thread log what there is, if none does."""
        if self._logger is not None:
            return
        logger = threading.Thread(target=self._log_all, name="aioarray-log", daemon=True)
        try:
            logger.start()
        except RuntimeError:  # as above: then here
            self._messages.put(None)
            self._log_all()
        else:
            self._logger = logger

    def _log_all(self) -> None:
        while (message := self._messages.get()) is not None:
            if isinstance(message, threading.Event):
                message.set()
                continue
            try:
                log(message)
            except Exception:  # a handler's or a filter's: the other messages must be logged
                traceback.print_exc()

    def _start_now(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
