"""``Batcher``: requests of many tasks in few calls of a model.

The rules of what waits and what goes next are in ``_queue``, life and time in ``_service``; here the model is called.
A request ends by the batch that computes its last rows, or by the error of a batch that it is alone in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio
import numpy as np

import aioarray as aio

from ..._base.errors import (
    CompileBudgetError,
    CompileError,
    DeadlineError,
    DeletedArrayError,
    ForkedProcessError,
    IncompatibleVersionError,
    InvalidInputError,
    NonFiniteError,
)
from ..._xla import trees
from . import spans
from .estimates import Estimates
from .function import BatchFunction, WrongResultError, finite_rows
from .inputs import BATCH, BatchSizes, Inputs, Layout
from .outputs import Outputs, joined
from .queue import BatchQueue, QueueLimits
from .requests import Batch, Part, Request
from .service import Service
from .settings import check_counts, check_hashable, check_positive, name_of
from .warmup import warm_up

# Errors that are no input's fault: the batch is not tried again in halves.
NOT_OF_THE_INPUT: Final = (
    CompileBudgetError,
    CompileError,
    DeletedArrayError,
    ForkedProcessError,
    IncompatibleVersionError,
    WrongResultError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a batcher was told about its requests and batches, beside the limits of its queue."""

    key: Callable[[Any], Hashable] | None
    cost: Callable[[Any], float] | None
    batch_timeout: float | None
    check_finite: bool


