"""The arithmetic operators: ``+ - * / // % **``, negation, absolute value, and their kin."""

from __future__ import annotations

from .. import _dtypes
from .._graph import Node
from . import _elementary, _primitives
from ._builders import binary, binary_floating, by_kind, by_kind_2, in_float32_2, unary
from ._primitives import bit_and, bit_or, bitcast, select
from ._rules import convert, full_like

# These have no negative zero: its bit pattern is their NaN.
_WITHOUT_NEGATIVE_ZERO = frozenset(
    {_dtypes.float8_e4m3b11fnuz, _dtypes.float8_e4m3fnuz, _dtypes.float8_e5m2fnuz}
)


def copy_sign(magnitude: Node, sign: Node) -> Node:
    """``magnitude`` with the sign bit of ``sign``; both real floating-point of one dtype."""
    dtype = magnitude.dtype
    if dtype in _WITHOUT_NEGATIVE_ZERO:
        wide = copy_sign(convert(magnitude, _dtypes.float32), convert(sign, _dtypes.float32))
        return convert(wide, dtype)
    sign_bit = 1 << (8 * dtype.itemsize - 1)
    kept = bit_and(_elementary.bits(magnitude), sign_bit - 1)
    return bitcast(bit_or(kept, bit_and(_elementary.bits(sign), sign_bit)), dtype)


def _opposite_signs(x: Node, y: Node) -> Node:
    return _primitives.not_equal(_primitives.less(x, 0), _primitives.less(y, 0))


def _floor_divide_integers(x: Node, y: Node) -> Node:
    # By zero gives 0, as NumPy does; StableHLO leaves it to the device.
    by_zero = _primitives.equal(y, 0)
    divisor = select(by_zero, 1, y)
    quotient = _primitives.divide(x, divisor)
    if x.dtype in _dtypes.SIGNED:
        inexact = _primitives.not_equal(_primitives.remainder(x, divisor), 0)
        below = bit_and(inexact, _opposite_signs(x, divisor))
        quotient = select(below, _primitives.subtract(quotient, 1), quotient)
    return select(by_zero, 0, quotient)


def _remainder_integers(x: Node, y: Node) -> Node:
    divisor = select(_primitives.equal(y, 0), 1, y)
    rest = _primitives.remainder(x, divisor)
    if x.dtype in _dtypes.SIGNED:
        correct = bit_and(_primitives.not_equal(rest, 0), _opposite_signs(rest, divisor))
        rest = select(correct, _primitives.add(rest, divisor), rest)
    return rest


def _divmod_real(x: Node, y: Node) -> tuple[Node, Node]:
    """Python's floor division and modulo, with NumPy's answers for infinities and zeros."""
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


add = binary("add", _primitives.add, _dtypes.ALL)  # of booleans: or
subtract = binary("subtract", _primitives.subtract)
multiply = binary("multiply", _primitives.multiply, _dtypes.ALL)  # of booleans: and
divide = binary_floating("divide", _primitives.divide)
floor_divide = binary(
    "floor_divide",
    by_kind_2(integral=_floor_divide_integers, real=in_float32_2(lambda x, y: _divmod_real(x, y)[0])),
    _dtypes.REAL,
)
remainder = binary(
    "remainder",
    by_kind_2(integral=_remainder_integers, real=in_float32_2(lambda x, y: _divmod_real(x, y)[1])),
    _dtypes.REAL,
)
pow = binary("pow", _primitives.power)

negative = unary("negative", _primitives.negative)
positive = unary("positive", lambda x: x)
abs = unary(
    "abs",
    by_kind(
        boolean=lambda x: x,
        integral=lambda x: _primitives.absolute(x) if x.dtype in _dtypes.SIGNED else x,
        real=_primitives.absolute,
        complex=_elementary.modulus,
    ),
    _dtypes.ALL,
)
