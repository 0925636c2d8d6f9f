"""The arithmetic operators: ``+ - * / // % **``, negation, absolute value, and their kin."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from .._graph import Node, definition
from . import _complex_functions, _elementary, _primitives
from ._builders import NARROW, binary, binary_floating, by_kind, by_kind_2, in_float32_2, unary, unary_floating
from ._elementary import copy_sign
from ._loops import choose
from ._primitives import bit_and, select
from ._rules import BROADCAST, check_dtype, convert, full_like, promote, scalar
from .statistical import REDUCE

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _opposite_signs(x: Node, y: Node) -> Node:
    return _primitives.not_equal(_primitives.less(x, 0), _primitives.less(y, 0))


def _floor_divide_integers(x: Node, y: Node) -> Node:
    # By zero gives 0, as NumPy does; StableHLO leaves it to the device.
    by_zero = _primitives.equal(y, 0)
    divisor = select(by_zero, 1, y)
    quotient = _primitives.divide(x, divisor)
    if x.dtype in dtypes.SIGNED:
        inexact = _primitives.not_equal(_primitives.remainder(x, divisor), 0)
        below = bit_and(inexact, _opposite_signs(x, divisor))
        quotient = select(below, _primitives.subtract(quotient, 1), quotient)
    return select(by_zero, 0, quotient)


def _remainder_integers(x: Node, y: Node) -> Node:
    rest = _truncated_remainder(x, y)
    if x.dtype in dtypes.SIGNED:
        correct = bit_and(_primitives.not_equal(rest, 0), _opposite_signs(rest, y))
        rest = select(correct, _primitives.add(rest, y), rest)
    return rest


def _truncated_remainder(x: Node, y: Node) -> Node:
    by_zero = _primitives.equal(y, 0)
    return select(by_zero, 0, _primitives.remainder(x, select(by_zero, 1, y)))


def _divmod_real(x: Node, y: Node) -> tuple[Node, Node]:
    """Python's floor division and modulo, which agree also of and by infinities; by zero, the plain quotient."""
    zero = full_like(x, 0)
    truncated = _primitives.remainder(x, y)
    exact = _primitives.equal(truncated, 0)
    correct = bit_and(_primitives.not_equal(truncated, 0), _opposite_signs(truncated, y))
    rest = select(correct, _primitives.add(truncated, y), truncated)
    rest = select(exact, copy_sign(zero, y), rest)
    # The difference is a multiple of y, so that the division is exact but for its rounding.
    quotient = _primitives.divide(_primitives.subtract(x, truncated), y)
    quotient = select(correct, _primitives.subtract(quotient, 1), quotient)
    down = _primitives.floor(quotient)
    up = _primitives.greater(_primitives.subtract(quotient, down), 0.5)
    nearest = select(up, _primitives.add(down, 1), down)
    plain = _primitives.divide(x, y)
    nearest = select(_primitives.equal(quotient, 0), copy_sign(zero, plain), nearest)
    return select(_primitives.equal(y, 0), plain, nearest), rest


def _divmod(x: Node, y: Node) -> tuple[Node, Node]:
    if x.dtype in dtypes.INTEGRAL:
        return _floor_divide_integers(x, y), _remainder_integers(x, y)
    if x.dtype in NARROW:
        quotient, rest = _divmod_real(convert(x, dtypes.float32), convert(y, dtypes.float32))
        return convert(quotient, x.dtype), convert(rest, x.dtype)
    return _divmod_real(x, y)


def _sign_of_integer(x: Node) -> Node:
    return _primitives.sign(x) if x.dtype in dtypes.SIGNED else _primitives.minimum(x, 1)


def _power_of_real(x: Node, y: Node) -> Node:
    return _primitives.power(_elementary.without_subnormal(x), _elementary.without_subnormal(y))


# XLA reads as many bits of an exponent.
_EXPONENT_BITS = 6


def _power_of_integers(x: Node, y: Node) -> Node:
    """Modulo two to the power of the width; to negative powers rounded towards zero."""
    width = int(y.dtype.itemsize * 8)
    if dtypes.iinfo(y.dtype).max < 1 << _EXPONENT_BITS:
        return _primitives.power(x, y)
    given = y.inputs[0] if y.op is BROADCAST else y
    axes = tuple(range(given.ndim))
    largest = REDUCE(given, scalar(0, y.dtype), axes=axes, combine="stablehlo.maximum") if axes else given
    beyond = _primitives.greater_equal(largest, 1 << _EXPONENT_BITS)

    def in_pieces(base: Node, exponent: Node) -> Node:
        piece = full_like(exponent, (1 << _EXPONENT_BITS) - 1)
        result = _primitives.power(base, bit_and(exponent, piece))
        power, rest = base, exponent
        for _ in range(_EXPONENT_BITS, width, _EXPONENT_BITS):
            for _ in range(_EXPONENT_BITS):
                power = _primitives.multiply(power, power)
            rest = _primitives.shift_right(rest, full_like(rest, _EXPONENT_BITS))
            result = _primitives.multiply(result, _primitives.power(power, bit_and(rest, piece)))
        return select(_primitives.less(exponent, 0), _primitives.power(base, exponent), result)

    return choose(beyond, in_pieces, _primitives.power, (x, y))


