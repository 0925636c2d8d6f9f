"""The end of the interpreter, for threads that it does not wait for: they must not be inside jaxlib then.

Python before 3.14 ends a daemon thread at its first wish for the GIL after that, by unwinding its stack. Much of
jaxlib gives the GIL up and takes it again in a destructor, which must not be unwound: the process would be aborted.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from .._base.callers import PACKAGE
from .client import bar_daemon_threads, get_client

if TYPE_CHECKING:
    from types import FrameType

# How long, in seconds, a thread may be inside a call of this package's, and inside the destructor of a Buffer, which
# cannot be told from waiting for whatever else.
_CALL = 2.0
_DESTRUCTOR = 0.05
_POLL = 0.001  # nothing tells that a thread has left a call
_kept: list[Any] = []  # written by `end`, which is called once


def end() -> None:
    """Have no other thread begin anything with jaxlib, free any Buffer, or be in the middle of that.

    To be called once nothing computes. The Buffers that there are go when the interpreter clears its modules, on the
    calling thread.
    """
    bar_daemon_threads()
    while True:
        known = set(map(id, _kept))
        new = [buffer for buffer in get_client().live_arrays() if id(buffer) not in known]
        _kept.extend(new)
        _let_others_out()
        if not new:
            return


def _let_others_out() -> None:
    begun = time.monotonic()
    start = _positions()
    while True:
        seconds = time.monotonic() - begun
        if not any(
            (_is_inside(frame) and seconds < _CALL)
            or (start.get(thread) == (id(frame), frame.f_lasti) and seconds < _DESTRUCTOR)
            for thread, frame in _other_frames()
        ):
            return
        time.sleep(_POLL)


def _other_frames() -> list[tuple[int, FrameType]]:
    own = threading.get_ident()
    return [(thread, frame) for thread, frame in sys._current_frames().items() if thread != own]


def _positions() -> dict[int, tuple[int, int]]:
    """Where each other thread is: it has left a destructor when it is elsewhere."""
    return {thread: (id(frame), frame.f_lasti) for thread, frame in _other_frames()}


def _is_inside(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)
