"""Who is told, apart from event loops, that a launch has finished: threads, and launches that take its result over."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from weakref import ReferenceType

    from .launch import Launch, Pending, Waiter

LOOK_UP_SECONDS: Final = 0.5


def wake(waiters: Sequence[Waiter]) -> None:
    """Tell each of ``waiters``. Without the lock."""
    for waiter in waiters:
        waiter.wake()


class ThreadWaiter:
    """Lets a thread block until a launch has finished."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def wake(self) -> None:
        self._lock.release()

    def wait(self) -> None:
        # The main thread looks up now and then: a signal that the system gave to another thread does not interrupt it.
        while not self._lock.acquire(timeout=LOOK_UP_SECONDS):
            pass


class Donor:
    """Lets a queued launch go on when what it takes over is finished; a ``Waiter``.

    An input that is donated must be finished, not only launched: nobody could ask afterwards whether it is.
    """

    __slots__ = ("_dependent", "_finished", "_pending")

    def __init__(
        self,
        finished: Callable[[Pending, ReferenceType[Launch]], None],
        pending: ReferenceType[Pending],
        dependent: ReferenceType[Launch],
    ) -> None:
        """``finished(pending, dependent)`` is called at the end."""
        self._finished = finished
        self._pending = pending
        self._dependent = dependent

    def wake(self) -> None:
        pending = self._pending()  # held by the dependent's arguments
        if pending is not None:
            self._finished(pending, self._dependent)
