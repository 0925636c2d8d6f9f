"""Awaiting: how the end of a launch gets to the coroutines that wait for it, on any loop.

Nothing is bound to the loop an Array was created on, and nothing is kept for a loop beyond the wait.
"""

from __future__ import annotations

import functools
import os
import time
from typing import TYPE_CHECKING, Any, Final

from .. import _xla
from .host import Host, Rendezvous
from .launch import FINISHED, Launch, Pending
from .loops import current_host

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from .scheduler import Scheduler

# An await of work that is already running looks again this long, letting the loop go round, before it arranges to be
# woken: being woken takes about as long.
SPIN_SECONDS: Final = 100e-6
# With more tasks than this looking, the loop itself would be what they wait for.
SPINNERS: Final = 4
# An await of something ready does not yield, but for every so many-th, so that a task that only does such awaits cannot
# keep the loop from others.
READY_AWAITS: Final = 64

# Lets another thread have the core: the one that computes what is looked for ranks below the loop's, and where it was
# put on the same core, looking keeps it from running.
_give_way: Callable[[], None] = getattr(os, "sched_yield", functools.partial(time.sleep, 0))


class Ready:
    """Counts the awaits of values that were ready, to yield at some of them. Any thread; exactness is not needed."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def is_turn(self) -> bool:
        self._count += 1
        return self._count % READY_AWAITS == 0


_ready = Ready()


def pass_ready() -> Generator[Any, Any, None]:
    """What the await of something ready does: nothing, or let others run when it is their turn."""
    if _ready.is_turn():
        yield from current_host().yield_once()


def wait(scheduler: Scheduler, pending: Pending) -> Generator[Any, Any, None]:
    """Suspend the running task until ``pending`` has finished, with a value or a failure."""
    launch = pending.launch
    if launch is None:
        yield from pass_ready()
        return
    host = current_host()
    seen = launch.observer.wait("await")
    try:
        if pending.buffer is not None and host.spinning < SPINNERS:
            yield from _spin(scheduler, host, launch, pending)
            if pending.launch is None:
                return
        # Read without the lock: if another task of this loop waits already, the loop will be called.
        rendezvous = launch.waiters.get(host) or scheduler.add_waiter(launch, host, Rendezvous(host))
        if rendezvous is None:
            return
        assert isinstance(rendezvous, Rendezvous)
        # Between the registration and this line the launch may have ended: then `_resume` is on its way, and runs on
        # this loop only after the task has lined up.
        yield from host.park(rendezvous.line)
    finally:
        seen.finish(pending.launch is not None)


def _spin(scheduler: Scheduler, host: Host, launch: Launch, pending: Pending) -> Generator[Any, Any, None]:
    deadline = time.perf_counter() + SPIN_SECONDS
    host.spinning += 1
    try:
        while launch.state != FINISHED:
            buffer = pending.buffer
            if buffer is None or _xla.is_ready(buffer):
                scheduler.land(launch)
                return
            if time.perf_counter() > deadline:
                return
            _give_way()
            yield from host.yield_once()
    finally:
        host.spinning -= 1


def wait_drained(scheduler: Scheduler, limit: int) -> Generator[Any, Any, None]:
    """Suspend the running task until fewer than ``limit`` launches are unfinished."""
    host = current_host()
    rendezvous = Rendezvous(host)
    if not scheduler.add_drainer(rendezvous, limit):
        yield from pass_ready()
        return
    try:
        yield from host.park(rendezvous.line)
    finally:
        scheduler.remove_drainer(rendezvous)
