"""Control of when launches are made and of what fails, for the code under a ``with``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._observe import Delay, Gate, Injector

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["Delay", "Gate", "Injector", "delay", "hold", "inject"]


def hold(match: str | None = None) -> Gate:
    """Hold what is enqueued in the ``with``: Arrays stay pending until the gate lets them go.

    The gate holds for this task, for tasks started in the ``with`` and for ``run_sync``; other code does not notice.
    ``gate.pending`` lists what is held; ``gate.release()`` lets go all of that, ``gate.release(n)`` the first ``n``,
    ``gate.release(x)`` one entry of the list or one Array; ``await gate.wait_for(n)`` waits until so much is held.
    ``gate.open()``, and the end of the ``with``, let everything go and hold nothing any more. With ``match``, a name or
    a pattern as of file names, only operations and jitted functions of that name are held.

    >>> from aioarray import testing
    >>> x = aio.ones(3)
    >>> with testing.hold() as gate:
    ...     y = x + 1
    ...     z = y * y
    ...     names = [held.name for held in gate.pending]
    ...     gate.release(y)
    ...     _ = y.block_until_ready()
    ...     names, y.is_ready(), z.is_ready()
    (['add', 'multiply'], True, False)
    >>> z
    Array([4., 4., 4.], dtype=float32)
    """
    return Gate(match)


def delay(seconds: float, *, match: str | None = None) -> Delay:
    """Make what is enqueued in the ``with`` take ``seconds`` longer, from when its inputs are there.

    ``match`` is the name of the operations or jitted functions meant, or a pattern as of file names; all if left out.
    No thread is held meanwhile. ``ValueError`` for negative seconds.

    >>> from aioarray import testing
    >>> with testing.delay(0.02, match="matmul"):
    ...     x = aio.eye(2) @ aio.eye(2)
    >>> x.is_ready(), float(x[0, 0])
    (False, 1.0)
    """
    return Delay(seconds, match=match)


def inject(
    error: Exception | str,
    *,
    match: str | None = None,
    nth: int | Container[int] | None = None,
    match_compile: str | None = None,
) -> Injector:
    """Make what is enqueued in the ``with`` fail as the device would: ``DeviceError`` where the value is awaited.

    A fault strikes operations and calls of jitted functions. Copies between host and device, which fail at the call,
    are struck where ``match`` names them. ``error`` is what XLA would say, ``"RESOURCE_EXHAUSTED: out of memory"``,
    or an exception, from whose type the status follows: ``MemoryError("full")``. ``match`` is the name of an
    operation or jitted function, ``"to_host"`` (every way of reading a value) or ``"device_put"`` (every way of
    making an Array of a host value, as ``ones(3)`` does), or a pattern as of file names: ``"*"`` means all of these.
    If left out, all but copies. ``nth`` is which of the matches fail, counted from 1: a number, or a container such
    as ``range(2, 5)``. With ``match_compile`` the compile of programs of that name fails instead, with
    ``CompileError`` for every call that needs one, also if it was compiled before; afterwards nothing is left of
    that.

    >>> from aioarray import testing
    >>> with testing.inject(MemoryError("full"), match="matmul", nth=2) as fault:
    ...     first, second = aio.eye(2) @ aio.eye(2), aio.eye(2) @ aio.eye(2)
    >>> float(first[0, 0]), fault.injected
    (1.0, 1)
    >>> await second
    Traceback (most recent call last):
    aioarray.errors.DeviceError: matmul (enqueued at ...) failed with RESOURCE_EXHAUSTED: full
    """
    return Injector(error, match=match, nth=nth, match_compile=match_compile)
