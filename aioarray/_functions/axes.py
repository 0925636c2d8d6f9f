"""NumPy's everyday ways of turning, exchanging and joining axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from .._array import Array, ArrayLike, as_array, by_columns, call, fused
from .._dispatch.arguments import axis_of, integer_of
from .._ops import manipulation
from .._ops._rules import normalize_axes, normalize_axis
from .manipulation import flip, permute_dims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._array import Array

__all__ = ["fliplr", "flipud", "matrix_transpose", "ravel", "rollaxis", "rot90", "swapaxes", "transpose"]


def ravel(x: ArrayLike, /, order: Literal["C", "F", "A", "K"] = "C") -> Array:
    """The elements of ``x`` in one axis: in row-major order, or with "F" in column-major order.

    >>> aio.ravel(aio.asarray([[1, 2], [3, 4]])), aio.ravel(aio.asarray([[1, 2], [3, 4]]), order="F")
    (Array([1, 2, 3, 4], dtype=int32), Array([1, 3, 2, 4], dtype=int32))
    """
    by_column = by_columns("ravel", order)
    return call(manipulation.reshape_by_columns if by_column else manipulation.reshape, (x,), (-1,))


def transpose(x: ArrayLike, /, axes: Sequence[int] | None = None) -> Array:
    """``x`` with its axes in the order ``axes``; None: reversed. ``ValueError`` unless each is named once.

    >>> aio.transpose(aio.ones((2, 3, 4))).shape, aio.transpose(aio.ones((2, 3, 4)), (1, 0, 2)).shape
    ((4, 3, 2), (3, 2, 4))
    """
    if axes is None:
        array = as_array("transpose", x)
        return permute_dims(array, tuple(range(array.ndim))[::-1])
    return permute_dims(x, tuple(axes))


def swapaxes(x: ArrayLike, /, axis1: int, axis2: int) -> Array:
    """``x`` with two axes exchanged.

    >>> aio.swapaxes(aio.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    array = as_array("swapaxes", x)
    first = normalize_axis("swapaxes", axis_of("swapaxes", axis1), array.ndim)
    second = normalize_axis("swapaxes", axis_of("swapaxes", axis2), array.ndim)
    order = list(range(array.ndim))
    order[first], order[second] = second, first
    return permute_dims(array, tuple(order))


def rollaxis(x: ArrayLike, /, axis: int, start: int = 0) -> Array:
    """``x`` with ``axis`` moved before the axis that is now at ``start``; ``moveaxis`` is easier to read.

    >>> aio.rollaxis(aio.ones((2, 3, 4, 5)), 3, 1).shape
    (2, 5, 3, 4)
    """
    array = as_array("rollaxis", x)
    source = normalize_axis("rollaxis", axis_of("rollaxis", axis), array.ndim)
    target = integer_of("rollaxis", "start", start)
    if not -array.ndim <= target <= array.ndim:
        raise ValueError(f"rollaxis: start={start} is out of range; use {-array.ndim}..{array.ndim}")
    target += array.ndim if target < 0 else 0
    order = [k for k in range(array.ndim) if k != source]
    order.insert(target - (source < target), source)
    return permute_dims(array, tuple(order))


def rot90(x: ArrayLike, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """``x`` turned ``k`` times by 90 degrees in the plane of two axes, from the first towards the second.

    >>> aio.rot90(aio.asarray([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    array = as_array("rot90", x)
    plane = normalize_axes("rot90", tuple(map(operator.index, axes)), array.ndim)
    if len(plane) != 2:
        raise ValueError(f"rot90: axes={axes} name {len(plane)} axes; name two")
    return _rotated(array, turns=integer_of("rot90", "k", k) % 4, plane=(plane[0], plane[1]))


@fused
def _rotated(x: ArrayLike, /, *, turns: int, plane: tuple[int, int]) -> Array:
    if turns % 2 == 0:
        return flip(x, axis=plane) if turns else as_array("rot90", x)
    return flip(swapaxes(x, *plane), axis=plane[0] if turns == 1 else plane[1])


def flipud(x: ArrayLike, /) -> Array:
    """``x`` with its first axis reversed. ``ValueError`` for no axes.

    >>> aio.flipud(aio.asarray([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return flip(x, axis=0)


def fliplr(x: ArrayLike, /) -> Array:
    """``x`` with its second axis reversed. ``ValueError`` below two axes.

    >>> aio.fliplr(aio.asarray([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return flip(x, axis=1)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """``x`` with its last two axes exchanged. ``ValueError`` below two axes.

    >>> aio.matrix_transpose(aio.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    return call(manipulation.matrix_transpose, (x,))
