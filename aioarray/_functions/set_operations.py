"""NumPy's everyday set functions: distinct values, union, intersection, difference.

How many values there are depends on the values, so Arrays are read: await them before. With ``size`` nothing is read,
and the functions work inside jit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._array import Array, ArrayLike, as_array, call, from_host, fused
from .._base import dtypes
from .._base.host_values import host_array
from .._dispatch.arguments import axis_of, integer_of
from .._ops import searching, sets
from .._ops._rules import index_dtype
from .comparison import less
from .creation import arange, full
from .data_types import astype
from .indexing import take
from .logical import logical_and
from .manipulation import concat, reshape
from .searching import count_nonzero, where
from .sets import isin, unique_of_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import Scalar
    from .._xla import Device

__all__ = ["intersect1d", "setdiff1d", "setxor1d", "union1d", "unique"]


@overload
def unique(
    x: ArrayLike,
    /,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> Array: ...
@overload
def unique(
    x: ArrayLike,
    /,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    *,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    *,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    *,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    *,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> tuple[Array, Array, Array, Array]: ...
@overload
def unique(
    x: ArrayLike,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> Array | tuple[Array, ...]: ...
def unique(
    x: ArrayLike,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Scalar | None = None,
) -> Array | tuple[Array, ...]:
    """The distinct values of ``x``, sorted; or its distinct slices along ``axis``.

    Asked for, a tuple of them, where each occurs first, which one each element is, and how often each occurs. Without
    ``equal_nan``, NaN are all distinct. ``size`` and ``fill_value`` as for ``unique_all``, without ``axis`` only.

    >>> aio.unique(aio.asarray([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    wanted = (True, return_index, return_inverse, return_counts)
    if size is not None:
        if axis is not None:
            raise ValueError("unique: size= with axis=; it takes the distinct values of the whole array only")
        found = unique_of_size("unique", x, size, bool(equal_nan), fill_value)
    else:
        value, device = _host("unique", x)
        place = None if axis is None else axis_of("unique", axis)
        parts = np.unique(value, True, True, True, axis=place, equal_nan=bool(equal_nan))
        dtype = index_dtype(value.size)
        found = tuple(from_host(part.astype(dtype) if i else part, device) for i, part in enumerate(parts))
    chosen = tuple(part for part, yes in zip(found, wanted, strict=True) if yes)
    return chosen[0] if len(chosen) == 1 else chosen


def _host(function: str, x: ArrayLike) -> tuple[np.ndarray, Device | None]:
    return (x._host_value(function), x.device) if isinstance(x, Array) else (host_array(function, x), None)


def _on_host(function: str, operation: Callable[..., np.ndarray], x1: ArrayLike, x2: ArrayLike, *options: Any) -> Array:
    (a, device1), (b, device2) = _host(function, x1), _host(function, x2)
    dtype = dtypes.promote(dtypes.as_dtype(a.dtype), dtypes.as_dtype(b.dtype))
    return from_host(operation(a.astype(dtype), b.astype(dtype), *options), device1 or device2)


def union1d(x1: ArrayLike, x2: ArrayLike, /, *, size: int | None = None, fill_value: Scalar | None = None) -> Array:
    """The distinct values that are in ``x1`` or ``x2``, sorted. ``size`` and ``fill_value`` as for ``unique_all``.

    >>> aio.union1d(aio.asarray([3, 1]), aio.asarray([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    if size is not None:
        return _union(x1, x2, size=integer_of("union1d", "size", size), fill_value=fill_value)
    return _on_host("union1d", np.union1d, x1, x2)


@fused
def _union(x1: ArrayLike, x2: ArrayLike, /, *, size: int, fill_value: Scalar | None) -> Array:
    return unique_of_size("union1d", concat([x1, x2], axis=None), size, True, fill_value)[0]


def intersect1d(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: complex = 0,
) -> Array:
    """The distinct values that are in both ``x1`` and ``x2``, sorted. With ``size``, so many, then ``fill_value``.

    In their common dtype. ``TypeError`` for dtypes that do not promote.

    >>> aio.intersect1d(aio.asarray([3, 1, 3, 5]), aio.asarray([5, 3, 4]))
    Array([3, 5], dtype=int32)
    """
    if size is not None:
        return _members(x1, x2, fill_value, size=integer_of("intersect1d", "size", size), invert=False)
    return _on_host("intersect1d", np.intersect1d, x1, x2, assume_unique)


def setdiff1d(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: complex = 0,
) -> Array:
    """The distinct values of ``x1`` that are not in ``x2``, sorted; in their order with ``assume_unique``.

    With ``size``, so many, sorted, then ``fill_value``. In their common dtype.

    >>> aio.setdiff1d(aio.asarray([3, 1, 3, 5]), aio.asarray([5, 4]))
    Array([1, 3], dtype=int32)
    """
    if size is not None:
        return _members(x1, x2, fill_value, size=integer_of("setdiff1d", "size", size), invert=True)
    (value, device), (other, _) = _host("setdiff1d", x1), _host("setdiff1d", x2)
    return from_host(np.setdiff1d(value, other, assume_unique), device)


def setxor1d(x1: ArrayLike, x2: ArrayLike, /, assume_unique: bool = False) -> Array:
    """The distinct values that are in ``x1`` or ``x2``, but not in both, sorted.

    In their common dtype. ``TypeError`` for dtypes that do not promote.

    >>> aio.setxor1d(aio.asarray([3, 1]), aio.asarray([2, 3]))
    Array([1, 2], dtype=int32)
    """
    return _on_host("setxor1d", np.setxor1d, x1, x2, assume_unique)


@fused
def _members(x1: ArrayLike, x2: ArrayLike, fill: ArrayLike, /, *, size: int, invert: bool) -> Array:
    array = reshape(as_array("intersect1d", x1), (-1,))
    value = astype(as_array("intersect1d", fill), array.dtype)
    if array.size == 0:
        return full((size,), value, dtype=array.dtype)
    values, _, _, counts = call(sets.unique, (array,), array.size, True)
    chosen = logical_and(counts > 0, isin(values, x2, invert=invert))
    (places,) = call(searching.nonzero, (chosen,), size, 0)
    return where(less(arange(size), count_nonzero(chosen)), take(values, places, axis=0), value)
