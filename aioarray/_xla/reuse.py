"""Memory for large host arrays, kept for a while after it was given back, for the next ones.

The system gives memory of this size anew each time, a page at a time at first touch, which takes up to four times as
long as the copy into it. So a program that sends one large input after the other gets the memory of one that is gone.

``take`` may be called on any thread, also by a signal handler. Memory is given back by a finalizer, which Python may
run anywhere, also inside of ``take``: it takes no lock and only leaves a note.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

# From this size on: smaller memory is seldom given back to the system. NumPy asks for huge pages then.
LARGE_BYTES: Final = 16 << 20
KEEP_SECONDS: Final = 10.0
# Memory for something smaller than what it was is taken up to this difference, as a share of it.
SLACK: Final = 8

Block = np.ndarray[Any, np.dtype[np.uint8]]


# Where Linux says how much memory a container may take.
_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def _an_eighth() -> int:
    """Of the memory that this process may take."""
    sizes = [2 << 30]
    if hasattr(os, "sysconf"):
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _LIMITS:
        if os.access(path, os.R_OK):
            with open(path) as file:
                text = file.read().strip()
            if text.isdecimal():  # otherwise "max"
                sizes.append(int(text))
    return min(sizes) // 8


class HostMemory:
    """The only instance is ``host_memory``."""

    __slots__ = (
        "_bytes",
        "_call_at",
        "_call_soon",
        "_clock",
        "_kept",
        "_lock",
        "_planned",
        "_returned",
        "limit",
    )

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.limit = 0  # bytes that may be kept
        self._lock = threading.Lock()
        self._kept: deque[tuple[float, Block]] = deque()  # when it was given back, oldest first; under the lock
        self._returned: deque[tuple[float, Block]] = deque()  # the same, not looked at yet; any thread
        # The bytes in both, and whether `_release_old` is on its way. Written without the lock, so they may be a little
        # off: at worst it is called once too often.
        self._bytes = 0
        self._planned = False
        # Who calls functions on another thread, soon and at a time of the clock; until there is somebody, nothing
        # is kept.
        self._call_soon: Callable[[Callable[[], None]], None] | None = None
        self._call_at: Callable[[float, Callable[[], None]], None] | None = None

    def keep(
        self,
        call_soon: Callable[[Callable[[], None]], None],
        call_at: Callable[[float, Callable[[], None]], None],
    ) -> None:
        """Begin to keep memory. ``call_soon`` takes no lock."""
        self.limit = _an_eighth()
        self._call_soon, self._call_at = call_soon, call_at

    def take(self, nbytes: int) -> Block:
        """So many bytes, uninitialised. They are given back when the array and all its views are gone."""
        block = None
        # A signal handler or a finalizer may have come in between on this very thread, and others are not worth waiting
        # for.
        if self._lock.acquire(blocking=False):
            try:
                self._note_returned()
                block = self._fitting(nbytes)
            finally:
                self._lock.release()
        if block is None:
            block = np.empty(nbytes, np.uint8)
        # Views of the block would hold the block itself; those of an array on a memoryview hold that array.
        lease: Block = np.frombuffer(block.data, np.uint8)
        if self._call_soon is not None:
            weakref.finalize(lease, self._give_back, block).atexit = False
        return lease[:nbytes]

    def release(self) -> None:
        """Give up all that is kept."""
        self._release_before(float("inf"))

    def kept(self) -> int:
        """How many bytes are kept."""
        with self._lock:
            self._note_returned()
            return sum(block.nbytes for _, block in self._kept)

    def after_fork_in_child(self) -> None:
        """Keep nothing any more: there is no thread to release it."""
        self._lock = threading.Lock()
        self._call_soon = self._call_at = None
        self._kept.clear()
        self._returned.clear()

    def _give_back(self, block: Block) -> None:
        if self._call_soon is None:
            return
        self._returned.append((self._clock(), block))
        self._bytes += block.nbytes
        if not self._planned or self._bytes > self.limit:
            self._planned = True
            self._call_soon(self._release_old)

    def _note_returned(self) -> None:
        while self._returned:
            self._kept.append(self._returned.popleft())
        total = sum(block.nbytes for _, block in self._kept)
        while total > self.limit:
            total -= self._kept.popleft()[1].nbytes
        self._bytes = total

    def _fitting(self, nbytes: int) -> Block | None:
        for index, (_, block) in reversed(list(enumerate(self._kept))):
            if nbytes <= block.nbytes <= nbytes + nbytes // SLACK:
                del self._kept[index]
                self._bytes -= block.nbytes
                return block
        return None

    def _release_old(self) -> None:
        """Give up what has been kept long enough, and come back for the rest."""
        self._planned = False
        now = self._clock()
        self._release_before(now - KEEP_SECONDS)
        with self._lock:
            oldest = self._kept[0][0] if self._kept else None
        if oldest is not None and self._call_at is not None:
            self._planned = True
            self._call_at(oldest + KEEP_SECONDS, self._release_old)

    def _release_before(self, when: float) -> None:
        released = []
        with self._lock:
            self._note_returned()
            while self._kept and self._kept[0][0] <= when:
                released.append(self._kept.popleft())
                self._bytes -= released[-1][1].nbytes
        released.clear()  # without the lock: it takes a while


# Owned by this module: memory that nobody uses.
host_memory = HostMemory()
