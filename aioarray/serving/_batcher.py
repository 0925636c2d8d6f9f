"""``Batcher``: requests of many tasks in few calls of a model.

The rules of what waits and what goes next are in ``_queue``; this is the shell around them: tasks wait here, the model
is called here.

Invariants:

- Everything is done on one loop's thread, but for copies of large arrays, which touch no state.
- A request that was accepted ends exactly once: by the batch that computes its last rows, by the error of a batch, by
  its deadline, by its caller's cancellation, or by the batcher's end. Whoever ends it does so at once and wakes its
  task; whoever comes later finds it ``done`` and leaves it alone.
- While requests wait and another batch may run, ``_wake`` is set or the clock task has a time to wake up at.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread

import aioarray as aio

from .. import _trees
from .._errors import (
    CompileBudgetError,
    CompileError,
    DeadlineError,
    DeletedArrayError,
    ForkedProcessError,
    IncompatibleVersionError,
    InvalidInputError,
    NonFiniteError,
    NotServingError,
    QueueFullError,
)
from ._estimates import Estimates
from ._inputs import BATCH, Inputs, Layout
from ._outputs import check_rows, finite_rows, joined, take_part
from ._queue import BatchQueue
from ._requests import Batch, Part, Request
from ._sizes import BatchSizes
from ._statistics import BatcherStats, Recorder

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from anyio.abc import TaskGroup, TaskStatus

# Copying less than this takes less time than asking another thread to.
COPY_HERE_BYTES: Final = 1 << 18

# Errors that are no input's fault: the batch is not tried again in halves.
NOT_OF_THE_INPUT: Final = (
    CompileBudgetError,
    CompileError,
    DeletedArrayError,
    ForkedProcessError,
    IncompatibleVersionError,
)


class Batcher:
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
    the batch's key.

    Requests of a lower ``priority`` number go first, those of one number in turns of their ``client``. At most
    ``max_queue`` rows wait, and none that would wait longer than ``max_wait`` seconds by the batch times measured.
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
        arguments: Mapping[str, str] | None = None,
        max_queue: int = 1024,
        max_wait: float | None = None,
        max_concurrent_batches: int = 1,
        timeout: float | None = None,
        batch_timeout: float | None = None,
        priority_levels: int = 1,
        key: Callable[[Any], Hashable] | None = None,
        cost: Callable[[Any], float] | None = None,
        max_batch_cost: float | None = None,
        check_finite: bool = False,
        eager: bool = True,
        name: str | None = None,
    ) -> None:
        self.name = name or getattr(fn, "name", None) or getattr(fn, "__name__", None) or type(fn).__name__
        if not callable(fn):
            raise TypeError(f"Batcher: fn is a {type(fn).__name__}; it has to be callable")
        if (cost is None) != (max_batch_cost is None):
            raise ValueError(f"{self.name}: cost and max_batch_cost go together")
        for option, value, least in (
            ("max_queue", max_queue, 1),
            ("max_concurrent_batches", max_concurrent_batches, 1),
            ("priority_levels", priority_levels, 1),
            ("max_delay", max_delay, 0),
        ):
            if not value >= least:
                raise ValueError(f"{self.name}: {option} is {value}; it must be at least {least}")
        for option, positive in (
            ("max_wait", max_wait),
            ("timeout", timeout),
            ("batch_timeout", batch_timeout),
            ("max_batch_cost", max_batch_cost),
        ):
            if positive is not None and not positive > 0:
                raise ValueError(f"{self.name}: {option} is {positive}; it must be above 0")
        named: Mapping[str, Sequence[int]]
        if buckets is None or isinstance(buckets, Mapping):
            named = buckets or {}
        else:
            named = {BATCH: buckets}
        self._fn = fn
        self._sizes = BatchSizes(self.name, named.get(BATCH), max_batch_size)
        self._inputs = Inputs(self.name, specs, named)
        self._arguments = self._inputs.arguments(arguments or {})
        self._max_queue = max_queue
        self._timeout = math.inf if timeout is None else timeout
        self._batch_timeout = batch_timeout
        self._levels = priority_levels
        self._key = key
        self._cost = cost
        self._max_batch_cost = math.inf if max_batch_cost is None else max_batch_cost
        self._check_finite = check_finite
        self._estimates = Estimates(self._sizes.padded)
        self._queue = BatchQueue(
            self._estimates,
            max_batch_size=self._sizes.largest,
            max_batch_cost=self._max_batch_cost,
            max_delay=max_delay,
            max_queue=max_queue,
            max_wait=math.inf if max_wait is None else max_wait,
            max_concurrent_batches=max_concurrent_batches,
            priority_levels=priority_levels,
            eager=eager,
        )
        self._recorder = Recorder()
        # The loop's thread only, as all that changes.
        self._loop: object = None  # whose batcher this is, from `async with` on
        self._clock: Callable[[], float] = lambda: 0.0
        self._group: TaskGroup | None = None
        self._wake = anyio.Event()
        self._idle = anyio.Event()
        self._next_wake = math.inf  # when the clock task will look again
        self._open = False  # takes requests
        self._warm = False
        self._frozen = False

    def __repr__(self) -> str:
        return f"<Batcher {self.name}>"

    # Life

    async def __aenter__(self) -> Batcher:
        if self._loop is not None:
            raise NotServingError(f"{self.name}: this batcher was started before; make another one")
        self._loop, self._clock = _running_loop()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        await self._group.start(self._run)
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        group = self._group
        assert group is not None
        if group.cancel_scope.cancel_called:  # a task of ours has crashed, and its error comes from here
            self._close()
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

    async def drain(self) -> None:
        """Take no more requests, and wait until all those accepted are answered. For good."""
        self._open = False
        self._queue.draining = True
        self._wake.set()
        while self._queue.requests or self._queue.running:
            await self._idle.wait()

    def _close(self) -> None:
        self._open = False
        for request in self._queue.take_all():
            self._fail(request, NotServingError(f"{self.name}: the batcher was stopped"))

    @property
    def ready(self) -> bool:
        """Whether it takes requests and, if it has specs, is warm."""
        return self._open and (self._warm or self._inputs.specs is None)

    async def warmup(
        self,
        example: Any = None,
        *,
        keys: Sequence[Hashable] = (None,),
        freeze: bool = True,
        progress: Callable[[int, int, str], object] | None = None,
    ) -> None:
        """Run the function once for every bucket of lengths and batches, which compiles it, and measure it.

        The inputs are padding, or rows of ``example``, which makes those of its shape alone. With ``freeze`` the
        function may compile nothing later on: ``CompileBudgetError`` for the batch that would need it. ``progress`` is
        called with how many programs are ready, how many there are, and the name of the latest. Raises what the
        function raises; ``ValueError`` where there are neither specs nor an example.

        >>> x = aio.serving.TensorSpec((3,), "float32")
        >>> async with aio.serving.Batcher(aio.jit(lambda x: x + 1), specs=x, buckets=(1, 4)) as batcher:
        ...     await batcher.warmup(progress=print)
        1 2 <lambda>[1]
        2 2 <lambda>[4]
        """
        sizes = self._sizes.sizes or (self._sizes.largest,)
        samples: list[tuple[Hashable, Layout, Request | None]] = []
        if example is None:
            samples = [(key, layout, None) for key in keys for layout in self._inputs.layouts()]
        else:
            example = await aio.to_host(example)
            for key in keys:
                checked = self._inputs.check(example, key, False)
                samples.append((key, checked.layout, Request(None, leaves=checked.leaves, lengths=checked.lengths)))
        frozen, self._frozen = self._frozen, False
        work = [(key, layout, sample, size) for key, layout, sample in samples for size in sizes]
        try:
            for done, (key, layout, sample, size) in enumerate(work, 1):
                parts = [] if sample is None else [Part(sample, 0, 1)] * size
                await self._call(key, layout, parts, size)
                start = self._clock()
                await self._call(key, layout, parts, size)
                now = self._clock()
                self._estimates.add((key, layout), size, now - start, now)
                if progress is not None:
                    progress(done, len(work), f"{self.name}[{self._bucket(layout, size)}]")
        finally:
            self._frozen = frozen
        self._frozen = freeze
        self._warm = True

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
        self._check_loop()
        now = self._clock()
        deadline = now + (self._timeout if timeout is None else timeout)
        leaves, _ = _trees.flatten(x)
        if any(isinstance(leaf, aio.Array) for leaf in leaves):
            with anyio.move_on_after(None if deadline == math.inf else deadline - now) as scope:
                x = await aio.to_host(x)
            if scope.cancelled_caught:
                self._recorder.hopeless += 1
                raise DeadlineError(f"{self.name}: the input was not there before the deadline of the request")
        request = self._accept(x, deadline, priority, client, key, batched)
        event = anyio.Event()
        request.wake = event.set
        try:
            await event.wait()
        finally:
            if not request.done:
                self._recorder.cancelled += 1
                self._queue.remove(request)
                request.abandon()
                self._wake.set()
        if request.error is not None:
            raise request.error
        results = joined(request)
        request.results = []
        return _trees.unflatten(request.structure, results)

    def _check_loop(self) -> None:
        if not self._open:
            state = "was not started; use `async with`" if self._loop is None else "takes no more requests"
            raise NotServingError(f"{self.name}: the batcher {state}")
        if _running_loop()[0] is not self._loop:
            raise NotServingError(
                f"{self.name}: the batcher runs on another event loop; each loop needs a batcher of its own"
            )

    def _accept(
        self, x: Any, deadline: float, priority: int, client: Hashable, key: Hashable, batched: bool
    ) -> Request:
        if not 0 <= priority < self._levels:
            raise ValueError(f"{self.name}: priority is {priority}; there are levels 0 to {self._levels - 1}")
        if not self._open:
            raise NotServingError(f"{self.name}: the batcher takes no more requests")
        try:
            checked = self._inputs.check(x, key, batched)
            if self._key is not None and key is None:
                checked = checked._replace(key=self._asked("key", self._key, x))
            cost = 1.0
            if self._cost is not None:
                cost = self._row_cost(x, checked.rows)
            if checked.rows > self._max_queue:
                raise InvalidInputError(f"{self.name}: {checked.rows} rows are more than max_queue={self._max_queue}")
        except InvalidInputError:
            self._recorder.invalid += 1
            raise
        request = Request(
            (checked.key, checked.layout),
            checked.rows,
            single=not batched,
            leaves=checked.leaves,
            lengths=checked.lengths,
            cost=cost,
            priority=priority,
            client=client,
            deadline=deadline,
        )
        try:
            self._queue.admit(request, self._clock())
        except QueueFullError:
            self._recorder.rejected += 1
            raise
        except DeadlineError:
            self._recorder.hopeless += 1
            raise
        self._recorder.accepted += 1
        if self._queue.may_take or deadline < self._next_wake:
            self._wake.set()
        return request

    def _asked(self, what: str, function: Callable[[Any], Any], x: Any) -> Any:
        try:
            value = function(x)
            hash(value)
        except Exception as error:
            raise InvalidInputError(f"{self.name}: {what} raised {type(error).__name__} for this input") from error
        return value

    def _row_cost(self, x: Any, rows: int) -> float:
        assert self._cost is not None
        cost = self._asked("cost", self._cost, x)
        try:
            cost = float(cost) / max(rows, 1)
        except (TypeError, ValueError):
            cost = math.nan
        if not 0 <= cost < math.inf:
            raise InvalidInputError(f"{self.name}: cost is {cost} for this input; it has to be a number of 0 or more")
        if cost > self._max_batch_cost:
            raise InvalidInputError(
                f"{self.name}: a row costs {cost:g}, which is more than max_batch_cost={self._max_batch_cost:g}"
            )
        return cost

    def _fail(self, request: Request, error: BaseException) -> None:
        """End a request that has not ended."""
        self._queue.remove(request)
        if isinstance(error, DeadlineError):
            self._recorder.expired += 1
        else:
            self._recorder.failed += 1
        request.fail(error)

    # Batches

    async def _run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """The clock: lets batches leave and deadlines pass when it is time."""
        assert self._group is not None
        queue = self._queue
        task_status.started()
        while True:
            self._wake = anyio.Event()
            now = self._clock()
            for request in queue.expire(now):
                self._fail(request, self._late(request, now))
            while (batch := queue.take(now)) is not None:
                self._group.start_soon(self._run_batch, batch)
            for request in queue.take_hopeless():
                self._fail(request, self._late(request, now))
            if not queue.requests and not queue.running:
                self._idle.set()
                self._idle = anyio.Event()
            self._next_wake = queue.wake_at(now)
            with anyio.move_on_after(None if self._next_wake == math.inf else max(0.0, self._next_wake - now)):
                await self._wake.wait()

    def _late(self, request: Request, now: float) -> DeadlineError:
        waited = now - request.arrived
        if math.isnan(request.started):
            return DeadlineError(f"{self.name}: the request waited {waited:.3g} s in the queue, until its deadline")
        return DeadlineError(f"{self.name}: the request's batch was not finished in time, after {waited:.3g} s")

    async def _run_batch(self, batch: Batch) -> None:
        for part in batch.parts:
            if part.start == 0:
                self._recorder.queue_seconds.add(batch.started - part.request.arrived)
        error: Exception = NotServingError(f"{self.name}: the batcher was stopped")
        try:
            with anyio.move_on_after(self._batch_timeout):
                await self._compute(batch.group, batch.parts)
            error = DeadlineError(f"{self.name}: the function took longer than batch_timeout={self._batch_timeout} s")
        finally:
            for part in batch.parts:
                if not part.request.done and part.request.unanswered:
                    self._fail(part.request, error)
            self._queue.finished(batch)
            self._wake.set()

    async def _compute(self, group: Any, parts: Sequence[Part]) -> None:
        """Run the function for those parts whose requests have not ended, and give them their results."""
        parts = [part for part in parts if not part.request.done]
        if not parts:
            return
        key, layout = group
        rows = sum(part.rows for part in parts)
        size = self._sizes.padded(rows)
        start = self._clock()
        try:
            leaves, structure = await self._call(key, layout, parts, size)
        except Exception as error:
            failure = error
        else:
            now = self._clock()
            self._estimates.add(group, rows, now - start, now)
            self._record(layout, parts, rows, size, now - start)
            self._answer(parts, leaves, structure, size, rows)
            return
        if len(parts) == 1 or isinstance(failure, NOT_OF_THE_INPUT):
            for part in parts:
                if not part.request.done:
                    self._fail(part.request, failure)
            return
        self._recorder.bisections += 1
        middle = len(parts) // 2
        await self._compute(group, parts[:middle])
        await self._compute(group, parts[middle:])

    async def _call(
        self, key: Hashable, layout: Layout, parts: Sequence[Part], size: int
    ) -> tuple[list[np.ndarray[Any, Any]], Any]:
        """Stack the parts, run the function, and bring its results to the host."""
        if self._inputs.nbytes(layout, size) > COPY_HERE_BYTES:
            stacked = await anyio.to_thread.run_sync(self._inputs.stack, layout, parts, size)
        else:
            stacked = self._inputs.stack(layout, parts, size)
        x = layout.structure.unflatten([aio.asarray(leaf, copy=False) for leaf in stacked])
        arguments = {name: make(key, layout, parts, size) for name, make in self._arguments.items()}
        with aio.compile_budget(0) if self._frozen else nullcontext():
            result = self._fn(x, **arguments)
            if not isinstance(result, aio.Array) and inspect.isawaitable(result):
                result = await result
        leaves, structure = _trees.flatten(result)
        return [await leaf.to_host() if isinstance(leaf, aio.Array) else leaf for leaf in leaves], structure

    def _answer(self, parts: Sequence[Part], leaves: list[Any], structure: Any, size: int, rows: int) -> None:
        try:
            check_rows(self.name, leaves, size, rows)
        except RuntimeError as error:
            for part in parts:
                if not part.request.done:
                    self._fail(part.request, error)
            return
        finite = finite_rows(leaves, rows) if self._check_finite else None
        row = 0
        for part in parts:
            request = part.request
            if not request.done:
                if finite is not None and not finite[row : row + part.rows].all():
                    self._fail(request, NonFiniteError(f"{self.name}: the result has a NaN or an infinity"))
                elif take_part(part, row, leaves):
                    request.structure = structure
                    self._recorder.completed += 1
                    request.finish()
            row += part.rows

    # Numbers

    def _record(self, layout: Layout, parts: Sequence[Part], rows: int, size: int, seconds: float) -> None:
        self._recorder.batch(self._bucket(layout, size), rows, size, rows, size - rows, seconds)

    @staticmethod
    def _bucket(layout: Layout, size: int) -> str:
        return "x".join(map(str, (size, *layout.sizes)))

    def stats(self) -> BatcherStats:
        """What it has done and what it is doing, in plain numbers.

        >>> aio.serving.Batcher(lambda x: x).stats().accepted
        0
        """
        recorder, queue = self._recorder, self._queue
        started = min((batch.started for batch in queue.running), default=None)
        return BatcherStats(
            name=self.name,
            ready=self.ready,
            queued=queue.requests,
            queued_rows=queue.rows,
            running=len(queue.running),
            running_seconds=0.0 if started is None else self._clock() - started,
            **recorder.snapshot(),
        )


def _running_loop() -> tuple[object, Callable[[], float]]:
    """The event loop that runs here, and its clock."""
    loop = asyncio._get_running_loop()
    if loop is not None:
        return loop, loop.time
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        return trio.lowlevel.current_trio_token(), trio.current_time
    raise RuntimeError("Batcher: no event loop runs here; use it in asyncio or trio")
