"""What ``Batcher`` and ``StreamBatcher`` share: being started and stopped, taking requests in, and keeping time.

Invariants:

- Everything is done on one loop's thread, but for copies of large arrays, which touch no state.
- A request that was accepted ends exactly once: with its result, an error, its deadline, its caller's cancellation, or
  the end of the service. Whoever ends it does so at once and wakes its task; whoever comes later finds it ``done`` and
  leaves it alone.
- While there is something that time alone brings about, ``_wake`` is set or the clock task has a time to wake up at.
"""

from __future__ import annotations

import asyncio
import math
import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from ..._base.errors import DeadlineError, InvalidInputError, NotServingError, QueueFullError
from .queue import TooMuchWorkError
from .statistics import BatcherStats, Recorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from anyio.abc import TaskGroup, TaskStatus

    from .queue import BatchQueue, QueueLimits
    from .requests import Request

Self = TypeVar("Self", bound="Service")


class Service(ABC):
    """Runs inside ``async with``, on the loop that entered it; again and again, not twice at once.

    All fields that change are that loop's.
    """

    def __init__(self, name: str, queue: BatchQueue, timeout: float | None) -> None:
        self.name = name
        self._queue = queue
        self._recorder = Recorder()
        self._timeout = math.inf if timeout is None else timeout
        self._loop: object = None  # from the latest `async with` on
        self._clock: Callable[[], float] = lambda: 0.0
        # The loop's own events: one for each request, where anyio's would be one more layer.
        self._new_event: Callable[[], Any] = anyio.Event
        self._group: TaskGroup | None = None
        self._wake: anyio.Event | None = None  # has the clock task look again
        self._idle: anyio.Event | None = None  # all requests have ended
        self._next_wake = math.inf  # when the clock task will look again by itself
        self._open = False  # takes requests

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    # Life

    async def __aenter__(self: Self) -> Self:
        if self._group is not None:
            raise NotServingError(f"{self.name}: it is running; it can be started again when it has stopped")
        self._loop = running_loop()
        if isinstance(self._loop, asyncio.AbstractEventLoop):
            self._clock = self._loop.time
            self._new_event = asyncio.Event
        else:
            trio = sys.modules["trio"]
            self._clock, self._new_event = trio.current_time, trio.Event
        self._wake, self._idle = anyio.Event(), anyio.Event()
        self._queue.draining = False
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        try:
            await self._group.start(self._run)
        except BaseException:  # cancelled before it was started
            self._group.cancel_scope.cancel()
            await self._group.__aexit__(None, None, None)
            self._group = None
            raise
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        group = self._group
        assert group is not None
        try:
            if group.cancel_scope.cancel_called:  # a task of ours has crashed, and its error comes from here
                return await group.__aexit__(kind, error, traceback)
            try:
                if kind is None:
                    await self.drain()
            finally:
                self._close()
                group.cancel_scope.cancel()
                # Without the error of the body, which would come back in a group.
                await group.__aexit__(None, None, None)
            return None
        finally:
            # Every request has ended now, and no clock is there to tell those who wait for that.
            assert self._idle is not None
            self._idle.set()
            self._group = None

    async def drain(self) -> None:
        """Take no more requests until it is started again, and wait until all those accepted are answered."""
        self._open = False
        self._queue.draining = True
        self._wake_clock()
        while self._recorder.unanswered:
            assert self._idle is not None
            await self._idle.wait()

    def _close(self) -> None:
        self._open = False
        for request in [*self._queue.take_all(), *self._queue.take_overdue()]:
            self._fail(request, self._stopped())

    def _stopped(self) -> NotServingError:
        return NotServingError(f"{self.name}: it was stopped before the request was answered")

    # Time

    async def _run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """The clock: lets deadlines pass and batches leave when it is time."""
        queue = self._queue
        task_status.started()
        try:
            while True:
                self._wake = anyio.Event()
                now = self._clock()
                for request in queue.expire(now):
                    self._fail(request, self._deadline_error(request, now))
                self._launch(now)
                for request in queue.take_overdue():
                    self._fail(request, self._deadline_error(request, now))
                if not self._recorder.unanswered:
                    assert self._idle is not None
                    self._idle.set()
                    self._idle = anyio.Event()
                self._next_wake = self._wake_at(now)
                with anyio.move_on_after(None if self._next_wake == math.inf else max(0.0, self._next_wake - now)):
                    await self._wake.wait()
        finally:
            # Without a clock nothing is ever done: also where a task of ours has crashed, and the body of the `async
            # with` has not got to its end yet.
            self._close()

    def _wake_clock(self) -> None:
        """Have the clock task see what is to be done."""
        if self._wake is not None:
            self._wake.set()

    @abstractmethod
    def _launch(self, now: float) -> None:
        """Start what can be started."""

    @abstractmethod
    def _wake_at(self, now: float) -> float:
        """When the clock has to look again."""

    # Requests

    def _check_usable(self) -> None:
        if not self._open:
            state = "was not started; use `async with`" if self._loop is None else "takes no more requests"
            raise NotServingError(f"{self.name}: it {state}")
        if running_loop() is not self._loop:
            raise NotServingError(
                f"{self.name}: it runs on another event loop; each loop needs a {type(self).__name__} of its own"
            )

    def _deadline(self, timeout: float | None) -> float:
        if timeout is None:
            return self._clock() + self._timeout
        try:
            deadline = self._clock() + timeout
        except TypeError:
            deadline = math.nan
        if deadline != deadline:
            raise ValueError(f"{self.name}: timeout is {timeout!r}; it has to be a number of seconds")
        return deadline

    def _check_priority(self, priority: Any) -> None:
        levels = self._queue.limits.priority_levels
        if not isinstance(priority, int) or not 0 <= priority < levels:
            raise ValueError(f"{self.name}: priority is {priority!r}; there are levels 0 to {levels - 1}")

    def check_room(self) -> None:
        """``QueueFullError``, which counts as a request turned away, if there is room for none, whatever is in it."""
        try:
            self._queue.check_any(self._clock())
        except QueueFullError as error:
            raise self._rejected(error) from None

    def _rejected(self, error: QueueFullError) -> QueueFullError:
        self._recorder.rejected += 1
        return QueueFullError(f"{self.name}: {error}", retry_after=error.retry_after)

    def _admit(self, request: Request) -> None:
        """Take ``request`` in, or raise why not."""
        try:
            self._queue.admit(request, self._clock())
        except QueueFullError as error:
            raise self._rejected(error) from None
        except TooMuchWorkError as error:
            self._recorder.invalid += 1
            raise TooMuchWorkError(f"{self.name}: {error}") from None
        except DeadlineError as error:
            self._recorder.hopeless += 1
            raise DeadlineError(f"{self.name}: {error}") from None
        self._recorder.accepted += 1
        if self._queue.may_take or request.deadline < self._next_wake:
            self._wake_clock()

    def _withdraw(self, request: Request) -> None:
        """End a request that nobody waits for any more, if it has not ended."""
        if not request.done:
            self._recorder.cancelled += 1
            self._queue.remove(request)
            request.abandon()
            self._wake_clock()

    def _finish(self, request: Request) -> None:
        """End a request that has not ended, with the results that it was given."""
        self._recorder.end(self._clock() - request.arrived)
        request.finish()

    def _fail(self, request: Request, error: BaseException) -> None:
        """End a request that has not ended, with an error."""
        self._queue.remove(request)
        self._recorder.end(self._clock() - request.arrived, error)
        request.fail(error)

    def _deadline_error(self, request: Request, now: float) -> DeadlineError:
        waited = now - request.arrived
        where = "in the queue" if math.isnan(request.started) else "for its result"
        return DeadlineError(f"{self.name}: the request waited {waited:.3g} s {where}, until its deadline")

    def _asked(self, what: str, function: Callable[[Any], Any], x: Any) -> Any:
        """What the user's function says about an input."""
        try:
            value = function(x)
            hash(value)  # one that raises would do so in the queue
        except Exception as error:
            raise InvalidInputError(f"{self.name}: {what} raised {type(error).__name__} for this input") from error
        return value

    # Numbers

    @property
    def limits(self) -> QueueLimits:
        """What its queue and its batches keep to."""
        return self._queue.limits

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Whether it should be sent requests."""

    def stats(self) -> BatcherStats:
        """What it has done and what it is doing, in plain numbers."""
        queue = self._queue
        started = min((batch.started for batch in queue.running), default=None)
        return BatcherStats(
            name=self.name,
            ready=self.ready,
            queued=queue.requests,
            queued_rows=queue.rows,
            running=len(queue.running),
            running_seconds=0.0 if started is None else self._clock() - started,
            **self._recorder.snapshot(),
        )


def running_loop() -> object:
    """The event loop that runs here: asyncio's, or the token of trio's. ``RuntimeError`` where there is none."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return trio.lowlevel.current_trio_token()
    loop = asyncio._get_running_loop()
    if loop is None:
        raise RuntimeError("no event loop runs here; use a batcher in asyncio or trio")
    return loop
