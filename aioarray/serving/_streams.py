"""``StreamBatcher``: continuous batching. Requests join and leave a running model between its steps.

Invariants, beside those of ``_service``:

- A request in a slot counts as running in the queue, as a batch of its own, until its slot is emptied.
- Slots change hands only between two steps: a request that ends during one keeps its slot until that step is over.
- The model is not advanced while no slot has a request.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel
import numpy as np

import aioarray as aio

from .._array import trees
from .._base.errors import DeadlineError, InvalidInputError, QueueFullError
from ._calls import WrongResultError
from ._cancellation import an_error_of
from ._estimates import Estimates
from ._inputs import Inputs
from ._queue import BatchQueue
from ._requests import Request
from ._service import Service, check_hashable, check_positive, name_of
from ._sizes import check_counts
from ._slots import Slots
from ._statistics import Recorder

if TYPE_CHECKING:
    from types import TracebackType

    from anyio.abc import TaskStatus

# All requests are in one group: any can be beside any.
GROUP: Final = "streams"

Function = Callable[[Slots], AsyncGenerator[Any, None]]


class Channel:
    """Between the model and a stream's consumer. Loop thread only, but for ``abandoned``."""

    __slots__ = ("abandoned", "arrived", "items", "limit", "request", "x")

    def __init__(self, x: Any, request: Request, limit: int) -> None:
        self.x: Any = x  # until it has joined
        self.request: Request = request
        self.items: deque[Any] = deque()
        self.limit: int = limit
        self.arrived: anyio.Event | None = None  # while a task waits
        self.abandoned: bool = False  # set by any thread, when the consumer's last reference goes

    def wake(self) -> None:
        """Resume the task that waits."""
        if self.arrived is not None:
            self.arrived.set()

    def put(self, item: Any) -> bool:
        """Add an item; False if there are too many already."""
        if len(self.items) >= self.limit:
            return False
        self.items.append(item)
        self.wake()
        return True


class Stream:
    """The items that a stream model yields for one request: ``async for item in stream``.

    Leaving ``async with stream``, ``aclose()``, and cancellation while waiting for an item give its slot free, as does
    dropping the last reference. One task at a time may wait for items.
    """

    def __init__(self, channel: Channel, withdraw: Callable[[Request], None]) -> None:
        self._channel = channel
        self._withdraw = withdraw

    def __del__(self) -> None:
        self._channel.abandoned = True

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        channel = self._channel
        while not channel.items:
            request = channel.request
            if request.done:
                error = request.take_error()
                if error is None:
                    raise StopAsyncIteration
                try:
                    raise error
                finally:
                    del error
            if channel.arrived is not None:
                raise RuntimeError("Stream: another task waits for the next item already")
            channel.arrived = anyio.Event()
            try:
                await channel.arrived.wait()
            except BaseException:
                self._close()
                raise
            finally:
                channel.arrived = None
        return channel.items.popleft()

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    async def aclose(self) -> None:
        """Want no more items."""
        self._close()

    def _close(self) -> None:
        self._channel.items.clear()
        self._withdraw(self._channel.request)


