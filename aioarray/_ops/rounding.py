"""Rounding to integers and decimals."""

from __future__ import annotations

import ml_dtypes

from .._base import dtypes
from .._graph import Node, definition
from . import _elementary, _primitives
from ._builders import NARROW, Unary, unary
from ._compensated import opaque
from ._elementary import round_nearest_even
from ._primitives import absolute, add, bit_and, bit_or, divide, equal, greater, less, multiply, select, subtract
from ._rules import check_dtype, convert, full_like
from .arithmetic import floor_divide


def _of_floating(rule: Unary) -> Unary:
    """Integers are rounded already."""
    return lambda x: x if x.dtype in dtypes.INTEGRAL else rule(x)


def _trunc(x: Node) -> Node:
    return select(less(x, 0), _elementary.ceil(x), _primitives.floor(x))


def _round_decimals(x: Node, decimals: int) -> Node:
    if x.dtype in NARROW:
        return convert(_round_decimals(convert(x, dtypes.float32), decimals), x.dtype)
    factor = 10.0 ** min(abs(decimals), 300 if x.dtype == dtypes.float64 else 38)
    # XLA would multiply by the rounded reciprocal of a constant.
    divisor = opaque(factor, x)
    scaled = multiply(x, factor) if decimals > 0 else divide(x, divisor)
    rounded = round_nearest_even(scaled)
    result = divide(rounded, divisor) if decimals > 0 else multiply(rounded, factor)
    # Numbers without that many decimals are rounded already; scaled, they may overflow.
    whole = _primitives.greater_equal(absolute(scaled), 2.0 ** ml_dtypes.finfo(x.dtype).nmant)
    return select(whole, x, result)


def _round_integers(x: Node, decimals: int) -> Node:
    if decimals >= 0:
        return x
    unit = 10**-decimals
    if unit > dtypes.iinfo(x.dtype).max:
        return multiply(x, 0)
    down = floor_divide(x, full_like(x, unit))
    rest = subtract(x, multiply(down, unit))
    half = unit // 2
    odd = equal(bit_and(down, 1), 1)
    up = bit_or(greater(rest, half), bit_and(equal(rest, half), odd))
    return multiply(select(up, add(down, 1), down), unit)


@definition
def round(x: Node, decimals: int) -> Node:
    check_dtype("round", x, dtypes.NUMERIC)
    if x.dtype in dtypes.INTEGRAL:
        return _round_integers(x, decimals)

    def rule(part: Node) -> Node:
        return round_nearest_even(part) if decimals == 0 else _round_decimals(part, decimals)

    return _elementary.by_parts(x, rule) if x.dtype in dtypes.COMPLEX else rule(x)


ceil = unary("ceil", _of_floating(_elementary.ceil), dtypes.REAL)
floor = unary("floor", _of_floating(_primitives.floor), dtypes.REAL)
trunc = unary("trunc", _of_floating(_trunc), dtypes.REAL)
