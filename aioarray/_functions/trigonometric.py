"""Trigonometric and hyperbolic functions of the array API standard, and NumPy's everyday others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, binary, unary
from .._ops import trigonometric

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["acos", "asin", "atan", "atan2", "cos", "deg2rad", "degrees", "rad2deg", "radians", "sin", "sinc", "tan"]


def acos(x: ArrayLike, /) -> Array:
    """The inverse cosine of each element, in radians from 0 to pi; NaN for real numbers outside [-1, 1].

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.acos(aio.asarray([1.0, 0.0]))
    Array([0.       , 1.5707963], dtype=float32)
    """
    return unary(trigonometric.acos, x)


def asin(x: ArrayLike, /) -> Array:
    """The inverse sine of each element, in radians from -pi/2 to pi/2; NaN for real numbers outside [-1, 1].

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.asin(aio.asarray([0.0, 1.0]))
    Array([0.       , 1.5707963], dtype=float32)
    """
    return unary(trigonometric.asin, x)


def atan(x: ArrayLike, /) -> Array:
    """The inverse tangent of each element, in radians from -pi/2 to pi/2.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.atan(aio.asarray([0.0, 1.0]))
    Array([0.       , 0.7853981], dtype=float32)
    """
    return unary(trigonometric.atan, x)


def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The angle of each point (x2, x1), in radians from -pi to pi; all quadrants and signed zeros are told apart.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.atan2(aio.asarray([1.0, -1.0]), aio.asarray([0.0, -1.0]))
    Array([ 1.5707964, -2.3561945], dtype=float32)
    """
    return binary(trigonometric.atan2, x1, x2)


def cos(x: ArrayLike, /) -> Array:
    """The cosine of each element, which is in radians; accurate also for large ones.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.cos(aio.asarray([0.0, 1.0]))
    Array([1.       , 0.5403023], dtype=float32)
    """
    return unary(trigonometric.cos, x)


def deg2rad(x: ArrayLike, /) -> Array:
    """Each element from degrees to radians; also called ``radians``.

    Real floating-point dtypes; integers and booleans become real numbers first. ``TypeError`` for complex
    ones.

    >>> aio.deg2rad(aio.asarray([180.0, 90.0]))
    Array([3.1415927, 1.5707964], dtype=float32)
    """
    return unary(trigonometric.deg2rad, x)


def rad2deg(x: ArrayLike, /) -> Array:
    """Each element from radians to degrees; also called ``degrees``.

    Real floating-point dtypes; integers and booleans become real numbers first. ``TypeError`` for complex
    ones.

    >>> aio.rad2deg(aio.asarray([0.0, 1.0]))
    Array([ 0.     , 57.29578], dtype=float32)
    """
    return unary(trigonometric.rad2deg, x)


def sin(x: ArrayLike, /) -> Array:
    """The sine of each element, which is in radians; accurate also for large ones.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.sin(aio.asarray([0.0, 1.0]))
    Array([0.        , 0.84147096], dtype=float32)
    """
    return unary(trigonometric.sin, x)


def sinc(x: ArrayLike, /) -> Array:
    """``sin(pi*x) / (pi*x)``, and 1 at 0; exactly 0 at other integers.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.sinc(aio.asarray([0.0, 0.5, 1.0]))
    Array([1.        , 0.63661975, 0.        ], dtype=float32)
    """
    return unary(trigonometric.sinc, x)


def tan(x: ArrayLike, /) -> Array:
    """The tangent of each element, which is in radians; accurate also for large ones.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.tan(aio.asarray([0.0, 1.0]))
    Array([0.       , 1.5574077], dtype=float32)
    """
    return unary(trigonometric.tan, x)


degrees = rad2deg
radians = deg2rad