class StreamBatcher(Service):
    """Runs a model that works step by step for many requests at once, on asyncio or trio.

    ``fn`` is an async generator function of a ``Slots``. Before each step it looks who ``joined``, whose input it
    makes state of; a step is what it does until it yields, for all slots at once: a tree of arrays with a row for each
    slot, or None for a step without items. Each request gets its rows, in ``numpy`` arrays, until ``fn`` calls
    ``slots.finish(slot)``. ``fn`` is only advanced while there are requests. If it raises, all requests in slots get
    the error, and it is started anew for the next ones; ``slots.fail(slot, error)`` ends one alone.

    ``specs`` says what inputs are checked against, ``max_queue`` how many may wait for a slot, ``max_items`` how many
    items may wait for a consumer, which gets a ``QueueFullError`` then. ``timeout`` is for a whole stream,
    ``step_timeout`` for one step. The others are as those of ``Batcher``. In ``stats()`` batches are steps, rows are
    items, and what runs are streams.

    >>> import numpy as np
    >>> async def count(slots):
    ...     state = np.zeros(slots.size, int)
    ...     while True:
    ...         for slot, first in slots.joined:
    ...             state[slot] = first
    ...         for slot in np.flatnonzero(slots.active & (state >= 3)):
    ...             slots.finish(slot)
    ...         yield state.copy()
    ...         state += 1
    >>> async with aio.serving.StreamBatcher(count, slots=2) as batcher:
    ...     print([int(item) async for item in batcher(1)])
    [1, 2, 3]
    """

    def __init__(
        self,
        fn: Function,
        *,
        slots: int = 8,
        specs: Any = None,
        buckets: Mapping[str, Sequence[int]] | None = None,
        max_queue: int = 1024,
        max_items: int = 1024,
        timeout: float | None = None,
        step_timeout: float | None = None,
        priority_levels: int = 1,
        name: str | None = None,
    ) -> None:
        name = name or name_of(fn)
        if not (inspect.isasyncgenfunction(fn) or inspect.isasyncgenfunction(getattr(fn, "__call__", None))):  # noqa: B004
            raise TypeError(f"StreamBatcher: {name} is no async generator function")
        check_counts(
            name, {"slots": slots, "max_queue": max_queue, "max_items": max_items, "priority_levels": priority_levels}
        )
        check_positive(name, {"timeout": timeout, "step_timeout": step_timeout})
        self._function = fn
        self._inputs = Inputs(name, specs, buckets or {})
        self._max_items = max_items
        self._step_timeout = step_timeout
        # Streams differ in length, so that none is refused for how long others took.
        self._estimates = Estimates(lambda rows: rows, least=False)
        queue = BatchQueue(
            self._estimates,
            max_batch_size=1,
            max_delay=0.0,
            max_queue=max_queue,
            max_concurrent_batches=slots,
            priority_levels=priority_levels,
        )
        super().__init__(name, queue, Recorder(), timeout, priority_levels)
        self._slots = Slots(slots)
        self._work: anyio.Event | None = None  # set when there may be something for a free slot

    @property
    def ready(self) -> bool:
        """Whether it takes requests."""
        return self._open

    def __call__(self, x: Any, *, timeout: float | None = None, priority: int = 0, client: Hashable = None) -> Stream:
        """The stream of items for ``x``, which waits for a slot, or has one, from now on.

        Raises, at once, ``InvalidInputError`` for what the model does not take, ``QueueFullError`` with
        ``retry_after``, ``DeadlineError``, ``NotServingError``; and, where items are awaited, ``DeadlineError`` and
        what the model raised. Arrays in ``x`` have to have been awaited.
        """
        self._check_usable()
        self._check_priority(priority)
        try:
            if self._inputs.specs is not None:
                checked = self._inputs.check(x, None, False)
                x = trees.unflatten(checked.layout.structure, checked.leaves)
        except InvalidInputError:
            self._recorder.invalid += 1
            raise
        check_hashable(self.name, client=client)
        request = Request(GROUP, priority=priority, client=client, deadline=self._deadline(timeout))
        channel = Channel(x, request, self._max_items)
        request.wake = channel.wake
        request.channel = channel
        self._admit(request)
        return Stream(channel, self._withdraw)

    # The clock

    async def _run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        assert self._group is not None
        self._work = anyio.Event()
        self._group.start_soon(self._drive)
        await super()._run(task_status=task_status)

    def _launch(self, now: float) -> None:
        # The task that drives the model takes requests itself, between two steps.
        if self._queue.requests and self._queue.may_take:
            assert self._work is not None
            self._work.set()

    def _wake_at(self, now: float) -> float:
        return self._queue.next_deadline()

    # The model

    async def _drive(self) -> None:
        """Run the model; when it fails, for those who come next again."""
        while True:
            self._slots = Slots(self._slots.size)
            try:
                with an_error_of(self.name):
                    await self._run_model()
            except Exception as error:
                self._end_all(error)
            except BaseException:
                self._end_all(self._stopped())
                raise

    async def _run_model(self) -> None:
        slots = self._slots
        await self._fill()
        model = self._function(slots)
        try:
            while True:
                start = self._clock()
                with anyio.move_on_after(self._step_timeout) as scope:
                    result = await anext(model, WrongResultError)
                    leaves, structure = await self._values(result)
                if scope.cancelled_caught:
                    raise DeadlineError(f"{self.name}: a step took longer than step_timeout={self._step_timeout}")
                self._deal(leaves, structure, self._clock() - start)
                # The model need not have waited for anything.
                await anyio.lowlevel.checkpoint()
                await self._fill()
        finally:
            with anyio.CancelScope(shield=True):
                await model.aclose()

    async def _values(self, result: Any) -> tuple[list[Any], Any]:
        if result is WrongResultError:
            raise WrongResultError(f"{self.name}: the generator ended; it has to go on while there are requests")
        leaves, structure = trees.flatten(result)
        values = [await leaf.to_host() if isinstance(leaf, aio.Array) else leaf for leaf in leaves]
        size = self._slots.size
        for value in values:
            if not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) != size:
                what = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
                raise WrongResultError(f"{self.name}: the generator yielded {what}; it needs a row for each of {size}")
        return values, structure

    def _deal(self, leaves: list[Any], structure: Any, seconds: float) -> None:
        """Give the items of a step to their streams, and end those that it ended."""
        slots = self._slots
        finished, failed = slots._take_ends()
        for slot, error in failed:
            request = slots._channels[slot][1].request
            if not request.done:
                self._fail(request, error)
        dealt = 0
        for slot, (_, channel) in slots._channels.items():
            if leaves and not channel.request.done:
                dealt += 1
                if not channel.put(trees.unflatten(structure, [leaf[slot] for leaf in leaves])):
                    full = f"{self.name}: {self._max_items} items wait to be read, which are max_items"
                    self._fail(channel.request, QueueFullError(full))
        for slot in finished:
            request = slots._channels[slot][1].request
            if not request.done:
                self._recorder.completed += 1
                request.finish()
        size = slots.size
        self._recorder.batch(str(size), dealt, size, dealt, size - dealt, seconds)

    async def _fill(self) -> None:
        """Empty the slots of requests that have ended, fill them with others; wait while there are none."""
        slots, queue = self._slots, self._queue
        slots._begin_changes()
        while True:
            now = self._clock()
            for slot, (_, channel) in list(slots._channels.items()):
                if channel.abandoned:
                    self._withdraw(channel.request)
                if channel.request.done:
                    self._empty(slot, now)
            while (batch := queue.take(now)) is not None:
                request = batch.parts[0].request
                channel = request.channel
                if channel.abandoned:
                    self._withdraw(request)
                    queue.finished(batch)
                    continue
                self._recorder.queue_seconds.add(now - request.arrived)
                slots._join(batch, channel)
            if queue.draining:
                self._look()  # to see whether that was all
            if slots._channels:
                return
            self._work = anyio.Event()
            await self._work.wait()

    def _empty(self, slot: int, now: float) -> None:
        batch = self._slots._leave(slot)
        self._queue.finished(batch)
        self._estimates.add(GROUP, 1, now - batch.started, now, first_counts=True)

    def _end_all(self, error: BaseException) -> None:
        """End every request that is in a slot."""
        now = self._clock()
        for slot, (_, channel) in list(self._slots._channels.items()):
            if not channel.request.done:
                self._fail(channel.request, error)
            self._empty(slot, now)
        self._look()
