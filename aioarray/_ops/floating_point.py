"""Classes, signs and neighbours of floating-point numbers.

Exact also for subnormal numbers, which arithmetic on most devices takes for zero.
"""

from __future__ import annotations

import math

import ml_dtypes

from .._base import dtypes
from .._graph import Node, definition
from . import _elementary
from ._builders import NARROW, Unary, binary_floating, unary, unary_floating
from ._elementary import copy_sign, is_finite, is_infinite, is_nan, parts, sign_bit, signed_bits
from ._primitives import add, bit_and, bit_or, bitcast, equal, less, select, subtract
from ._rules import broadcast_shapes, broadcast_to, check_dtype, convert, full_like, scalar


def _classified(rule: Unary, of_integers: bool, either: bool) -> Unary:
    """``rule`` gives booleans; complex numbers have the property if either part, or both parts, have it."""

    def computed(x: Node) -> Node:
        if x.dtype in dtypes.INTEGRAL_OR_BOOLEAN:
            return broadcast_to(scalar(of_integers, dtypes.bool_), x.shape)
        if x.dtype in dtypes.COMPLEX:
            real, imaginary = parts(x)
            return (bit_or if either else bit_and)(rule(real), rule(imaginary))
        # Several 8-bit dtypes have no infinity to compare with.
        return rule(convert(x, dtypes.float32) if x.dtype in NARROW else x)

    return computed


def _is_positive_infinity(x: Node) -> Node:
    return equal(x, math.inf)


def _is_negative_infinity(x: Node) -> Node:
    return equal(x, -math.inf)


def _order(x: Node) -> Node:
    """An integer that is greater for the greater number and one more for the next one; both zeros have 0."""
    integer = signed_bits(x)
    lowest = -sign_bit(x.dtype)
    return select(less(integer, 0), subtract(lowest, integer), integer)


def _next_after(x: Node, y: Node) -> Node:
    here, there = _order(x), _order(y)
    lowest = -sign_bit(x.dtype)
    stepped = select(less(here, there), add(here, 1), subtract(here, 1))
    pattern = select(less(stepped, 0), subtract(lowest, stepped), stepped)
    # From the smallest number towards zero: the zero keeps the sign.
    result = select(equal(stepped, 0), copy_sign(full_like(x, 0), x), bitcast(pattern, x.dtype))
    result = select(equal(here, there), y, result)
    return select(bit_or(is_nan(x), is_nan(y)), math.nan, result)


isfinite = unary("isfinite", _classified(is_finite, True, either=False), dtypes.ALL)
isinf = unary("isinf", _classified(is_infinite, False, either=True), dtypes.ALL)
isnan = unary("isnan", _classified(is_nan, False, either=True), dtypes.ALL)
isposinf = unary("isposinf", _classified(_is_positive_infinity, False, either=True), dtypes.REAL_OR_BOOLEAN)
isneginf = unary("isneginf", _classified(_is_negative_infinity, False, either=True), dtypes.REAL_OR_BOOLEAN)
signbit = unary_floating("signbit", lambda x: less(signed_bits(x), 0), dtypes.REAL_FLOATING)
copysign = binary_floating("copysign", copy_sign, dtypes.REAL_FLOATING)
nextafter = binary_floating("nextafter", _next_after, dtypes.REAL_FLOATING)


@definition
def nan_to_num(x: Node, nan: Node, posinf: Node | None, neginf: Node | None) -> Node:
    # Nodes, not static: keys of programs do not tell 0.0 from -0.0, nor find NaN again.
    check_dtype("nan_to_num", x, dtypes.ALL)
    if x.dtype in dtypes.INTEGRAL_OR_BOOLEAN:
        return x
    real = dtypes.real_of(x.dtype)
    limits = ml_dtypes.finfo(real)

    def replacement(value: Node | None, default: float) -> Node:
        value = scalar(default, real) if value is None else convert(value, real)
        shape = broadcast_shapes("nan_to_num", value.shape, x.shape)
        if shape != x.shape:
            raise ValueError(f"nan_to_num: a replacement of shape {value.shape} does not broadcast to x, {x.shape}")
        return broadcast_to(value, shape)

    wide = dtypes.float32 if real in NARROW else real
    of_nan = convert(replacement(nan, 0.0), wide)
    highest = convert(replacement(posinf, float(limits.max)), wide)
    lowest = convert(replacement(neginf, float(limits.min)), wide)

    def replaced(part: Node) -> Node:
        part = convert(part, wide)
        part = select(is_nan(part), of_nan, part)
        part = select(_is_positive_infinity(part), highest, part)
        return convert(select(_is_negative_infinity(part), lowest, part), real)

    return _elementary.by_parts(x, replaced) if x.dtype in dtypes.COMPLEX else replaced(x)
