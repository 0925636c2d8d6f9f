"""Every elementwise definition under one name: ``elementwise.add``, ``elementwise.sin``, ..."""

from __future__ import annotations

from . import _elementary
from ._builders import unary_floating
from .arithmetic import (
    abs,
    add,
    divide,
    floor_divide,
    multiply,
    negative,
    positive,
    pow,
    remainder,
    subtract,
)
from .comparison import equal, greater, greater_equal, less, less_equal, not_equal
from .integer import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)

sin = unary_floating("sin", _elementary.sine)
tanh = unary_floating("tanh", _elementary.hyperbolic_tangent)

__all__ = [
    "abs",
    "add",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "multiply",
    "negative",
    "not_equal",
    "positive",
    "pow",
    "remainder",
    "sin",
    "subtract",
    "tanh",
]
