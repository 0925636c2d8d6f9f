"""Large memory goes back to the system on another thread: 200 MB take 4 ms and more, which an event loop has not.

``hand_over`` may be called on any thread, also by a destructor that Python runs anywhere: it takes no lock.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import bindings

if TYPE_CHECKING:
    from collections.abc import Callable

# Below, freeing takes about as long as having it done.
LARGE: Final = 4 << 20
# What may wait to be freed, so that a program that drops large memory in a loop does not run ahead of it. One thing
# may be larger.
MOST_WAITING: Final = 256 << 20


class Freeing:
    """The only instance is ``freeing``."""

    __slots__ = ("_call_soon", "handed_over", "waiting")

    def __init__(self) -> None:
        # Who calls functions on another thread soon, without a lock; until there is somebody, things are freed at once.
        self._call_soon: Callable[[Callable[[], None]], None] | None = None
        self.waiting = 0  # bytes; `+=` on an int attribute has no point where CPython would let another thread in
        self.handed_over = 0  # how many things, so far

    def begin(self, call_soon: Callable[[Callable[[], None]], None]) -> None:
        """From now on another thread frees."""
        self._call_soon = call_soon

    def end(self) -> None:
        """From now on whoever drops something frees it: the thread is about to end, or is not in this process."""
        self._call_soon = None

    def hand_over(self, box: list[Any], nbytes: int) -> None:
        """Empty ``box``, soon and on another thread. What is in it takes ``nbytes``, if nobody else holds it."""
        call_soon = self._call_soon
        if call_soon is None or (self.waiting and self.waiting + nbytes > MOST_WAITING):
            box.clear()
            return
        self.waiting += nbytes
        self.handed_over += 1
        call_soon(partial(self._free, box, nbytes))

    def _free(self, box: list[Any], nbytes: int) -> None:
        # A Buffer's destructor holds the GIL for a part of that; its `delete` does not, and may be called where nobody
        # else has the Buffer. Up to 0.11 it would stop `is_ready`, which the loop may want to ask.
        if bindings.DELETES_ALONE and hasattr(box[0], "is_deleted") and sys.getrefcount(box[0]) == 2:
            bindings.delete(box[0])
        box.clear()
        self.waiting -= nbytes


# Owned by this module.
freeing: Final = Freeing()


def freed_elsewhere(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A row-major ``array`` of much memory, so wrapped that the memory is handed over when its last view has gone."""
    if not array.flags.c_contiguous:
        return array
    # Views of the array would hold the array itself; those of an array on a memoryview hold that array.
    lease = np.frombuffer(array.view(np.uint8).data, np.uint8)
    weakref.finalize(lease, freeing.hand_over, [array], array.nbytes).atexit = False
    view: np.ndarray[Any, Any] = lease.view(array.dtype).reshape(array.shape)
    return view
