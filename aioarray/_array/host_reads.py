"""Reading an Array's value on the host, where the caller waits for it: ``float(x)``, ``x.tolist()``, ``repr(x)``.

``Array`` takes these functions as its methods.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base import dtypes
from . import sync_reads

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .value import Value


def to_bool(x: Value, /) -> bool:
    return bool(x._host_scalar("bool(array)"))


def to_int(x: Value, /) -> int:
    return int(x._host_scalar("int(array)"))


def to_float(x: Value, /) -> float:
    return float(x._host_scalar("float(array)"))


def to_complex(x: Value, /) -> complex:
    return complex(x._host_scalar("complex(array)"))


def to_index(x: Value, /) -> int:
    if x._spec.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"operator.index: needs an integer array, this one is {x._spec.dtype.name}")
    return int(x._host_scalar("operator.index(array)"))


def trunc(x: Value, /) -> int:
    return math.trunc(x._host_scalar("math.trunc(array)").item())  # type: ignore[no-any-return]


def floor(x: Value, /) -> int:
    return math.floor(x._host_scalar("math.floor(array)").item())  # type: ignore[no-any-return]


def ceil(x: Value, /) -> int:
    return math.ceil(x._host_scalar("math.ceil(array)").item())  # type: ignore[no-any-return]


def item(x: Value, /) -> Any:
    """The only element as a Python number. ``ValueError`` if there are more.

    >>> aio.asarray([[2.5]]).item()
    2.5
    """
    if x._spec.size != 1:
        raise ValueError(f"item: needs an array of one element, this one has shape {x._spec.shape}")
    return x._host_value("array.item()").item()


def tolist(x: Value, /) -> Any:
    """The elements as Python numbers in nested lists.

    >>> aio.asarray([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return x._host_value("array.tolist()").tolist()


def to_numpy(x: Value, /, dtype: DType | None = None, copy: bool | None = None) -> np.ndarray:
    value = x._host_value("numpy.asarray(array)")
    if dtype is not None and dtype != value.dtype:
        if copy is False:
            raise ValueError(f"numpy.asarray: {x._spec.dtype.name} to {dtype} needs a copy, and copy=False")
        return value.astype(dtype)
    return value.copy() if copy else value


def contains(x: Value, /, value: Any) -> bool:
    return bool(np.isin(value, x._host_value("in array")).all())


def representation(x: Value, /) -> str:
    if not _shows_value(x):
        return f"Array(shape={x._spec.shape}, dtype={x._spec.dtype.name}, device={x.device}, {_state(x)})"
    return _array_text(x, np.array2string(x._value_to_show(), separator=", ", prefix="Array("))


def text(x: Value, /) -> str:
    if not _shows_value(x):
        return repr(x)
    return str(x._value_to_show())


def _array_text(x: Value, /, body: str) -> str:
    if x._spec.size == 0:
        body = f"[], shape={x._spec.shape}"
    return f"Array({body}, dtype={x._spec.dtype.name})"


def _shows_value(x: Value, /) -> bool:
    if x.is_deleted() or x._failure() is not None:
        return False
    return x._awaited or (sync_reads.shows_values() and x._may_wait_to_show())


def _state(x: Value, /) -> str:
    if x.is_deleted():
        return "deleted"
    return "pending" if x._failure() is None else "failed"


def formatted(x: Value, /, specification: str) -> str:
    if not specification:
        return str(x)
    return format(item(x), specification)
