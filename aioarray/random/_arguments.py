"""What random functions take for dtypes, shapes and parameters, brought into one form."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np

from .._base import config
from .._dispatch.arguments import DTypeLike, dtype_of, shape_of

if TYPE_CHECKING:
    from .._array import ArrayLike
    from .._base.dtypes import DType

ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]


def real_dtype(dtype: DTypeLike | None) -> DType:
    """``dtype``, or the default real one."""
    return dtype_of(dtype) or config.current().real


def integral_dtype(dtype: DTypeLike | None) -> DType:
    """``dtype``, or the default integral one."""
    return dtype_of(dtype) or config.current().integral


def optional_shape(function: str, shape: ShapeLike | None) -> tuple[int, ...] | None:
    """A shape, or None for that of the parameters."""
    return None if shape is None else shape_of(function, shape)


def parameter(x: ArrayLike, dtype: DType) -> ArrayLike:
    """A parameter; a Python number in ``dtype``, and not in what promotion makes of it beside a key's integers."""
    return np.asarray(x, dtype) if isinstance(x, (bool, int, float)) else x


def bound(function: str, name: str, x: Any) -> ArrayLike:
    """An end of a range of integers; a Python number as wide as it needs. ``OverflowError`` beyond 64 bits."""
    if hasattr(x, "dtype") or isinstance(x, Sequence):
        return x  # type: ignore[no-any-return]
    try:
        number = operator.index(x)
    except TypeError:
        raise TypeError(f"{function}: {name}={x!r} is no integer") from None
    return np.asarray(number, np.int64 if number < 2**63 else np.uint64)
