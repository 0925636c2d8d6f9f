"""Searching functions of the array API standard: positions of extremes, of what is not zero, in sorted arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from .._array import Array, ArrayLike, call, from_host
from .._base import dtypes
from .._dispatch.arguments import Axes, axes_of, axis_of, integer_of
from .._ops import _rules, searching, statistical
from .creation import asarray

if TYPE_CHECKING:
    from .. import _xla

__all__ = ["argmax", "argmin", "argwhere", "count_nonzero", "nonzero", "searchsorted", "where"]


def argmax(x: ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Where the greatest is along ``axis`` (None: in the flattened array), the first of equal ones; NaN counts as it.

    ``ValueError`` for no elements, ``TypeError`` for complex ones.

    >>> aio.argmax(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([1, 0], dtype=int32)
    """
    place = None if axis is None else axis_of("argmax", axis)
    return call(statistical.argmax, (x,), place, bool(keepdims))


def argmin(x: ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Where the least is along ``axis`` (None: in the flattened array), the first of equal ones; NaN counts as it.

    ``ValueError`` for no elements, ``TypeError`` for complex ones.

    >>> aio.argmin(aio.asarray([3, 1, 2]))
    Array(1, dtype=int32)
    """
    place = None if axis is None else axis_of("argmin", axis)
    return call(statistical.argmin, (x,), place, bool(keepdims))


def count_nonzero(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """How many elements along ``axis`` (one, several, None for all) are not zero.

    >>> aio.count_nonzero(aio.asarray([[0, 1], [2, 3]]), axis=0)
    Array([1, 2], dtype=int32)
    """
    return call(statistical.count_nonzero, (x,), axes_of("count_nonzero", axis), bool(keepdims))


def nonzero(x: ArrayLike, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Array, ...]:
    """Where ``x`` is not zero: the positions in row-major order, one array for each axis.

    How many there are depends on the values, so an Array is read: await it before. With ``size`` (the first so many,
    then ``fill_value``) nothing is read, and it works inside jit. ``ValueError`` for no axes.

    >>> aio.nonzero(aio.asarray([0, 3, 0, 5]))
    (Array([1, 3], dtype=int32),)
    >>> aio.nonzero(aio.asarray([0, 3, 0, 5]), size=3, fill_value=-1)
    (Array([ 1,  3, -1], dtype=int32),)
    """
    if size is not None:
        return call(
            searching.nonzero,
            (x,),
            integer_of("nonzero", "size", size),
            integer_of("nonzero", "fill_value", fill_value),
        )
    if isinstance(x, Array):
        return x.nonzero()
    return tuple(map(from_host, _host_nonzero(x)))


def argwhere(x: ArrayLike, /, *, size: int | None = None, fill_value: int = 0) -> Array:
    """Where ``x`` is not zero: the positions as the rows of a matrix. ``size`` and ``fill_value`` as for ``nonzero``.

    >>> aio.argwhere(aio.asarray([[0, 3], [5, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    if size is not None:
        return call(
            searching.argwhere,
            (x,),
            integer_of("argwhere", "size", size),
            integer_of("argwhere", "fill_value", fill_value),
        )
    return from_host(np.stack(_host_nonzero(x), axis=1), _device(x))


def _host_nonzero(x: ArrayLike) -> list[np.ndarray]:
    value = np.asarray(x)
    if value.ndim == 0:
        raise ValueError("nonzero: an array without axes has no positions; use reshape(x, (1,))")
    dtype = _rules.index_dtype(max(value.shape))
    return [places.astype(dtype) for places in np.nonzero(value)]


def _device(x: ArrayLike) -> _xla.Device | None:
    return x.device if isinstance(x, Array) else None


def searchsorted(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    side: Literal["left", "right"] = "left",
    sorter: ArrayLike | None = None,
) -> Array:
    """Where in the sorted vector ``x1`` the values ``x2`` belong: before equal ones, or with "right" after them.

    ``sorter`` gives the order of a vector that is not sorted, as ``argsort`` does. The order is that of ``sort``.

    >>> aio.searchsorted(aio.asarray([1, 3, 5]), aio.asarray([0, 3, 6]))
    Array([0, 1, 3], dtype=int32)
    """
    # The scalar takes its dtype from x1 alone, not from the positions in the sorter.
    first = x1 if isinstance(x1, Array) else asarray(x1)
    if isinstance(x2, (bool, int, float, complex)):
        x2 = asarray(x2, dtype=dtypes.weak_dtype(dtypes.scalar_rank(x2), first.dtype))
    return call(searching.searchsorted, (first, x2, sorter), side)


@overload
def where(condition: ArrayLike, /) -> tuple[Array, ...]: ...


@overload
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Array: ...


def where(
    condition: ArrayLike, x1: ArrayLike | None = None, x2: ArrayLike | None = None, /
) -> Array | tuple[Array, ...]:
    """The element of ``x1`` where ``condition`` is true, of ``x2`` elsewhere.

    ``x1`` and ``x2`` promote, all three broadcast. ``ValueError`` for shapes that do not broadcast. Without both it is
    ``nonzero(condition)``, which reads the values.

    >>> aio.where(aio.asarray([True, False]), aio.asarray([1, 2]), 0)
    Array([1, 0], dtype=int32)
    """
    if x1 is None or x2 is None:
        if x1 is None and x2 is None:
            return nonzero(condition)
        raise ValueError("where: one of x1 and x2 is None; give both, or neither for the positions of what is true")
    return call(searching.where, (condition, x1, x2))
