"""Sorting functions of the array API standard."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .._call import ArrayLike, call
from .._ops import sorting
from ._arguments import axis_of

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["argsort", "sort", "top_k"]


def sort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """``x`` sorted along ``axis``; NaN goes last in both directions.

    With ``stable``, zeros keep their order whatever their signs. Complex numbers go by real, then by imaginary part.

    >>> aio.sort(aio.asarray([3, 1, 2]), descending=True)
    Array([3, 2, 1], dtype=int32)
    """
    return call(sorting.sort, (x,), axis_of("sort", axis), bool(descending), bool(stable))  # type: ignore[no-any-return]


def argsort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The positions that sort ``x`` along ``axis``, as ``sort`` does; with ``stable``, equal elements keep their order.

    >>> aio.argsort(aio.asarray([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    return call(sorting.argsort, (x,), axis_of("argsort", axis), bool(descending), bool(stable))  # type: ignore[no-any-return]


def top_k(x: ArrayLike, k: int, /, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The ``k`` greatest (or least) along ``axis``, in order, and where they are; NaN counts as neither.

    ``ValueError`` for more than there are, ``TypeError`` for complex numbers.

    >>> aio.top_k(aio.asarray([4, 9, 1, 7]), 2)
    (Array([9, 7], dtype=int32), Array([1, 3], dtype=int32))
    """
    return call(sorting.top_k, (x,), operator.index(k), axis_of("top_k", axis), bool(largest))  # type: ignore[no-any-return]
