"""Bits, divisors and multiples of integers: element-wise functions of the array API standard and of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, binary, unary
from .._ops import bitwise

if TYPE_CHECKING:
    from .._array import Array

__all__ = [
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "gcd",
    "lcm",
]


def bitwise_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits that are set in both elements of each pair.

    Integer dtypes and bool, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not
    broadcast.

    >>> aio.bitwise_and(aio.asarray([6, 5]), 3)
    Array([2, 1], dtype=int32)
    """
    return binary(bitwise.bitwise_and, x1, x2)


def bitwise_count(x: ArrayLike, /) -> Array:
    """How many bits are set in the absolute value of each element.

    Integer dtypes; the result is uint8. ``TypeError`` for others.

    >>> aio.bitwise_count(aio.asarray([0, 7, -8]))
    Array([0, 3, 1], dtype=uint8)
    """
    return unary(bitwise.bitwise_count, x)


def bitwise_invert(x: ArrayLike, /) -> Array:
    """Each element with all bits inverted.

    Integer dtypes and bool, kept; ``TypeError`` for others.

    >>> aio.bitwise_invert(aio.asarray([0, 5]))
    Array([-1, -6], dtype=int32)
    """
    return unary(bitwise.bitwise_invert, x)


def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits of the first element moved left by the second; beyond the width, 0 is left.

    Integer dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.bitwise_left_shift(aio.asarray([1, 3]), 2)
    Array([ 4, 12], dtype=int32)
    """
    return binary(bitwise.bitwise_left_shift, x1, x2)


def bitwise_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits that are set in either element of each pair.

    Integer dtypes and bool, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not
    broadcast.

    >>> aio.bitwise_or(aio.asarray([6, 5]), 3)
    Array([7, 7], dtype=int32)
    """
    return binary(bitwise.bitwise_or, x1, x2)


def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits of the first element moved right by the second; beyond the width, only the sign is left.

    Integer dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.bitwise_right_shift(aio.asarray([12, -12]), 2)
    Array([ 3, -3], dtype=int32)
    """
    return binary(bitwise.bitwise_right_shift, x1, x2)


def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits that are set in exactly one element of each pair.

    Integer dtypes and bool, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not
    broadcast.

    >>> aio.bitwise_xor(aio.asarray([6, 5]), 3)
    Array([5, 6], dtype=int32)
    """
    return binary(bitwise.bitwise_xor, x1, x2)


def gcd(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The greatest common divisor of each pair of elements.

    Integer dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.gcd(aio.asarray([12, 35]), 20)
    Array([4, 5], dtype=int32)
    """
    return binary(bitwise.gcd, x1, x2)


def lcm(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The least common multiple of each pair of elements; too large ones wrap around.

    Integer dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.lcm(aio.asarray([4, 6]), 10)
    Array([20, 30], dtype=int32)
    """
    return binary(bitwise.lcm, x1, x2)
