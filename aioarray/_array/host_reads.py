"""Reading an Array's value on the host, where the caller waits for it: ``float(x)``, ``x.tolist()``, ``repr(x)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._base import dtypes
from . import sync_reads

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._engine import Failure
    from .._graph import ArraySpec
    from .._xla import Device


class HostReads:
    """The part of ``Array`` that is built on ``_host_value`` and ``_value_to_show``."""

    __slots__ = ()

    if TYPE_CHECKING:
        _spec: ArraySpec
        _awaited: bool

        @property
        def device(self) -> Device: ...

        def _host_value(self, what: str) -> np.ndarray:
            """The value, read under the policy for synchronous reads, as ``what``."""

        def _value_to_show(self) -> np.ndarray:
            """The value, waited for."""

        def _may_wait_to_show(self) -> bool:
            """Whether ``_value_to_show`` has no need to wait, or may."""

        def _failure(self) -> Failure | None:
            """Why there is no value, if that is known."""

        def is_deleted(self) -> bool: ...

    def _host_scalar(self, what: str) -> Any:
        if self._spec.size != 1 or self._spec.ndim > 0:
            if self._spec.size != 1:
                raise TypeError(f"{what}: needs an array of one element, this one has shape {self._spec.shape}")
            if what != "bool(array)":
                raise TypeError(f"{what}: needs an array of no dimensions, this one has shape {self._spec.shape}")
        return self._host_value(what)[(0,) * self._spec.ndim]

    def __bool__(self) -> bool:
        return bool(self._host_scalar("bool(array)"))

    def __int__(self) -> int:
        return int(self._host_scalar("int(array)"))

    def __float__(self) -> float:
        return float(self._host_scalar("float(array)"))

    def __complex__(self) -> complex:
        return complex(self._host_scalar("complex(array)"))

    def __index__(self) -> int:
        if self._spec.dtype not in dtypes.INTEGRAL:
            raise TypeError(f"operator.index: needs an integer array, this one is {self._spec.dtype.name}")
        return int(self._host_scalar("operator.index(array)"))

    def item(self) -> Any:
        """The only element as a Python number. ``ValueError`` if there are more.

        >>> aio.asarray([[2.5]]).item()
        2.5
        """
        if self._spec.size != 1:
            raise ValueError(f"item: needs an array of one element, this one has shape {self._spec.shape}")
        return self._host_value("array.item()").item()

    def tolist(self) -> Any:
        """The elements as Python numbers in nested lists.

        >>> aio.asarray([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self._host_value("array.tolist()").tolist()

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> np.ndarray:
        value = self._host_value("numpy.asarray(array)")
        if dtype is not None and dtype != value.dtype:
            if copy is False:
                raise ValueError(f"numpy.asarray: {self._spec.dtype.name} to {dtype} needs a copy, and copy=False")
            return value.astype(dtype)
        return value.copy() if copy else value

    def __contains__(self, value: Any) -> bool:
        return bool(np.isin(value, self._host_value("in array")).all())

    def __repr__(self) -> str:
        if not self._shows_value():
            return (
                f"Array(shape={self._spec.shape}, dtype={self._spec.dtype.name}, device={self.device}, {self._state()})"
            )
        return self._formatted(np.array2string(self._value_to_show(), separator=", ", prefix="Array("))

    def __str__(self) -> str:
        if not self._shows_value():
            return repr(self)
        return str(self._value_to_show())

    def _formatted(self, body: str) -> str:
        if self._spec.size == 0:
            body = f"[], shape={self._spec.shape}"
        return f"Array({body}, dtype={self._spec.dtype.name})"

    def _shows_value(self) -> bool:
        if self.is_deleted() or self._failure() is not None:
            return False
        return self._awaited or (sync_reads.shows_values() and self._may_wait_to_show())

    def _state(self) -> str:
        if self.is_deleted():
            return "deleted"
        return "pending" if self._failure() is None else "failed"

    def __format__(self, specification: str) -> str:
        if not specification:
            return str(self)
        return format(self.item(), specification)
