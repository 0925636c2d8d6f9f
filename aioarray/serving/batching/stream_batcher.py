"""``StreamBatcher``: continuous batching. Requests join and leave a running model between its steps.

Invariants, beside those of ``_service``:

- A request in a slot counts as running in the queue, as a batch of its own, until its slot is emptied.
- Slots change hands only between two steps: a request that ends during one keeps its slot until that step is over.
- The model is not advanced while no slot has a request.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel
import numpy as np

import aioarray as aio

from ..._base.errors import DeadlineError, InvalidInputError, QueueFullError
from ..._xla import trees
from .cancellation import an_error_of
from .estimates import Estimates
from .function import WrongResultError
from .inputs import Inputs
from .queue import BatchQueue, QueueLimits
from .requests import Request
from .service import Service
from .settings import check_counts, check_hashable, check_positive, name_of
from .slots import Slots, SlotTable
from .streams import Channel, Stream

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

# All requests are in one group: any can be beside any.
GROUP: Final = "streams"

Function = Callable[[Slots], AsyncGenerator[Any, None]]


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
        check_counts(name, slots=slots, max_queue=max_queue, max_items=max_items, priority_levels=priority_levels)
        check_positive(name, timeout=timeout, step_timeout=step_timeout)
        self._function = fn
        self._inputs = Inputs(name, specs, buckets or {})
        self._max_items = max_items
        self._step_timeout = step_timeout
        # Streams differ in length, so that none is refused for how long others took.
        self._estimates = Estimates(lambda rows: rows, least=False)
        limits = QueueLimits(
            max_batch_size=1,
            max_delay=0.0,
            max_queue=max_queue,
            max_concurrent_batches=slots,
            priority_levels=priority_levels,
        )
        super().__init__(name, BatchQueue(self._estimates, limits), timeout)
        self._table = SlotTable(slots)
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
                x = checked.layout.structure.unflatten(checked.leaves)
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
            self._table = SlotTable(self._table.size)
            try:
                with an_error_of(self.name):
                    await self._run_model()
            except Exception as error:
                self._end_all(error)
            except BaseException:
                self._end_all(self._stopped())
                raise

    async def _run_model(self) -> None:
        await self._fill()
        model = self._function(Slots(self._table.size, self._table))
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
        size = self._table.size
        for value in values:
            if not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) != size:
                what = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
                raise WrongResultError(f"{self.name}: the generator yielded {what}; it needs a row for each of {size}")
        return values, structure

    def _deal(self, leaves: list[Any], structure: Any, seconds: float) -> None:
        """Give the items of a step to their streams, and end those that it ended."""
        table = self._table
        ends = table.take_ends()
        for slot, error in ends:
            request = table.occupants[slot][1].request
            if error is not None and not request.done:
                self._fail(request, error)
        dealt = 0
        for slot, (_, channel) in table.occupants.items():
            if leaves and not channel.request.done:
                dealt += 1
                if not channel.put(structure.unflatten([leaf[slot] for leaf in leaves])):
                    full = f"{self.name}: {self._max_items} items wait to be read, which are max_items"
                    self._fail(channel.request, QueueFullError(full))
        for slot, _ in ends:
            request = table.occupants[slot][1].request
            if not request.done:
                self._finish(request)
        size = table.size
        self._recorder.batch(str(size), dealt, size, dealt, size - dealt, seconds)

    async def _fill(self) -> None:
        """Empty the slots of requests that have ended, fill them with others; wait while there are none."""
        table, queue = self._table, self._queue
        table.begin_step()
        while True:
            now = self._clock()
            for slot, (_, channel) in list(table.occupants.items()):
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
                table.join(batch, channel)
            if queue.draining:
                self._wake_clock()  # to see whether that was all
            if table.occupants:
                return
            self._work = anyio.Event()
            await self._work.wait()

    def _empty(self, slot: int, now: float) -> None:
        batch = self._table.leave(slot)
        self._queue.finished(batch)
        self._estimates.add(GROUP, 1, now - batch.started, now, first_counts=True)

    def _end_all(self, error: BaseException) -> None:
        """End every request that is in a slot."""
        now = self._clock()
        for slot, (_, channel) in list(self._table.occupants.items()):
            if not channel.request.done:
                self._fail(channel.request, error)
            self._empty(slot, now)
        self._wake_clock()
