"""The rest of StableHLO's and CHLO's elementwise operations, in the manner of ``_primitives``."""

from __future__ import annotations

from .. import _dtypes
from .._dtypes import DType
from .._graph import Node, Op, array_spec
from ._primitives import Operand, _binary, _unary, bitcast
from ._rules import predicate, same2, stablehlo

ceil = _unary("ceil", "stablehlo.ceil")
round_nearest_even = _unary("round", "stablehlo.round_nearest_even")
reciprocal_square_root = _unary("rsqrt", "stablehlo.rsqrt")
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

_MODULUS = Op("abs", lambda x: array_spec(x.shape, _dtypes.real_of(x.dtype)), stablehlo("stablehlo.abs"))
_IS_FINITE = Op("isfinite", predicate, stablehlo("stablehlo.is_finite"))
_CLAMP = Op("clip", lambda low, x, high: same2(same2(low, x), high), stablehlo("stablehlo.clamp"))

_UNSIGNED = {1: _dtypes.uint8, 2: _dtypes.uint16, 4: _dtypes.uint32, 8: _dtypes.uint64}


def modulus(x: Node) -> Node:
    """The absolute value of a complex node."""
    return _MODULUS(x)


def is_finite(x: Node) -> Node:
    """Whether real floating-point values are neither infinite nor NaN."""
    return _IS_FINITE(x)


def bits(x: Node) -> Node:
    """The bits of ``x`` as an unsigned integer of the same width."""
    return bitcast(x, _UNSIGNED[x.dtype.itemsize])