class Batcher(Service):
    """Calls ``fn`` on batches of the requests that many tasks make, on asyncio or trio.

    ``fn`` takes a tree of Arrays with a batch axis first and gives such a tree, as a plain or jitted function or a
    coroutine function; it must not block (``lambda x: aio.run_sync(f, x)`` makes that of one that does). A request is
    one example, without batch axis, or with ``batched=True`` several, which may be split over batches and are joined
    again. Its result is its rows of the result, in ``numpy`` arrays: views of one copy of the batch's result, so that
    nothing is launched for a single request. Inputs must not be changed until their result is there.

    A batch leaves at once when none is running; it grows while one is, and leaves ``max_delay`` seconds after the
    oldest request in it, as soon as fewer than ``max_concurrent_batches`` run. With ``eager=False`` it waits that
    long, or until it is full, in any case. A batch has ``max_batch_size`` rows at most, and rows of which
    ``cost(x)`` (of a whole request) adds up to ``max_batch_cost`` at most.

    Rows are padded to the next of ``buckets``: batch sizes, by default powers of two, none for no padding; or
    ``{"batch": sizes, name: sizes}`` with names of lengths in ``specs``. These, a tree of ``TensorSpec`` or
    ``aio.ShapeDtype`` of one example, are what inputs are checked against before they join. Without them anything is
    taken, and what differs in shapes or dtypes is batched apart; so is what differs in ``key(x)``, or ``key=`` at the
    call. ``arguments`` names keyword arguments of ``fn`` to fill: ``{"mask": "tokens"}`` a boolean mask of what is no
    padding along that length (or along ``"batch"``), ``{"n": "len(tokens)"}`` the lengths themselves, ``{"k": "key"}``
    the batch's key. ``outputs``, specs of the result for one example, has results cut back along named lengths.

    Requests of a lower ``priority`` number go first, those of one number in turns of their ``client``, and of its
    requests. Rows of any but the first priority go in batches that take ``low_priority_seconds`` at most, by the times
    measured: an urgent request waits for no longer one. At most ``max_queue`` rows wait, and none that would wait
    longer than ``max_wait`` seconds.
    ``timeout`` is that of calls that give none, ``batch_timeout`` that of a call of ``fn``. An error of a batch is
    traced to its request by running its halves. With ``check_finite`` NaNs and infinities in a result are errors.

    >>> specs = {"x": aio.serving.TensorSpec((3,), "float32")}
    >>> batcher = aio.serving.Batcher(aio.jit(lambda tree: tree["x"] * 2), specs=specs, max_batch_size=8)
    >>> async with batcher:
    ...     print(await batcher({"x": [1, 2, 3]}))
    [2. 4. 6.]
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        max_batch_size: int | None = None,
        max_delay: float = 0.005,
        buckets: Sequence[int] | Mapping[str, Sequence[int]] | None = None,
        specs: Any = None,
        outputs: Any = None,
        arguments: Mapping[str, str] | None = None,
        max_queue: int = 1024,
        max_wait: float | None = None,
        max_concurrent_batches: int = 1,
        timeout: float | None = None,
        batch_timeout: float | None = None,
        priority_levels: int = 1,
        low_priority_seconds: float | None = 0.02,
        key: Callable[[Any], Hashable] | None = None,
        cost: Callable[[Any], float] | None = None,
        max_batch_cost: float | None = None,
        check_finite: bool = False,
        eager: bool = True,
        name: str | None = None,
    ) -> None:
        name = name or name_of(fn)
        if not callable(fn):
            raise TypeError(f"Batcher: fn is a {type(fn).__name__}; it has to be callable")
        if (cost is None) != (max_batch_cost is None):
            raise ValueError(f"{name}: cost and max_batch_cost go together")
        if not max_delay >= 0:
            raise ValueError(f"{name}: max_delay is {max_delay}; it must be at least 0")
        check_counts(
            name,
            max_batch_size=1 if max_batch_size is None else max_batch_size,
            max_queue=max_queue,
            max_concurrent_batches=max_concurrent_batches,
            priority_levels=priority_levels,
        )
        check_positive(
            name,
            max_wait=max_wait,
            timeout=timeout,
            batch_timeout=batch_timeout,
            max_batch_cost=max_batch_cost,
            low_priority_seconds=low_priority_seconds,
        )
        named: Mapping[str, Sequence[int]]
        named = (buckets or {}) if buckets is None or isinstance(buckets, Mapping) else {BATCH: buckets}
        self._sizes = BatchSizes(name, named.get(BATCH), max_batch_size)
        self._inputs = Inputs(name, specs, named)
        self._outputs = Outputs(name, outputs, self._inputs.names)
        self._function = BatchFunction(name, fn, self._inputs, self._inputs.arguments(arguments or {}))
        self._settings = Settings(key=key, cost=cost, batch_timeout=batch_timeout, check_finite=check_finite)
        self._estimates = Estimates(self._sizes.padded)
        limits = QueueLimits(
            max_batch_size=self._sizes.largest,
            max_batch_cost=math.inf if max_batch_cost is None else max_batch_cost,
            max_delay=max_delay,
            max_queue=max_queue,
            max_wait=math.inf if max_wait is None else max_wait,
            max_concurrent_batches=max_concurrent_batches,
            priority_levels=priority_levels,
            low_priority_seconds=math.inf if low_priority_seconds is None else low_priority_seconds,
            eager=eager,
        )
        super().__init__(name, BatchQueue(self._estimates, limits), timeout)
        self._warm = False

    @property
    def ready(self) -> bool:
        """Whether it takes requests and, if it has specs, is warm."""
        return self._open and (self._warm or self._inputs.specs is None)

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The numbers of rows that batches are padded to; none where they are not padded."""
        return self._sizes.sizes

    @property
    def call_seconds(self) -> float:
        """How long the oldest call of the function has been running, also one that warms it up; 0 if there is none."""
        return self._function.running_seconds

    async def warmup(
        self,
        example: Any = None,
        *,
        keys: Sequence[Hashable] = (None,),
        freeze: bool = True,
        progress: Callable[[int, int, str], object] | None = None,
    ) -> None:
        """Run the function for every bucket of lengths and batches, several at a time, which compiles it; measure it.

        The inputs are padding, or rows of ``example``, which makes those of its shape alone. With ``freeze`` the
        function may compile nothing later on: ``CompileBudgetError`` for the batch that would need it. ``progress`` is
        called with how many programs are ready, how many there are, and the name of the latest. Raises what the
        function raises; ``ValueError`` where there are neither specs nor an example.

        >>> x = aio.serving.TensorSpec((3,), "float32")
        >>> async with aio.serving.Batcher(aio.jit(lambda x: x + 1), specs=x, buckets=(1, 4)) as batcher:
        ...     await batcher.warmup(progress=lambda done, total, name: print(f"{done} of {total}"))
        1 of 2
        2 of 2
        """
        self._check_usable()
        samples: list[tuple[Hashable, Layout, Request | None]] = []
        if example is None:
            samples = [(key, layout, None) for key in keys for layout in self._inputs.layouts()]
        else:
            example = await aio.to_host(example)
            checked = self._inputs.check(example, None, False)
            sample = Request(None, leaves=checked.leaves, lengths=checked.lengths)
            samples = [(key, checked.layout, sample) for key in keys]
        frozen, self._function.frozen = self._function.frozen, False
        try:
            sizes = self._sizes.sizes or (self._sizes.largest,)
            work = [(key, layout, sample, size) for key, layout, sample in samples for size in sizes]
            await warm_up(self._function, self._estimates, self._clock, work, progress)
            frozen = freeze
        finally:
            self._function.frozen = frozen
        self._warm = True

    async def try_out(self, example: Any) -> Any:
        """The function's result for ``example``, whatever it is: without queue, checks and statistics."""
        checked = self._inputs.check(example, None, False)
        part = Part(Request(None, leaves=checked.leaves, lengths=checked.lengths), 0, 1)
        leaves, structure = await self._function.call(None, checked.layout, [part], self._sizes.padded(1))
        self._outputs.give(part, 0, leaves, structure)
        return joined(part.request)

    def cut_results(self, specs: Any) -> None:
        """Cut results of later batches back along the named lengths in ``specs``, as the option ``outputs`` does."""
        self._outputs = Outputs(self.name, specs, self._inputs.names)

    # A request

    async def __call__(
        self,
        x: Any,
        *,
        timeout: float | None = None,
        priority: int = 0,
        client: Hashable = None,
        key: Hashable = None,
        batched: bool = False,
    ) -> Any:
        """The rows of the result for ``x``: one example, or with ``batched`` several along a first axis.

        ``timeout`` is in seconds; ``client`` is whoever shall not be kept waiting by others. Raises
        ``InvalidInputError`` for what the model does not take, ``QueueFullError`` with ``retry_after``,
        ``DeadlineError``, ``NotServingError``, ``NonFiniteError``, and what the function raised for this input.
        """
        self._check_usable()
        self._check_priority(priority)
        deadline = self._deadline(timeout)
        if type(x) is not np.ndarray and any(isinstance(leaf, aio.Array) for leaf in trees.flatten(x)[0]):
            x = await self._values(x, deadline)
            self._check_usable()
        if key is not None or client is not None:
            check_hashable(self.name, key=key, client=client)
        request = self._checked(x, key, batched)
        request.priority = priority
        request.client = client
        request.deadline = deadline
        request.span = spans.current()
        event = self._new_event()
        request.wake = event.set
        self._admit(request)
        try:
            await event.wait()
        finally:
            self._withdraw(request)
        error = request.take_error()
        if error is None:
            return joined(request)
        try:
            raise error
        finally:
            del error, request  # what the traceback would hold in a circle

    async def _values(self, x: Any, deadline: float) -> Any:
        with anyio.move_on_after(None if deadline == math.inf else deadline - self._clock()):
            return await aio.to_host(x)
        self._recorder.hopeless += 1
        raise DeadlineError(f"{self.name}: the input was not there before the deadline of the request")

    def _checked(self, x: Any, key: Hashable, batched: bool) -> Request:
        """The request for ``x``, if the model takes it."""
        try:
            checked = self._inputs.check(x, key, batched)
            if key is None and self._settings.key is not None:
                key = self._asked("key", self._settings.key, x)
            cost = 1.0 if self._settings.cost is None else self._row_cost(self._settings.cost, x, checked.rows)
            if checked.rows > self._queue.limits.max_queue:
                raise InvalidInputError(
                    f"{self.name}: {checked.rows} rows are more than max_queue={self._queue.limits.max_queue}"
                )
        except InvalidInputError:
            self._recorder.invalid += 1
            raise
        return Request(
            (key, checked.layout),
            checked.rows,
            single=not batched,
            leaves=checked.leaves,
            lengths=checked.lengths,
            cost=cost,
        )

    def _row_cost(self, function: Callable[[Any], float], x: Any, rows: int) -> float:
        cost = self._asked("cost", function, x)
        try:
            cost = float(cost) / max(rows, 1)
        except (TypeError, ValueError):
            cost = math.nan
        if not 0 <= cost < math.inf:
            raise InvalidInputError(f"{self.name}: cost is {cost} for this input; it has to be a number of 0 or more")
        most = self._queue.limits.max_batch_cost
        if cost > most:
            raise InvalidInputError(f"{self.name}: a row costs {cost:g}, which is more than max_batch_cost={most:g}")
        return cost

    # Batches

    def _launch(self, now: float) -> None:
        assert self._group is not None
        while (batch := self._queue.take(now)) is not None:
            self._group.start_soon(self._run_batch, batch)

    def _wake_at(self, now: float) -> float:
        return self._queue.wake_at(now)

    async def _run_batch(self, batch: Batch) -> None:
        for part in batch.parts:
            if part.start == 0:
                self._recorder.queue_seconds.add(batch.started - part.request.arrived)
        urgent = min(part.request.priority for part in batch.parts) == 0
        try:
            with (
                spans.of_batch(self.name, batch),
                aio.priority("normal" if urgent else "background"),
                anyio.move_on_after(self._settings.batch_timeout) as scope,
            ):
                await self._compute(batch.group, batch.parts)
            if scope.cancelled_caught:
                late = DeadlineError(
                    f"{self.name}: the function took longer than batch_timeout={self._settings.batch_timeout}"
                )
                self._fail_parts(batch.parts, late)
        except BaseException:
            # The batcher is being stopped, or the function was cancelled from within.
            self._fail_parts(batch.parts, self._stopped())
            raise
        finally:
            self._queue.finished(batch)
            self._wake_clock()

    async def _compute(self, group: Any, parts: Sequence[Part]) -> None:
        """Run the function for those parts whose requests have not ended, and give them their results."""
        parts = [part for part in parts if not (part.answered or part.request.done)]
        if not parts:
            return
        key, layout = group
        rows = sum(part.rows for part in parts)
        size = self._sizes.padded(rows)
        elements = self._inputs.elements(layout, parts, size)
        start = self._clock()
        try:
            leaves, structure = await self._function.call(key, layout, parts, size)
            now = self._clock()
            self._estimates.add(group, rows, now - start, now)
            self._recorder.batch(layout.bucket(size), rows, size, *elements, now - start)
            finite = await finite_rows(leaves, rows) if self._settings.check_finite else None
            self._answer(parts, leaves, structure, finite)
            return
        except Exception as error:
            if len(parts) == 1 or isinstance(error, NOT_OF_THE_INPUT):
                self._fail_parts(parts, error)
                return
        self._recorder.bisections += 1
        middle = len(parts) // 2
        await self._compute(group, parts[:middle])
        await self._compute(group, parts[middle:])

    def _answer(self, parts: Sequence[Part], leaves: list[Any], structure: Any, finite: Any) -> None:
        """Give the requests their rows; those with a row that is not in ``finite`` an error."""
        row = 0
        for part in parts:
            request = part.request
            if not request.done:
                if finite is not None and not finite[row : row + part.rows].all():
                    self._fail(request, NonFiniteError(f"{self.name}: the result has a NaN or an infinity"))
                elif self._outputs.give(part, row, leaves, structure):
                    self._finish(request)
            row += part.rows

    def _fail_parts(self, parts: Sequence[Part], error: BaseException) -> None:
        """End the requests of those parts that have no result."""
        for part in parts:
            if not (part.answered or part.request.done):
                self._fail(part.request, error)
