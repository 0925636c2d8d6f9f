"""Indexing functions of the array API standard: elements at given positions along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._array import ArrayLike, call
from .._dispatch.arguments import axis_of
from .._ops import indexing

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["take", "take_along_axis"]


def take(
    x: ArrayLike,
    indices: ArrayLike,
    /,
    axis: int | None = None,
    *,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> Array:
    """``x`` at the positions ``indices`` along ``axis`` (None: flattened).

    Negative positions count from the end; those out of range take the nearest element, and none raises, since values
    are not known when the function returns. With ``mode="wrap"`` positions start again, with "clip" negative ones are
    the first. The axes of ``indices`` go where ``axis`` was.

    >>> aio.take(aio.asarray([10, 20, 30]), aio.asarray([2, 0]))
    Array([30, 10], dtype=int32)
    >>> aio.take(aio.asarray([10, 20, 30]), 4, mode="wrap")
    Array(20, dtype=int32)
    """
    return call(indexing.take, (x, indices), None if axis is None else axis_of("take", axis), mode)


def take_along_axis(x: ArrayLike, indices: ArrayLike, /, axis: int = -1) -> Array:
    """``x`` at the positions ``indices`` along ``axis``; the other axes of both go side by side and broadcast.

    Negative positions count from the end; those out of range take the nearest element.

    >>> x = aio.asarray([[3, 1, 2], [6, 5, 4]])
    >>> aio.take_along_axis(x, aio.argsort(x))
    Array([[1, 2, 3],
           [4, 5, 6]], dtype=int32)
    """
    return call(indexing.take_along_axis, (x, indices), axis_of("take_along_axis", axis))
