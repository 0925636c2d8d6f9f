"""What the parts of the scheduler share: one lock, and what it guards."""

from __future__ import annotations

import threading

from .drainers import Drainers
from .queue import Queue
from .window import Window


class Counts:
    """How many launches there were. ``enqueued`` and ``launched`` are also added to without the lock."""

    __slots__ = ("dropped", "enqueued", "failed", "finished", "launched")

    def __init__(self) -> None:
        # `+=` on an int attribute has no point where CPython would let another thread in.
        self.enqueued = self.launched = self.finished = self.failed = self.dropped = 0


class State:
    """The lock is re-entrant, since a garbage collection may come here while it is held."""

    __slots__ = ("closing", "counts", "drainers", "lock", "queue", "window")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.counts = Counts()
        self.window = Window()
        self.queue = Queue()
        self.drainers = Drainers()
        self.closing = False  # nothing is launched any more

    def unfinished(self) -> int:
        """Launches that are enqueued and neither finished, failed nor dropped. Any thread."""
        with self.lock:
            self.counts.dropped += self.queue.bury()
            return len(self.queue) + self.window.in_flight

    def after_fork_in_child(self) -> None:
        """The lock may be held by a thread that is not in the child."""
        self.lock = threading.RLock()
        self.closing = True
        self.queue.after_fork_in_child()
        self.drainers.clear()