_power = by_kind_2(integral=_power_of_integers, real=_power_of_real, complex=_complex_functions.power)


def _sign_of_real(x: Node) -> Node:
    return select(_primitives.equal(x, 0), 0, _primitives.sign(x))  # of -0 too


def _heaviside(x: Node, at_zero: Node) -> Node:
    step = select(_primitives.less(x, 0), 0, select(_primitives.greater(x, 0), 1, at_zero))
    return select(_elementary.is_nan(x), x, step)


add = binary("add", _primitives.add, dtypes.ALL)  # of booleans: or
subtract = binary("subtract", _primitives.subtract)
multiply = binary("multiply", _primitives.multiply, dtypes.ALL)  # of booleans: and
divide = binary_floating("divide", _primitives.divide, out_of_range=float)
floor_divide = binary("floor_divide", lambda x, y: _divmod(x, y)[0], dtypes.REAL)
remainder = binary("remainder", lambda x, y: _divmod(x, y)[1], dtypes.REAL)
pow = binary("pow", _power)
fmod = binary("fmod", by_kind_2(integral=_truncated_remainder, real=_primitives.remainder), dtypes.REAL)


@definition
def float_power(x1: Node, x2: Node) -> Node:
    x1, x2 = promote("float_power", x1, x2)
    wide = dtypes.complex128 if x1.dtype in dtypes.COMPLEX else dtypes.float64
    check_dtype("float_power", x1, dtypes.ALL)
    return _power(convert(x1, wide), convert(x2, wide))


# Exponents up to which products are as accurate as one may expect, 5 ulp.
POWERS_BY_MULTIPLICATION = range(-4, 9)


def is_product(x: DType, exponent: object) -> bool:
    """Whether ``integer_power`` computes a power of ``x``. ``ValueError`` for negative powers of integers."""
    kind = type(exponent)
    if kind is float or not isinstance(exponent, (int, np.integer)):
        return False
    if exponent < 0:
        _check_power(x, int(exponent))
    return kind is int and exponent in POWERS_BY_MULTIPLICATION


def _check_power(x: DType, exponent: int) -> None:
    """``ValueError`` for a negative power of integers, where the exponent is known before the values are."""
    if exponent < 0 and x in dtypes.INTEGRAL_OR_BOOLEAN:
        raise ValueError(
            f"pow: dtype {x.name} to the power {exponent}; integers have no negative integer powers. Cast the array "
            "with astype(), or write a floating-point exponent"
        )


@definition
def integer_power(x: Node, exponent: int) -> Node:
    """``x ** exponent`` by multiplication, many times faster than ``pow``; for small exponents, which are static."""
    if x.dtype == dtypes.bool_:
        x = convert(x, dtypes.default_for_rank(1))
    _check_power(x.dtype, exponent)
    if exponent < 0:
        # Not 1 / x**n: that may vanish although the result does not overflow.
        x = _primitives.divide(1, x)
    result: Node | None = None
    for bit in bin(builtins.abs(exponent))[:1:-1]:
        if bit == "1":
            result = x if result is None else _primitives.multiply(result, x)
        x = _primitives.multiply(x, x)
    return full_like(x, 1) if result is None else result


@definition
def divmod(x1: Node, x2: Node) -> tuple[Node, Node]:
    x1, x2 = promote("divmod", x1, x2)
    check_dtype("divmod", x1, dtypes.REAL)
    return _divmod(x1, x2)


negative = unary("negative", _primitives.negative)
positive = unary("positive", lambda x: x)
abs = unary(
    "abs",
    by_kind(
        boolean=lambda x: x,
        integral=lambda x: _primitives.absolute(x) if x.dtype in dtypes.SIGNED else x,
        real=_primitives.absolute,
        complex=_elementary.modulus,
    ),
    dtypes.ALL,
)
sign = unary("sign", by_kind(integral=_sign_of_integer, real=_sign_of_real, complex=_complex_functions.sign))
heaviside = binary_floating("heaviside", _heaviside, dtypes.REAL_FLOATING)
square = unary("square", lambda x: _primitives.multiply(x, x))
sqrt = unary_floating("sqrt", by_kind(real=_primitives.sqrt, complex=_complex_functions.sqrt))
cbrt = unary_floating("cbrt", lambda x: _elementary.cube_root(_elementary.without_subnormal(x)), dtypes.REAL_FLOATING)
reciprocal = unary_floating("reciprocal", lambda x: _primitives.divide(1, x))
hypot = binary_floating("hypot", in_float32_2(_elementary.hypotenuse), dtypes.REAL_FLOATING)
