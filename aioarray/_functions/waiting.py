"""Waiting for Arrays, moving them between host and device, and how much work there is."""

from __future__ import annotations

import functools
import os
from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, overload

import anyio
import anyio.to_thread
import numpy as np
from anyio.lowlevel import RunVar

from .. import _xla
from .._array import Array, from_host
from .._dispatch.exchange import host_value
from .._engine import HIGH_WATER, Callback, current_host, engine, wait_drained
from .._xla import trees

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Iterable

__all__ = [
    "Stats",
    "as_completed",
    "block_until_ready",
    "device_put",
    "drain",
    "ready",
    "run_sync",
    "stats",
    "to_host",
]

T = TypeVar("T")
K = TypeVar("K")
# What one Array is made of, and lists and the like of that.
Leaf: TypeAlias = Array | np.ndarray | np.generic | bool | int | float | complex
L = TypeVar("L", bound=Leaf)

# Copying so much takes less time than asking another thread to: 0.1 ms, or several times that into memory that is new.
_COPY_HERE_BYTES = 1 << 20
# Copies of so much, which take milliseconds of a core, leave at least half of the cores to the loop and to others.
_LARGE_BYTES = 16 << 20
_large_copies: RunVar[anyio.CapacityLimiter] = RunVar("aioarray_large_copies")  # one for each loop


async def ready(tree: T) -> T:
    """Wait for every Array in ``tree``; give the tree. Raises the error of one whose computation failed.

    >>> x = aio.ones(3)
    >>> await aio.ready({"sum": aio.sum(x), "twice": [x * 2, None]})
    {'sum': Array(3., dtype=float32), 'twice': [Array([2., 2., 2.], dtype=float32), None]}
    """
    leaves, _ = trees.flatten(tree)
    for leaf in leaves:
        if isinstance(leaf, Array):
            await leaf
    return tree


@overload
async def to_host(tree: Array) -> np.ndarray: ...
@overload
async def to_host(tree: list[Array]) -> list[np.ndarray]: ...
@overload
async def to_host(tree: tuple[Array, ...]) -> tuple[np.ndarray, ...]: ...
@overload
async def to_host(tree: dict[K, Array]) -> dict[K, np.ndarray]: ...
@overload
async def to_host(tree: Any) -> Any: ...
async def to_host(tree: Any) -> Any:
    """Wait for every Array in ``tree``; give the tree with read-only ``numpy.ndarray`` in their place.

    >>> await aio.to_host([aio.arange(3), "as it is"])
    [array([0, 1, 2], dtype=int32), 'as it is']
    """
    leaves, structure = trees.flatten(tree)
    values = [await leaf.to_host() if isinstance(leaf, Array) else leaf for leaf in leaves]
    return structure.unflatten(values)


def block_until_ready(tree: T) -> T:
    """Hold the calling thread until every Array in ``tree`` is there; give the tree. Raises their errors.

    >>> aio.block_until_ready((aio.ones(2) + 1, None))
    (Array([2., 2.], dtype=float32), None)
    """
    leaves, _ = trees.flatten(tree)
    for leaf in leaves:
        if isinstance(leaf, Array):
            leaf.block_until_ready()
    return tree


class _Suspension:
    """An awaitable made of a generator function."""

    __slots__ = ("_generator",)

    def __init__(self, generator: Generator[Any, Any, None]) -> None:
        self._generator = generator

    def __await__(self) -> Generator[Any, Any, None]:
        return self._generator


async def as_completed(arrays: Iterable[Array]) -> AsyncIterator[Array]:
    """Give the Arrays of ``arrays`` themselves, each when it is ready; those that failed too, to raise when awaited.

    >>> [int(x) async for x in aio.as_completed([aio.asarray(1), aio.asarray(2)])]
    [1, 2]
    """
    host = current_host()
    done: deque[Array] = deque()
    line: dict[Any, None] = {}
    waits: list[tuple[Any, Callback]] = []

    def arrived(array: Array) -> None:
        done.append(array)
        for waiting in list(line):
            del line[waiting]
            host.resume(waiting)

    remaining = 0
    try:
        for array in arrays:
            remaining += 1
            pending = array._settle("as_completed")
            launch = None if pending is None else pending.launch
            if launch is not None:
                callback = Callback(host, functools.partial(arrived, array))
                if engine.scheduler.add_waiter(launch, callback, callback) is not None:
                    waits.append((launch, callback))
                    continue
            done.append(array)
        while remaining:
            while not done:
                await _Suspension(host.park(line))
            remaining -= 1
            array = done.popleft()
            pending = array._settle("as_completed")
            if pending is None:
                await array
            yield array
    finally:
        for launch, callback in waits:
            engine.scheduler.remove_waiter(launch, callback)


