"""Exponentials and logarithms: element-wise functions of the array API standard, and NumPy's everyday others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, binary, unary
from .._ops import exponential

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2"]


def exp(x: ArrayLike, /) -> Array:
    """e to the power of each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.exp(aio.asarray([0.0, 1.0]))
    Array([1.       , 2.7182817], dtype=float32)
    """
    return unary(exponential.exp, x)


def exp2(x: ArrayLike, /) -> Array:
    """2 to the power of each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.exp2(aio.asarray([-1.0, 3.0]))
    Array([0.5, 8. ], dtype=float32)
    """
    return unary(exponential.exp2, x)


def expm1(x: ArrayLike, /) -> Array:
    """``exp(x) - 1``, accurate for elements near 0.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.expm1(aio.asarray([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float32)
    """
    return unary(exponential.expm1, x)


def log(x: ArrayLike, /) -> Array:
    """The natural logarithm of each element; NaN for negative real numbers.

    The branch cut of complex numbers is the negative real axis. Floating-point dtypes; integers and booleans become
    real numbers first.

    >>> aio.log(aio.asarray([1.0, 10.0]))
    Array([0.       , 2.3025851], dtype=float32)
    """
    return unary(exponential.log, x)


def log10(x: ArrayLike, /) -> Array:
    """The logarithm to base 10 of each element, exact for powers of 10.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.log10(aio.asarray([1000.0, 0.01]))
    Array([ 3., -2.], dtype=float32)
    """
    return unary(exponential.log10, x)


def log1p(x: ArrayLike, /) -> Array:
    """``log(1 + x)``, accurate for elements near 0.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.log1p(aio.asarray([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float32)
    """
    return unary(exponential.log1p, x)


def log2(x: ArrayLike, /) -> Array:
    """The logarithm to base 2 of each element, exact for powers of 2.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.log2(aio.asarray([8.0, 0.25]))
    Array([ 3., -2.], dtype=float32)
    """
    return unary(exponential.log2, x)


def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``log(exp(x1) + exp(x2))``, without overflow on the way.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logaddexp(aio.asarray([1000.0]), 1000.0)
    Array([1000.6932], dtype=float32)
    """
    return binary(exponential.logaddexp, x1, x2)


def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``log2(2**x1 + 2**x2)``, without overflow on the way.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logaddexp2(aio.asarray([1000.0]), 1000.0)
    Array([1001.], dtype=float32)
    """
    return binary(exponential.logaddexp2, x1, x2)
