"""The value of an Array: still being computed, ready, failed, or deleted; and taking it to the host.

An Array is a spec and one of: a buffer that is ready; a ``Pending``, which has the buffer once it is launched; nothing,
when it was deleted. It may be used from any thread. Its fields change only together with what they mean: a pending
result is replaced by its buffer when that is first seen to be ready, and ``a[index] = value`` replaces the whole value.
Both happen under ``replacing``; an update that finds the value of another thread's there begins anew, so that none is
lost.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from .. import _xla
from .._base.errors import TracedValueError
from .._dispatch import copies
from .._dispatch.operands import deleted_error
from .._engine import Pending, engine, pass_ready, wait
from .._xla import LARGE
from . import formatting, sync_reads
from .remains import Remains

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import numpy as np

    from .._base.dtypes import DType
    from .._engine import Failure
    from .._graph import ArraySpec
    from .._xla import Buffer, Device
    from .tracing import Trace

# Held for a few instructions. Re-entrant, since what is replaced may be the last reference to something.
replacing: Final = threading.RLock()


class Value:
    """What has a value, or will have one: all of ``Array`` but what is computed with it."""

    # Cleared in this order when an Array goes: `_remains` after what else holds the value.
    __slots__ = ("_awaited", "_buffer", "_pending", "_remains", "_spec")

    # Set in the instances that stand for values inside jit.
    _trace: ClassVar[Trace[Any] | None] = None

    _buffer: Buffer | None  # ready, or None
    _pending: Pending | None  # while it is not ready, or when it failed
    _remains: Remains | None  # unset unless the value is large; shared by copies

    def __init__(self, spec: ArraySpec, value: Buffer | Pending | None, awaited: bool = False) -> None:
        self._spec = spec
        if type(value) is Pending:
            self._buffer = None
            self._pending = value
        else:
            self._buffer = value
            self._pending = None
        self._awaited = awaited  # the program has waited for it, or it was made of a host value
        # What was made of a host value is in memory that is kept for the next one.
        if spec.nbytes >= LARGE and not awaited and value is not None:
            self._remains = Remains(value, spec.nbytes)

    # What is known before the value is

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        return self._spec.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._spec.dtype

    @property
    def device(self) -> Device:
        """Where the value is, or will be."""
        device = self._spec.device
        assert device is not None
        return device

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return self._spec.ndim

    @property
    def size(self) -> int:
        """How many elements."""
        return self._spec.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._spec.nbytes

    def __len__(self) -> int:
        if not self._spec.shape:
            raise TypeError("len() of an array of no dimensions")
        return self._spec.shape[0]

    # Copies: values do not change, so they are shared

    def __copy__(self) -> Self:
        copy = type(self)(self._spec, self._buffer if self._pending is None else self._pending, self._awaited)
        if self._spec.nbytes >= _xla.LARGE:
            copy._remains = getattr(self, "_remains", None)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    # Waiting

    def __await__(self) -> Generator[Any, Any, Self]:
        pending = self._settle("await")
        if pending is None:
            buffer = self._buffer
            yield from pass_ready()
        else:
            yield from wait(engine.scheduler, pending)
            if pending.failure is not None:
                raise pending.failure.exception()
            buffer = pending.buffer
            if self._pending is pending:
                self._settle("await")
        if self._buffer is buffer:  # neither deleted nor overwritten meanwhile
            self._awaited = True
            return self
        # What was awaited is the value of then; `a[i] = v` has given `a` another one since.
        return type(self)(self._spec, buffer, True)

    def block_until_ready(self) -> Self:
        """Hold the calling thread until the value is there; give the array itself. Raises the computation's error.

        >>> x = aio.ones((2, 2))
        >>> (x @ x).block_until_ready() is not None
        True
        """
        pending = self._settle("block_until_ready")
        if pending is not None:
            engine.scheduler.block(pending)
            pending = self._settle("block_until_ready")
            if pending is not None and pending.failure is not None:
                raise pending.failure.exception()
        self._awaited = True
        return self

    def is_ready(self) -> bool:
        """Whether the value, or its error, is there."""
        pending = self._settle("is_ready")
        if pending is None or pending.launch is None:
            return True
        return pending.buffer is not None and _xla.is_ready(pending.buffer)

    def is_deleted(self) -> bool:
        """Whether the value was given up."""
        return self._buffer is None and self._pending is None

    def delete(self) -> None:
        """Give up the value; its device memory is freed once running work that reads it has ended.

        Every later use raises ``DeletedArrayError``; deleting twice does nothing.
        """
        self._buffer = None
        self._pending = None
        if self._spec.nbytes >= _xla.LARGE:
            self._remains = None

    async def to_host(self) -> np.ndarray:
        """The value as a read-only ``numpy.ndarray``; copies, where the device needs it, off the loop."""
        value = await self  # another object if this one was deleted or overwritten meanwhile
        return copies.to_numpy(value._buffer, value._spec)

    def _settle(self, what: str) -> Pending | None:
        """Take over the buffer of a pending result that has finished; what is still pending, or failed, comes back."""
        pending = self._pending
        if pending is None:
            if self._buffer is None:
                raise deleted_error(what)
            return None
        if not pending.observer.used(pending, what):
            return pending
        if pending.launch is None:
            if pending.failure is not None:
                return pending
            with replacing:
                if self._pending is pending:
                    self._buffer = pending.buffer
                    self._pending = None
                    return None
            return self._settle(what)
        return pending

    def _has(self, buffer: Buffer | None, pending: Pending | None) -> bool:
        """Whether the value is the one that was there with these two: it may have become ready since."""
        if pending is None or self._pending is not None:
            return self._pending is pending and self._buffer is buffer
        return self._buffer is pending.buffer

    def _update(self, change: Callable[[], Self]) -> None:
        """Take the value that ``change`` makes of the present one; again, if another thread updates it meanwhile."""
        while True:
            pending = self._pending  # first: what is seen to be ready meanwhile goes from there to the buffer
            buffer = self._buffer
            other = change()
            with replacing:
                if self._has(buffer, pending):
                    self._replace(other)
                    return

    def _replace(self, other: Self) -> None:
        if other._trace is not None:
            raise TracedValueError(
                f"update in place of an Array from outside of {other._trace.name!r}, which is being traced: it would "
                "get no value. Take the array as an argument and return the updated one"
            )
        self._spec = other._spec
        # In an order in which no other thread finds neither, which would mean that the array was deleted.
        if other._pending is not None:
            self._pending, self._buffer = other._pending, None
        else:
            self._buffer, self._pending = other._buffer, None
        if self._spec.nbytes >= _xla.LARGE:
            self._remains = getattr(other, "_remains", None)
        self._awaited = other._awaited

    def _operand(self, what: str) -> Buffer | Pending:
        pending = self._settle(what)
        return self._buffer if pending is None else pending

    def _host_value(self, what: str) -> np.ndarray:
        if not self._awaited:
            pending = self._settle(what)
            if pending is not None:
                formatting.refuse_if_held(what, pending)
            sync_reads.check(what)
        self.block_until_ready()
        return copies.to_numpy(self._buffer, self._spec)

    def _may_wait_to_show(self) -> bool:
        pending = None if self.is_ready() else self._pending
        return pending is None or formatting.may_wait(pending)

    def _host_scalar(self, what: str) -> Any:
        """The only element."""
        if self._spec.size != 1:
            remedy = "; aio.any(x) or aio.all(x) make one of it" if what == "bool(array)" else ""
            raise TypeError(f"{what}: needs an array of one element, this one has shape {self._spec.shape}{remedy}")
        if self._spec.ndim > 0 and what != "bool(array)":
            raise TypeError(f"{what}: needs an array of no dimensions, this one has shape {self._spec.shape}")
        return self._host_value(what)[(0,) * self._spec.ndim]

    def _failure(self) -> Failure | None:
        pending = self._settle("repr")
        return None if pending is None else pending.failure

    def _value_to_show(self) -> np.ndarray:
        self.block_until_ready()
        return copies.to_numpy(self._buffer, self._spec)
