"""Hyperbolic functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, unary
from .._ops import hyperbolic

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]


def acosh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic cosine of each element; NaN for real numbers below 1.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.acosh(aio.asarray([1.0, 2.0]))
    Array([0.      , 1.316958], dtype=float32)
    """
    return unary(hyperbolic.acosh, x)


def asinh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic sine of each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.asinh(aio.asarray([0.0, 1.0]))
    Array([0.        , 0.88137364], dtype=float32)
    """
    return unary(hyperbolic.asinh, x)


def atanh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic tangent of each element; NaN for real numbers outside [-1, 1].

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.atanh(aio.asarray([0.0, 0.5]))
    Array([0.        , 0.54930615], dtype=float32)
    """
    return unary(hyperbolic.atanh, x)


def cosh(x: ArrayLike, /) -> Array:
    """The hyperbolic cosine of each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.cosh(aio.asarray([0.0, 1.0]))
    Array([1.       , 1.5430806], dtype=float32)
    """
    return unary(hyperbolic.cosh, x)


def sinh(x: ArrayLike, /) -> Array:
    """The hyperbolic sine of each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.sinh(aio.asarray([0.0, 1.0]))
    Array([0.       , 1.1752012], dtype=float32)
    """
    return unary(hyperbolic.sinh, x)


def tanh(x: ArrayLike, /) -> Array:
    """The hyperbolic tangent of each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.tanh(aio.asarray([0.0, 1.0]))
    Array([0.       , 0.7615942], dtype=float32)
    """
    return unary(hyperbolic.tanh, x)
