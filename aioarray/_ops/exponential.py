"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base import dtypes
from . import _complex_functions, _elementary, _primitives, _real_functions
from ._builders import binary_floating, by_kind, in_float32, in_float32_2, unary_floating
from ._primitives import absolute, add, divide, equal, maximum, multiply, negative, power, select, subtract

if TYPE_CHECKING:
    from .._graph import Node


def _complex_log2(z: Node) -> Node:
    return _elementary.by_parts(_complex_functions.log(z), lambda x: multiply(x, 1 / math.log(2)))


def _complex_log10(z: Node) -> Node:
    return _elementary.by_parts(_complex_functions.log(z), lambda x: multiply(x, 1 / math.log(10)))


def _complex_exp2(z: Node) -> Node:
    return _complex_functions.exp(_elementary.by_parts(z, lambda x: multiply(x, math.log(2))))


def _exp2(x: Node) -> Node:
    # XLA's power is right to the last digit.
    return power(2, x)


def _log_add(x: Node, y: Node) -> Node:
    distance = absolute(subtract(x, y))
    result = add(maximum(x, y), _real_functions.log1p(_primitives.exp(negative(distance))))
    # Equal infinities, whose distance is NaN.
    return select(equal(x, y), add(x, math.log(2)), result)


def _log2_add(x: Node, y: Node) -> Node:
    distance = absolute(subtract(x, y))
    rest = divide(_real_functions.log1p(_exp2(negative(distance))), math.log(2))
    return select(equal(x, y), add(x, 1), add(maximum(x, y), rest))


exp = unary_floating("exp", by_kind(real=_primitives.exp, complex=_complex_functions.exp))
exp2 = unary_floating("exp2", by_kind(real=_exp2, complex=_complex_exp2))
expm1 = unary_floating("expm1", by_kind(real=in_float32(_elementary.expm1), complex=_complex_functions.expm1))
log = unary_floating("log", by_kind(real=_primitives.log, complex=_complex_functions.log))
log1p = unary_floating("log1p", by_kind(real=_real_functions.log1p, complex=_complex_functions.log1p))
log2 = unary_floating("log2", by_kind(real=in_float32(_real_functions.log2), complex=_complex_log2))
log10 = unary_floating("log10", by_kind(real=in_float32(_real_functions.log10), complex=_complex_log10))
logaddexp = binary_floating("logaddexp", in_float32_2(_log_add), dtypes.REAL_FLOATING)
logaddexp2 = binary_floating("logaddexp2", in_float32_2(_log2_add), dtypes.REAL_FLOATING)