async def drain(limit: int = HIGH_WATER) -> None:
    """Wait until fewer than ``limit`` operations are enqueued and unfinished: back-pressure for a producer.

    >>> await aio.drain()
    >>> await aio.drain(1)  # until everything is finished
    """
    if limit < 1:
        raise ValueError(f"drain: limit is {limit}; it must be at least 1, which waits for everything")
    await _Suspension(wait_drained(engine.scheduler, limit))


@overload
async def device_put(tree: Leaf, device: _xla.Device | str | None = None) -> Array: ...
@overload
async def device_put(tree: list[L], device: _xla.Device | str | None = None) -> list[Array]: ...
@overload
async def device_put(tree: tuple[L, ...], device: _xla.Device | str | None = None) -> tuple[Array, ...]: ...
@overload
async def device_put(tree: dict[K, L], device: _xla.Device | str | None = None) -> dict[K, Array]: ...
@overload
async def device_put(tree: Any, device: _xla.Device | str | None = None) -> Any: ...
async def device_put(tree: Any, device: _xla.Device | str | None = None) -> Any:
    """Copy the host arrays in ``tree`` to ``device`` without holding the loop; give the tree with Arrays.

    The host arrays must not change until it returns. Python numbers get the default dtypes. Arrays are moved if they
    are on another device. Raises ``TypeError`` for leaves that are no numbers.

    >>> import numpy as np
    >>> await aio.device_put({"weights": np.ones((2, 2), np.float32)})
    {'weights': Array([[1., 1.], [1., 1.]], dtype=float32)}
    """
    target = engine.device() if device is None else device
    if isinstance(target, str):
        target = _xla.find_device(target)
    leaves, structure = trees.flatten(tree)
    results: list[Array] = []
    for leaf in leaves:
        if isinstance(leaf, Array):
            results.append((await leaf).to_device(target))
            continue
        value = host_value("device_put", leaf)
        if value.nbytes <= _COPY_HERE_BYTES:
            results.append(from_host(value, target))
        else:
            limiter = _limiter() if value.nbytes >= _LARGE_BYTES else None
            results.append(await anyio.to_thread.run_sync(from_host, value, target, limiter=limiter))
    return structure.unflatten(results)


def _limiter() -> anyio.CapacityLimiter:
    """What large copies on this loop have in common."""
    limiter = _large_copies.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(max(1, (os.cpu_count() or 1) // 2))
        _large_copies.set(limiter)
    return limiter


async def run_sync(function: Callable[..., T], /, *args: Any) -> T:
    """Call ``function(*args)`` on a worker thread, where reading Arrays holds no event loop; give its result.

    For code that needs values: shapes that depend on data, other libraries. When the await is cancelled, the call goes
    on to its end first.

    >>> await aio.run_sync(lambda x: int(x[0]) + 1, aio.asarray([41, 0]))
    42
    """
    return await anyio.to_thread.run_sync(functools.partial(function, *args))


class Stats(TypedDict):
    """Counts since the start of the process; ``pending``, ``in_flight`` and ``threads`` are of now."""

    enqueued: int
    launched: int
    finished: int
    failed: int
    dropped: int
    pending: int
    in_flight: int
    compiles: int
    cache_hits: int
    threads: int


def stats() -> Stats:
    """How much work was enqueued, launched, finished, failed and dropped; what is under way; compiles and threads.

    >>> sorted(aio.stats())[:4]
    ['cache_hits', 'compiles', 'dropped', 'enqueued']
    """
    scheduler, compiler = engine.scheduler, engine.compiler
    inline = scheduler.inline
    pending = scheduler.unfinished()  # first, since it counts what was dropped
    return Stats(
        enqueued=scheduler.counts.enqueued + inline,
        launched=scheduler.counts.launched + inline,
        finished=scheduler.counts.finished + inline,
        failed=scheduler.counts.failed,
        dropped=scheduler.counts.dropped,
        pending=pending,
        in_flight=scheduler.in_flight,
        compiles=compiler.compiles,
        cache_hits=compiler.hits,
        threads=engine.threads.count(),
    )
