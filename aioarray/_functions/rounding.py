"""Rounding: element-wise functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, call, fused, unary
from .._dispatch.arguments import integer_of
from .._ops import rounding
from .arithmetic import divide

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["ceil", "floor", "rint", "round", "trunc"]


def ceil(x: ArrayLike, /) -> Array:
    """Each element rounded up to an integer; the dtype stays.

    Real numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.ceil(aio.asarray([1.2, -1.2]))
    Array([ 2., -1.], dtype=float32)
    """
    return unary(rounding.ceil, x)


def floor(x: ArrayLike, /) -> Array:
    """Each element rounded down to an integer; the dtype stays.

    Real numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.floor(aio.asarray([1.2, -1.2]))
    Array([ 1., -2.], dtype=float32)
    """
    return unary(rounding.floor, x)


def round(x: ArrayLike, /, decimals: int = 0) -> Array:
    """Each element rounded to so many decimals (negative: to tens, hundreds); the even one of two equally near.

    Numeric dtypes, kept; of complex numbers each part for itself. ``TypeError`` for others.

    >>> aio.round(aio.asarray([0.5, 1.5, -2.7]))
    Array([ 0.,  2., -3.], dtype=float32)
    >>> aio.round(aio.asarray([3.14159, 2.71828]), 2)
    Array([3.14, 2.72], dtype=float32)
    """
    return call(rounding.round, (x,), integer_of("round", "decimals", decimals))


def trunc(x: ArrayLike, /) -> Array:
    """Each element rounded towards zero to an integer; the dtype stays.

    Real numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.trunc(aio.asarray([1.8, -1.8]))
    Array([ 1., -1.], dtype=float32)
    """
    return unary(rounding.trunc, x)


@fused
def rint(x: ArrayLike, /) -> Array:
    """Each element rounded to the nearest whole number, half to even, as ``round`` does.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.rint(aio.asarray([1.5, 2.5, -0.4]))
    Array([ 2.,  2., -0.], dtype=float32)
    """
    return round(divide(x, 1))
