"""NumPy's ways of putting elements in and leaving elements out. Results are new arrays."""

from __future__ import annotations

import numpy as np

from .._array import Array, ArrayLike, as_array, fused
from .._base.host_values import host_array
from .._dispatch.arguments import axis_of
from .._ops._rules import normalize_axis
from .creation import arange
from .data_types import astype
from .indexing import take
from .manipulation import broadcast_to, concat, moveaxis, reshape

__all__ = ["append", "delete", "fill_diagonal", "insert", "put_along_axis"]


@fused
def append(x: ArrayLike, values: ArrayLike, /, axis: int | None = None) -> Array:
    """``x`` and then ``values`` along ``axis``; both flattened if that is None. Dtypes promote.

    ``ValueError`` where shapes differ in another axis.

    >>> aio.append(aio.asarray([1, 2]), aio.asarray([[3], [4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    return concat([as_array("append", x), as_array("append", values)], axis=axis)


def _places(function: str, obj: slice | ArrayLike, length: int) -> tuple[np.ndarray, bool]:
    """Positions on the host, and whether one number was given. A mask stands for the positions where it is true."""
    if isinstance(obj, slice):
        return np.arange(length)[obj], False
    value = np.asarray(obj) if isinstance(obj, Array) else host_array(function, obj)
    if value.dtype == np.bool_:
        if value.shape != (length,):
            raise ValueError(f"{function}: a mask of shape {value.shape} for {length} elements; give one for each")
        return np.flatnonzero(value), False
    if value.size == 0:
        return np.zeros(0, np.int64), False
    if value.dtype.kind not in "iu" or value.ndim > 1:
        raise TypeError(
            f"{function}: positions of dtype {value.dtype} and shape {value.shape}; give integers or a slice"
        )
    return value.astype(np.int64).reshape(-1), value.ndim == 0


def _checked(function: str, places: np.ndarray, length: int, last: int) -> np.ndarray:
    for place in places.tolist():
        if not -length <= place <= last:
            raise IndexError(f"{function}: position {place} is out of range for {length} elements along the axis")
    return np.where(places < 0, places + length, places)


def delete(x: ArrayLike, obj: slice | ArrayLike, /, axis: int | None = None) -> Array:
    """``x`` without the elements at ``obj`` along ``axis``; of the flattened array if that is None. Any dtype, kept.

    ``obj`` is an integer, several, a slice, or a mask; an Array is read, since the shape depends on it: await it
    before. ``IndexError`` for positions out of range.

    >>> aio.delete(aio.asarray([10, 20, 30, 40]), [0, -1])
    Array([20, 30], dtype=int32)
    """
    array = as_array("delete", x)
    if axis is None:
        array, axis = reshape(array, (array.size,)), 0
    k = normalize_axis("delete", axis_of("delete", axis), array.ndim)
    length = array.shape[k]
    places, _ = _places("delete", obj, length)
    kept = np.ones(length, bool)
    kept[_checked("delete", places, length, length - 1)] = False
    return take(array, np.flatnonzero(kept).astype(np.int32 if length < 2**31 else np.int64), axis=k)


def insert(x: ArrayLike, obj: slice | ArrayLike, values: ArrayLike, /, axis: int | None = None) -> Array:
    """``x`` with ``values`` put in before the positions ``obj`` along ``axis``; flattened first if that is None.

    ``values`` are cast to the dtype of ``x`` and broadcast. An Array ``obj`` is read: await it before.
    ``IndexError`` for positions out of range.

    >>> aio.insert(aio.asarray([1, 2, 3]), 1, 9)
    Array([1, 9, 2, 3], dtype=int32)
    >>> aio.insert(aio.asarray([1, 2, 3]), [0, 3], aio.asarray([8, 9]))
    Array([8, 1, 2, 3, 9], dtype=int32)
    """
    array = as_array("insert", x)
    if axis is None:
        array, axis = reshape(array, (array.size,)), 0
    k = normalize_axis("insert", axis_of("insert", axis), array.ndim)
    length = array.shape[k]
    places, single = _places("insert", obj, length)
    places = _checked("insert", places, length, length)
    several = as_array("insert", values)
    if places.size == 1:  # all values there are go to one place
        several = _slices(several, array.ndim, k, first=single)
        places = np.repeat(places, several.shape[k])
    count = int(places.size)
    new = broadcast_to(several, (*array.shape[:k], count, *array.shape[k + 1 :]))
    order = np.argsort(np.concatenate([np.arange(length), places - 0.5]), kind="stable")
    return take(_joined(array, new, axis=k), order.astype(np.int32 if length < 2**31 - count else np.int64), axis=k)


def _slices(x: Array, ndim: int, axis: int, *, first: bool) -> Array:
    """Values as slices along ``axis`` of an array of ``ndim`` axes; with ``first`` the first axis counts them."""
    missing = ndim - x.ndim
    x = reshape(x, ((1,) * missing + x.shape)) if missing > 0 else x
    return moveaxis(x, 0, axis) if first else x


@fused
def _joined(x: ArrayLike, values: ArrayLike, /, *, axis: int) -> Array:
    array = as_array("insert", x)
    return concat([array, astype(as_array("insert", values), array.dtype)], axis=axis)


@fused
def fill_diagonal(x: ArrayLike, val: ArrayLike, /, wrap: bool = False) -> Array:
    """``x`` with ``val`` on its main diagonal, cast to its dtype; NumPy's changes ``x``, this gives a new array.

    ``val`` is a number, or elements to go round. With ``wrap`` the diagonal of a tall matrix starts again after each
    square. ``ValueError`` below two axes, and above for axes of different lengths.

    >>> aio.fill_diagonal(aio.zeros((2, 2)), 5)
    Array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    array, value = as_array("fill_diagonal", x), as_array("fill_diagonal", val)
    if array.ndim < 2 or (array.ndim > 2 and len(set(array.shape)) > 1):
        raise ValueError(f"fill_diagonal: shape {array.shape}; it takes a matrix, or more axes of one length")
    if array.size == 0 or value.size == 0:
        return array
    if array.ndim == 2:
        step = array.shape[1] + 1
        end = array.size if wrap else min(array.size, array.shape[1] * array.shape[1])
    else:
        step, end = 1 + sum(int(np.prod(array.shape[k:])) for k in range(1, array.ndim)), array.size
    count = len(range(0, end, step))
    repeated = take(reshape(value, (value.size,)), arange(count) % value.size, axis=0)
    flat = reshape(array, (array.size,))
    return reshape(flat.at[slice(0, end, step)].set(astype(repeated, array.dtype)), array.shape)


