"""Arithmetic: element-wise functions of the array API standard, and NumPy's everyday others."""

from __future__ import annotations

import numpy as np

from .._array import Array, ArrayLike, binary, call, unary
from .._base import dtypes
from .._ops import arithmetic

__all__ = [
    "abs",
    "add",
    "cbrt",
    "divide",
    "divmod",
    "float_power",
    "floor_divide",
    "fmod",
    "heaviside",
    "hypot",
    "multiply",
    "negative",
    "positive",
    "pow",
    "reciprocal",
    "remainder",
    "sign",
    "sqrt",
    "square",
    "subtract",
]


def abs(x: ArrayLike, /) -> Array:
    """The absolute value of each element; of complex numbers the length, which does not overflow on the way.

    Any dtype, kept, but of complex ones that of their real part. The least integer has none and stays.

    >>> aio.abs(aio.asarray([-2, 0, 3]))
    Array([2, 0, 3], dtype=int32)
    >>> aio.abs(aio.asarray([3 - 4j]))
    Array([5.], dtype=float32)
    """
    return unary(arithmetic.abs, x)


def add(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The sum of each pair of elements; of booleans, whether either is true.

    Any dtypes, which promote. ``ValueError`` for shapes that do not broadcast.

    >>> aio.add(aio.asarray([1, 2]), 10)
    Array([11, 12], dtype=int32)
    """
    return binary(arithmetic.add, x1, x2)


def cbrt(x: ArrayLike, /) -> Array:
    """The cube root of each element.

    Real floating-point dtypes; integers and booleans become real numbers first. ``TypeError`` for complex
    ones.

    >>> aio.cbrt(aio.asarray([-8.0, 27.0]))
    Array([-2.,  3.], dtype=float32)
    """
    return unary(arithmetic.cbrt, x)


def divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The quotient of each pair of elements.

    Floating-point dtypes, which promote; integers become real numbers first: float64 where they are int64 or uint64,
    else the default real dtype. ``ValueError`` for shapes that do not broadcast.

    >>> aio.divide(aio.asarray([1, 2]), 4)
    Array([0.25, 0.5 ], dtype=float32)
    """
    return binary(arithmetic.divide, x1, x2)


def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """``floor_divide`` and ``remainder`` of each pair of elements, at once.

    Real numeric dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.divmod(aio.asarray([7, -7]), 3)
    (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    return call(arithmetic.divmod, (x1, x2))


def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The first element to the power of the second in float64, or complex128, of whatever dtypes.

    ``ValueError`` for shapes that do not broadcast.

    >>> aio.float_power(aio.asarray([2, 4]), -1)
    Array([0.5 , 0.25], dtype=float64)
    """
    return call(arithmetic.float_power, (x1, x2))


def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The quotient of each pair of elements rounded down, as ``//`` does.

    Integers divided by zero give 0. It agrees with ``%``: of infinities NaN, of -1 by infinity -1, as in NumPy.
    Real numeric dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.floor_divide(aio.asarray([7, -7]), 2)
    Array([ 3, -4], dtype=int32)
    """
    return binary(arithmetic.floor_divide, x1, x2)


def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of each division rounded towards zero: it has the dividend's sign, as in C.

    Integers divided by zero give 0. Real numeric dtypes, which promote; ``TypeError`` for others. ``ValueError`` for
    shapes that do not broadcast.

    >>> aio.fmod(aio.asarray([7, -7]), 3)
    Array([ 1, -1], dtype=int32)
    """
    return binary(arithmetic.fmod, x1, x2)


def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 where the first element is negative, 1 where it is positive, the second element where it is 0.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.heaviside(aio.asarray([-2.0, 0.0, 3.0]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return binary(arithmetic.heaviside, x1, x2)


def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The length of the hypotenuse over each pair of legs; it does not overflow on the way.

    Real floating-point dtypes, which promote; integers become real numbers first. ``TypeError`` for
    complex ones. ``ValueError`` for shapes that do not broadcast.

    >>> aio.hypot(aio.asarray([3.0, 5.0]), aio.asarray([4.0, 12.0]))
    Array([ 5., 13.], dtype=float32)
    """
    return binary(arithmetic.hypot, x1, x2)


def multiply(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The product of each pair of elements; of booleans, whether both are true.

    Any dtypes, which promote. ``ValueError`` for shapes that do not broadcast.

    >>> aio.multiply(aio.asarray([1, 2]), 10)
    Array([10, 20], dtype=int32)
    """
    return binary(arithmetic.multiply, x1, x2)


def negative(x: ArrayLike, /) -> Array:
    """Each element with the opposite sign; unsigned integers wrap around.

    Numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.negative(aio.asarray([1.5, -2.0]))
    Array([-1.5,  2. ], dtype=float32)
    """
    return unary(arithmetic.negative, x)


def positive(x: ArrayLike, /) -> Array:
    """Each element as it is.

    Numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.positive(aio.asarray([1.5, -2.0]))
    Array([ 1.5, -2. ], dtype=float32)
    """
    return unary(arithmetic.positive, x)


def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The first element to the power of the second.

    Integers stay integers: too large results wrap around. A negative number as the exponent of integers raises
    ``ValueError``; in an array, it gives the power rounded towards zero.
    Small integer powers of complex numbers are exact products. Numeric
    dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.pow(aio.asarray([2.0, 3.0]), 2)
    Array([4., 9.], dtype=float32)
    """
    if isinstance(x1, (Array, np.ndarray, np.generic)) and arithmetic.is_product(dtypes.as_dtype(x1.dtype), x2):
        return call(arithmetic.integer_power, (x1,), x2)
    return binary(arithmetic.pow, x1, x2)


def reciprocal(x: ArrayLike, /) -> Array:
    """1 divided by each element.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.reciprocal(aio.asarray([2.0, -4.0]))
    Array([ 0.5 , -0.25], dtype=float32)
    """
    return unary(arithmetic.reciprocal, x)


def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of each division rounded down: it has the divisor's sign, as ``%`` in Python.

    Integers divided by zero give 0. Real numeric dtypes, which promote; ``TypeError`` for others. ``ValueError`` for
    shapes that do not broadcast.

    >>> aio.remainder(aio.asarray([7, -7]), 3)
    Array([1, 2], dtype=int32)
    """
    return binary(arithmetic.remainder, x1, x2)


def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1 by the sign of each element; of complex numbers, ``x / abs(x)``.

    Numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.sign(aio.asarray([-2.5, 0.0, 7.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return unary(arithmetic.sign, x)


def sqrt(x: ArrayLike, /) -> Array:
    """The square root of each element; NaN for negative real numbers.

    Of complex numbers the root in the right half plane, the branch cut along the negative real axis. Floating-point
    dtypes; integers and booleans become real numbers first.

    >>> aio.sqrt(aio.asarray([4.0, 2.25]))
    Array([2. , 1.5], dtype=float32)
    """
    return unary(arithmetic.sqrt, x)


def square(x: ArrayLike, /) -> Array:
    """Each element times itself.

    Numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.square(aio.asarray([1.5, -2.0]))
    Array([2.25, 4.  ], dtype=float32)
    """
    return unary(arithmetic.square, x)


def subtract(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The difference of each pair of elements.

    Numeric dtypes, which promote; ``TypeError`` for others. ``ValueError`` for shapes that do not broadcast.

    >>> aio.subtract(aio.asarray([1, 2]), 10)
    Array([-9, -8], dtype=int32)
    """
    return binary(arithmetic.subtract, x1, x2)
