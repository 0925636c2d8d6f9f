"""Exponential, hyperbolic and inverse functions of real numbers (float32 or float64), where XLA's own lack accuracy.

The bounds reached are stated, and tested, in ``tests/_ops/test_accuracy.py``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base import dtypes
from . import _primitives
from ._compensated import opaque
from ._elementary import copy_sign, exponent_and_significand, without_subnormal
from ._primitives import (
    absolute,
    add,
    bit_and,
    bit_or,
    divide,
    equal,
    exp,
    greater,
    less,
    log,
    multiply,
    select,
    sqrt,
    subtract,
)
from ._rules import full_like

if TYPE_CHECKING:
    from .._graph import Node

# Arguments whose exponential is still finite, with room for a factor.
LARGE = {dtypes.float32: 80.0, dtypes.float64: 700.0}


def log1p(x: Node) -> Node:
    """``log(1 + x)``."""
    if x.dtype != dtypes.float64:
        return _primitives.log1p(x)
    # jaxlib 0.10's own is 130 ulp off near -0.41. Here: the logarithm of the rounded sum, corrected for its rounding.
    one = opaque(1, x)
    u = add(x, one)
    correction = divide(subtract(subtract(u, one), x), u)
    result = subtract(log(u), correction)
    # Where the sum is 0 or infinite the correction is NaN; where it is 1 the result is x, with its sign if it is 0.
    result = select(bit_or(equal(u, 0), equal(u, math.inf)), log(u), result)
    return select(equal(u, 1), x, result)


def _ordinary(x: Node) -> Node:
    """Neither zero, negative, infinite nor NaN: where the exponent's bits say what they should."""
    return bit_and(greater(x, 0), less(x, math.inf))


def log2(x: Node) -> Node:
    """Base-2 logarithm, exact for powers of two."""
    x = without_subnormal(x)
    exponent, significand = exponent_and_significand(x)
    result = add(exponent, multiply(log(significand), 1 / math.log(2)))
    return select(_ordinary(x), result, log(x))


# log10(2): so many digits that products with an exponent are exact, and the rest.
_LOG10_2 = {
    dtypes.float32: (39457 / 2**17, -3.0243555500547862e-06),
    dtypes.float64: (2647887844335 / 2**43, 2.8363394551044964e-14),
}


def log10(x: Node) -> Node:
    """Base-10 logarithm, exact for powers of ten."""
    x = without_subnormal(x)
    exponent, significand = exponent_and_significand(x)
    high, low = _LOG10_2[x.dtype]
    rest = add(multiply(log(significand), 1 / math.log(10)), multiply(exponent, low))
    result = add(multiply(exponent, high), rest)
    return select(_ordinary(x), result, log(x))


def half_exponential(magnitude: Node) -> Node:
    """``exp(magnitude) / 2`` that does not overflow before it must."""
    # Halving a large argument is exact, subtracting log(2) from it is not.
    root = exp(multiply(magnitude, 0.5))
    return multiply(multiply(root, 0.5), root)


# 1/3!, 1/5!, ...: enough terms for arguments up to 1.
_SINH_SERIES = {
    dtypes.float32: tuple(1 / math.factorial(k) for k in range(3, 13, 2)),
    dtypes.float64: tuple(1 / math.factorial(k) for k in range(3, 21, 2)),
}


def sinh(x: Node) -> Node:
    """Hyperbolic sine."""
    magnitude = absolute(x)
    square = multiply(x, x)
    *lower, series = _SINH_SERIES[x.dtype]
    terms = full_like(x, series)
    for coefficient in reversed(lower):
        terms = add(multiply(terms, square), coefficient)
    small = add(x, multiply(multiply(x, square), terms))
    e = exp(magnitude)
    middle = subtract(multiply(e, 0.5), divide(0.5, e))
    large = greater(magnitude, LARGE[x.dtype])
    signed = copy_sign(select(large, half_exponential(magnitude), middle), x)
    return select(less(magnitude, 1), small, signed)


def cosh(x: Node) -> Node:
    """Hyperbolic cosine."""
    magnitude = absolute(x)
    e = exp(magnitude)
    result = add(multiply(e, 0.5), divide(0.5, e))
    large = greater(magnitude, LARGE[x.dtype])
    return select(large, half_exponential(magnitude), result)


# Where the inverse sine is the number itself, to the last digit.
_ASIN_SMALL = {dtypes.float32: 1e-4, dtypes.float64: 1e-8}

_atan = _primitives._unary("atan", "chlo.atan")


def atan(x: Node) -> Node:
    """Inverse tangent."""
    # XLA's is much faster than atan2, which asks the C library for each number.
    result = _atan(x)
    if x.dtype != dtypes.float32:
        return result
    # Below 2**-10 it may give the number itself, 5 ulp off.
    square = multiply(x, x)
    series = multiply(x, subtract(1, multiply(square, subtract(1 / 3, multiply(square, 0.2)))))
    return select(less(absolute(x), 2.0**-8), series, result)


def asin(x: Node) -> Node:
    """Inverse sine; NaN outside [-1, 1]."""
    cosine = sqrt(multiply(subtract(1, x), add(x, 1)))
    result = multiply(atan(divide(x, add(cosine, 1))), 2)
    # Half of a tiny number may vanish.
    return select(less(absolute(x), _ASIN_SMALL[x.dtype]), x, result)


def acos(x: Node) -> Node:
    """Inverse cosine; NaN outside [-1, 1]."""
    return multiply(atan(sqrt(divide(subtract(1, x), add(x, 1)))), 2)


def asinh(x: Node) -> Node:
    """Inverse hyperbolic sine."""
    a = absolute(x)
    square = multiply(a, a)
    # a + a*a / (1 + sqrt(1 + a*a)) keeps the digits of small a.
    small = log1p(add(a, divide(square, add(sqrt(add(square, 1)), 1))))
    large = add(log(a), math.log(2))
    return copy_sign(select(greater(a, _SQUARABLE[x.dtype]), large, small), x)


def acosh(x: Node) -> Node:
    """Inverse hyperbolic cosine; NaN below 1."""
    above = select(less(x, 1), math.nan, subtract(x, 1))
    small = log1p(add(above, sqrt(multiply(above, add(above, 2)))))
    large = add(log(x), math.log(2))
    return select(greater(x, _SQUARABLE[x.dtype]), large, small)


# Above it, 1 is lost beside the square, which is still finite.
_SQUARABLE = {dtypes.float32: 1e10, dtypes.float64: 1e20}


def atanh(x: Node) -> Node:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
    a = absolute(x)
    result = multiply(log1p(divide(multiply(a, 2), subtract(1, a))), 0.5)
    return copy_sign(result, x)