@fused
def put_along_axis(x: ArrayLike, indices: ArrayLike, values: ArrayLike, /, axis: int | None) -> Array:
    """``x`` with ``values`` at the positions ``indices`` along ``axis``: what ``take_along_axis`` reads.

    NumPy's changes ``x``, this gives a new array. ``values`` are cast to the dtype of ``x`` and broadcast to
    ``indices``, which have as many axes as ``x``, and broadcast; None: of the flattened array. Positions out of range
    change nothing.
    ``TypeError`` for positions that are no integers, ``ValueError`` for another number of axes.

    >>> aio.put_along_axis(aio.asarray([[1, 2], [3, 4]]), aio.asarray([[1], [0]]), 9, axis=1)
    Array([[1, 9],
           [9, 4]], dtype=int32)
    """
    array, places = as_array("put_along_axis", x), as_array("put_along_axis", indices)
    shape = array.shape
    if axis is None:
        array, axis = reshape(array, (array.size,)), 0
    k = normalize_axis("put_along_axis", axis_of("put_along_axis", axis), array.ndim)
    if places.ndim != array.ndim:
        raise ValueError(
            f"put_along_axis: indices of shape {places.shape} for an array of shape {array.shape}; they must have as "
            "many axes"
        )
    target = tuple(places.shape[i] if i == k else n for i, n in enumerate(array.shape))
    places = broadcast_to(places, target)
    index = tuple(
        places if i == k else reshape(arange(n), tuple(-1 if j == i else 1 for j in range(array.ndim)))
        for i, n in enumerate(array.shape)
    )
    new = broadcast_to(astype(as_array("put_along_axis", values), array.dtype), target)
    return reshape(array.at[index].set(new), shape)
