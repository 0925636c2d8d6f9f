"""Trigonometric functions, their inverses, and the units of angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base import dtypes
from . import _complex_functions, _elementary, _real_functions
from ._builders import binary_floating, by_kind, in_float32, unary_floating
from ._elementary import round_nearest_even, sine
from ._primitives import divide, equal, multiply, negative, select, subtract

if TYPE_CHECKING:
    from .._graph import Node


def _sinc(x: Node) -> Node:
    # The nearest integer goes first, so that integers give 0 and large arguments keep their digits.
    whole = round_nearest_even(x)
    even = equal(multiply(round_nearest_even(multiply(whole, 0.5)), 2), whole)
    fraction = subtract(x, whole)
    wave = sine(multiply(fraction, math.pi))
    wave = select(even, wave, negative(wave))
    result = select(equal(fraction, 0), 0, divide(wave, multiply(x, math.pi)))
    return select(equal(x, 0), 1, result)


def _complex_sinc(z: Node) -> Node:
    turned = _elementary.by_parts(z, lambda x: multiply(x, math.pi))
    zero = equal(z, 0)
    return select(zero, 1, divide(_complex_functions.sin(turned), select(zero, 1, turned)))


def _atan2(y: Node, x: Node) -> Node:
    return _elementary.arc_tangent2(_elementary.without_subnormal(y), _elementary.without_subnormal(x))


sin = unary_floating("sin", by_kind(real=sine, complex=_complex_functions.sin))
cos = unary_floating("cos", by_kind(real=_elementary.cosine, complex=_complex_functions.cos))
tan = unary_floating("tan", by_kind(real=_elementary.tangent, complex=_complex_functions.tan))
asin = unary_floating("asin", by_kind(real=in_float32(_real_functions.asin), complex=_complex_functions.asin))
acos = unary_floating("acos", by_kind(real=in_float32(_real_functions.acos), complex=_complex_functions.acos))
atan = unary_floating("atan", by_kind(real=in_float32(_real_functions.atan), complex=_complex_functions.atan))
atan2 = binary_floating("atan2", _atan2, dtypes.REAL_FLOATING)
sinc = unary_floating("sinc", by_kind(real=in_float32(_sinc), complex=_complex_sinc))
deg2rad = unary_floating("deg2rad", lambda x: multiply(x, math.pi / 180), dtypes.REAL_FLOATING)
rad2deg = unary_floating("rad2deg", lambda x: multiply(x, 180 / math.pi), dtypes.REAL_FLOATING)
