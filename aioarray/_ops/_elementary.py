"""More elementwise operations on operands that agree already, in the manner of ``_primitives``.

The rest of StableHLO's, and what is made of the bits of floating-point numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from .._graph import Node, Op
from . import _primitives
from ._primitives import (
    _binary,
    _unary,
    absolute,
    bit_and,
    bit_or,
    bitcast,
    imaginary_part,
    make_complex,
    multiply,
    select,
)
from ._rules import REAL_PART, convert, full_like, predicate, stablehlo

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import DType

ceil = _unary("ceil", "stablehlo.ceil")
round_nearest_even = _unary("round", "stablehlo.round_nearest_even")
cube_root = _unary("cbrt", "stablehlo.cbrt")
expm1 = _unary("expm1", "stablehlo.exponential_minus_one")
logistic = _unary("logistic", "stablehlo.logistic")
sine = _unary("sin", "stablehlo.sine")
cosine = _unary("cos", "stablehlo.cosine")
tangent = _unary("tan", "stablehlo.tan")
hyperbolic_tangent = _unary("tanh", "stablehlo.tanh")
population_count = _unary("bitwise_count", "stablehlo.popcnt")

arc_tangent2 = _binary("atan2", "stablehlo.atan2")
shift_right_arithmetic = _binary("arithmetic_right_shift", "stablehlo.shift_right_arithmetic")

_IS_FINITE = Op("isfinite", predicate, stablehlo("stablehlo.is_finite"))

_UNSIGNED = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}
_SIGNED = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}

# These have no negative zero: its bit pattern is their NaN.
WITHOUT_NEGATIVE_ZERO = frozenset({dtypes.float8_e4m3b11fnuz, dtypes.float8_e4m3fnuz, dtypes.float8_e5m2fnuz})
# dtype -> (number of explicit significand bits, exponent bias).
_LAYOUT = {dtypes.float32: (23, 127), dtypes.float64: (52, 1023)}


def parts(x: Node) -> tuple[Node, Node]:
    """Real and imaginary part of a complex node."""
    return REAL_PART(x), imaginary_part(x)


def by_parts(x: Node, rule: Callable[[Node], Node]) -> Node:
    """``rule`` on the real and the imaginary part."""
    real, imaginary = parts(x)
    return make_complex(rule(real), rule(imaginary))


def modulus(x: Node) -> Node:
    """The absolute value of a complex node; infinite where a part is, even beside NaN."""
    return hypotenuse(*parts(x))


# Squares of numbers between 1/a and a keep their digits, where a is the first; the second brings all others there.
_SQUARABLE = {dtypes.float32: (2.0**50, 2.0**66), dtypes.float64: (2.0**450, 2.0**514)}


def hypotenuse(x: Node, y: Node) -> Node:
    """``sqrt(x*x + y*y)`` of float32 or float64; exact where that is a whole number."""
    # XLA's own divides one by the other first, so that not even 5, 12, 13 comes out.
    a, b = absolute(x), absolute(y)
    longer = _primitives.maximum(a, b)
    limit, step = _SQUARABLE[x.dtype]
    is_small, is_large = _primitives.less(longer, 1 / limit), _primitives.greater(longer, limit)
    one = full_like(x, 1)
    scale = select(is_small, step, select(is_large, 1 / step, one))
    back = select(is_small, 1 / step, select(is_large, step, one))
    a, b = multiply(a, scale), multiply(b, scale)
    result = multiply(_primitives.sqrt(_primitives.add(multiply(a, a), multiply(b, b))), back)
    return select(bit_or(is_infinite(x), is_infinite(y)), math.inf, result)


def is_finite(x: Node) -> Node:
    """Whether real floating-point values are neither infinite nor NaN."""
    return _IS_FINITE(x)


def is_infinite(x: Node) -> Node:
    """Whether real floating-point values are infinite; not for dtypes without infinities."""
    return _primitives.equal(absolute(x), math.inf)


def is_nan(x: Node) -> Node:
    """Whether values are NaN."""
    return _primitives.not_equal(x, x)


def bits(x: Node) -> Node:
    """The bits of ``x`` as an unsigned integer of the same width."""
    return bitcast(x, _UNSIGNED[x.dtype.itemsize])


def signed_bits(x: Node) -> Node:
    """The bits of ``x`` as a signed integer of the same width: negative where the sign bit is set."""
    return bitcast(x, _SIGNED[x.dtype.itemsize])


def sign_bit(dtype: DType) -> int:
    """The bit of ``bits`` that is the sign."""
    return 1 << (8 * dtype.itemsize - 1)


def copy_sign(magnitude: Node, sign: Node) -> Node:
    """``magnitude`` with the sign bit of ``sign``; both real floating-point of one dtype."""
    dtype = magnitude.dtype
    if dtype in WITHOUT_NEGATIVE_ZERO:
        wide = copy_sign(convert(magnitude, dtypes.float32), convert(sign, dtypes.float32))
        return convert(wide, dtype)
    mask = sign_bit(dtype)
    return bitcast(bit_or(bit_and(bits(magnitude), mask - 1), bit_and(bits(sign), mask)), dtype)


def without_subnormal(x: Node) -> Node:
    """``x`` with subnormal float32 and float64 numbers as the zeros of their sign.

    XLA's CPU programs take them as zero in arithmetic, but not in all comparisons, nor where the bits are read. What is
    made of both is neither right for them nor for zero, unless it begins with this.
    """
    if x.dtype not in _LAYOUT:
        return x
    sign = sign_bit(x.dtype)
    smallest = 1 << _LAYOUT[x.dtype][0]
    is_small = _primitives.less(bit_and(bits(x), sign - 1), smallest)
    return select(is_small, bitcast(bit_and(bits(x), sign), x.dtype), x)


def exponent_and_significand(x: Node) -> tuple[Node, Node]:
    """``x`` as ``2**exponent * significand``, the significand in [sqrt(1/2), sqrt(2)); for normal positive ``x``."""
    width, bias = _LAYOUT[x.dtype]
    one = bias << width
    # Adding what lies between sqrt(1/2) and 1 carries into the exponent where the significand is above sqrt(2).
    below = one - bits_of(math.sqrt(0.5), x.dtype)
    shifted = _primitives.add(bits(x), below)
    exponent = _primitives.subtract(convert(_primitives.shift_right(shifted, width), _SIGNED[4]), bias)
    fraction = bit_and(shifted, (1 << width) - 1)
    significand = bitcast(_primitives.add(fraction, one - below), x.dtype)
    return convert(exponent, x.dtype), significand


def bits_of(value: float, dtype: DType) -> int:
    """The bits of ``value`` rounded to ``dtype``."""
    return int(np.asarray(value, dtype).view(_UNSIGNED[dtype.itemsize]))
