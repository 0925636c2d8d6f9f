"""Logical functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, binary, unary
from .._ops import logical

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["logical_and", "logical_not", "logical_or", "logical_xor"]


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether both elements of each pair are true, that is not 0.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logical_and(aio.asarray([True, False]), True)
    Array([ True, False], dtype=bool)
    """
    return binary(logical.logical_and, x1, x2)


def logical_not(x: ArrayLike, /) -> Array:
    """Whether each element is false, that is 0.

    Any dtype; the result is bool.

    >>> aio.logical_not(aio.asarray([True, False]))
    Array([False,  True], dtype=bool)
    """
    return unary(logical.logical_not, x)


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether either element of each pair is true, that is not 0.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logical_or(aio.asarray([True, False]), False)
    Array([ True, False], dtype=bool)
    """
    return binary(logical.logical_or, x1, x2)


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether exactly one element of each pair is true, that is not 0.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logical_xor(aio.asarray([True, False]), True)
    Array([False,  True], dtype=bool)
    """
    return binary(logical.logical_xor, x1, x2)
