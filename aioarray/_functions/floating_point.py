"""Rounding, classes, signs and parts of numbers: element-wise functions of the standard, and NumPy's others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, binary, call, unary
from .._ops import floating_point

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["copysign", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "nan_to_num", "nextafter", "signbit"]


def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The magnitude of the first element with the sign of the second, also of zeros and NaNs.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.copysign(aio.asarray([1.0, 2.0]), aio.asarray([-0.0, 1.0]))
    Array([-1.,  2.], dtype=float32)
    """
    return binary(floating_point.copysign, x1, x2)


def isfinite(x: ArrayLike, /) -> Array:
    """Whether each element is neither infinite nor NaN.

    Any dtype; the result is bool.

    >>> aio.isfinite(aio.asarray([1.0, float('inf')]))
    Array([ True, False], dtype=bool)
    """
    return unary(floating_point.isfinite, x)


def isinf(x: ArrayLike, /) -> Array:
    """Whether each element is infinite; of complex numbers, whether either part is.

    Any dtype; the result is bool.

    >>> aio.isinf(aio.asarray([1.0, float('inf')]))
    Array([False,  True], dtype=bool)
    """
    return unary(floating_point.isinf, x)


def isnan(x: ArrayLike, /) -> Array:
    """Whether each element is NaN; of complex numbers, whether either part is.

    Any dtype; the result is bool.

    >>> aio.isnan(aio.asarray([1.0, float('nan')]))
    Array([False,  True], dtype=bool)
    """
    return unary(floating_point.isnan, x)


def isneginf(x: ArrayLike, /) -> Array:
    """Whether each element is negative infinity.

    Real dtypes and bool; the result is bool. ``TypeError`` for others.

    >>> aio.isneginf(aio.asarray([float('-inf'), float('inf')]))
    Array([ True, False], dtype=bool)
    """
    return unary(floating_point.isneginf, x)


def isposinf(x: ArrayLike, /) -> Array:
    """Whether each element is positive infinity.

    Real dtypes and bool; the result is bool. ``TypeError`` for others.

    >>> aio.isposinf(aio.asarray([float('-inf'), float('inf')]))
    Array([False,  True], dtype=bool)
    """
    return unary(floating_point.isposinf, x)


def nan_to_num(
    x: ArrayLike, /, *, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None
) -> Array:
    """Each element, but ``nan`` for NaN, ``posinf`` and ``neginf`` (None: the largest numbers) for infinities.

    Any dtype, kept; of complex numbers each part for itself. The replacements are numbers, or arrays that broadcast
    to ``x``; ``ValueError`` if they do not.

    >>> aio.nan_to_num(aio.asarray([1.0, float('nan'), float('inf')]), posinf=9)
    Array([1., 0., 9.], dtype=float32)
    """
    return call(floating_point.nan_to_num, (x, nan, posinf, neginf))


def nextafter(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The number next to the first element in the direction of the second.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.nextafter(aio.asarray([1.0, 1.0]), aio.asarray([2.0, 0.0]))
    Array([1.0000001 , 0.99999994], dtype=float32)
    """
    return binary(floating_point.nextafter, x1, x2)


def signbit(x: ArrayLike, /) -> Array:
    """Whether the sign bit of each element is set, as it is of -0.0.

    Real floating-point dtypes; integers and booleans become real numbers first. The result is bool.
    ``TypeError`` for complex dtypes.

    >>> aio.signbit(aio.asarray([-0.0, 0.0, -1.0]))
    Array([ True, False,  True], dtype=bool)
    """
    return unary(floating_point.signbit, x)
