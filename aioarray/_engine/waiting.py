"""Awaiting: how the end of a launch gets to the coroutines that wait for it, on any loop.

Each thread that runs a loop has a ``Host`` for it: the way to run something there from another thread. A launch has at
most one ``Rendezvous`` for each host, where that loop's tasks line up; so the thread that notices the end makes one
call for each loop, not one for each task.

Nothing is bound to the loop an Array was created on, and nothing is kept for a loop beyond the wait.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from .. import _xla
from .instruments import Wait
from .launch import FINISHED, Launch, Pending

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator

    from .scheduler import Scheduler

# An await of work that is already running looks again this long, letting the loop go round, before it arranges to be
# woken: being woken takes about as long.
SPIN_SECONDS: Final = 100e-6
# With more tasks than this looking, the loop itself would be what they wait for.
SPINNERS: Final = 4
# Tasks of one launch resumed in one go, and the time that resuming tasks may take of one round of the loop.
BATCH: Final = 256
TURN_SECONDS: Final = 1e-3
# An await of something ready does not yield, but for every so many-th, so that a task that only does such awaits cannot
# keep the loop from others.
READY_AWAITS: Final = 64


# Lets another thread have the core: the one that computes what is looked for ranks below the loop's, and where it was
# put on the same core, looking keeps it from running.
_give_way: Callable[[], None] = getattr(os, "sched_yield", functools.partial(time.sleep, 0))


class Host(ABC):
    """A running event loop, as something to wake tasks on."""

    spinning = 0  # tasks that are looking; this loop's thread only

    @abstractmethod
    def post(self, function: Callable[[], object]) -> None:
        """Run ``function`` soon on the loop. Any thread; does nothing if the loop is closed."""

    @abstractmethod
    def yield_once(self) -> Generator[Any, Any, None]:
        """Let the loop's other tasks run."""

    @abstractmethod
    def park(self, line: dict[Any, None]) -> Generator[Any, Any, None]:
        """Put the running task in ``line`` and suspend it until ``resume``; out of line again if cancelled."""

    @abstractmethod
    def resume(self, waiting: Any) -> None:
        """Resume a task, by what ``park`` put in line for it. On the loop."""


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


class Rendezvous:
    """The tasks of one loop that wait for one launch; a ``Waiter``."""

    __slots__ = ("_host", "line")

    def __init__(self, host: Host) -> None:
        self._host = host
        self.line: dict[Any, None] = {}  # in order of arrival; the loop only

    def wake(self) -> None:
        self._host.post(self._resume)

    def _resume(self) -> None:
        line, resume = self.line, self._host.resume
        for _ in range(min(BATCH, len(line))):
            waiting = next(iter(line))
            del line[waiting]
            resume(waiting)
        if line:
            self._host.post(self._resume)


class Callback:
    """Has a function run on a loop when a launch ends; a ``Waiter``."""

    __slots__ = ("_function", "_host")

    def __init__(self, host: Host, function: Callable[[], object]) -> None:
        self._host = host
        self._function = function

    def wake(self) -> None:
        self._host.post(self._function)


class _Current(threading.local):
    """This thread's latest host."""

    host: AsyncioHost | None = None


_current = _Current()


def running_asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """The asyncio loop that runs on this thread, if any; does not import asyncio, which takes a while."""
    module = sys.modules.get("asyncio.events")
    return None if module is None else module._get_running_loop()


def in_event_loop() -> bool:
    """Whether the calling code runs on an event loop."""
    if running_asyncio_loop() is not None:
        return True
    trio = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_run()


def current_host() -> Host:
    """The host of the loop that runs on this thread. Raises ``RuntimeError`` where none runs."""
    loop = running_asyncio_loop()
    if loop is not None:
        host = _current.host
        if host is None or host.loop() is not loop:
            host = _current.host = AsyncioHost(loop)
        return host
    if in_event_loop():
        from ._trio import TrioHost

        return TrioHost()
    raise RuntimeError("await of an Array outside asyncio and trio; use block_until_ready() there")


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
    seen = None if launch.observation is None else Wait("await", launch.observation)
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
        if seen is not None:
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
