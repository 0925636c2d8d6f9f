"""Functions of elements: how their arguments are drawn, and how far from NumPy's the results may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.cases import Case, binary, unary
from tests.properties.drawing import POSITIVE, TAME

if TYPE_CHECKING:
    from tests.properties.drawing import Draw


def _where(d: Draw) -> tuple[Any, ...]:
    x, y = d.pair("biufc")
    return d.array("b", (3,) if (x.size and y.size) else ()), x, y


def _clip(d: Draw) -> tuple[Any, ...]:
    x, low = d.pair("iuf")
    return (x, low, None) if d.flag() else (x, None, low)


ELEMENTWISE: dict[str, Case] = {
    "abs": unary("iufc", 2),
    "acos": unary("biufc", 6),
    "acosh": unary("biufc", 6),
    "add": binary("biufc"),
    "angle": unary("fc", 4),
    "asin": unary("biufc", 6),
    "asinh": unary("biufc", 6),
    "atan": unary("biufc", 6),
    "atan2": binary("f", 2),
    "atanh": unary("biufc", 6),
    "bitwise_and": binary("biu"),
    "bitwise_count": unary("iu"),
    "bitwise_invert": unary("biu"),
    "bitwise_left_shift": Case(lambda d: (d.array("i", (2, 3)), d.one(0, 1, 3))),
    "bitwise_or": binary("biu"),
    "bitwise_right_shift": Case(lambda d: (d.array("i", (2, 3)), d.one(0, 1, 3))),
    "bitwise_xor": binary("biu"),
    "cbrt": unary("f", 4),
    "ceil": unary("iuf"),
    "clip": Case(_clip),
    "conj": unary("iufc"),
    "copysign": binary("f"),
    "cos": unary("biufc", 6),
    "cosh": unary("biufc", 6),
    "deg2rad": unary("f", 2),
    "degrees": unary("f", 2),
    "divide": binary("biuf", 1),
    "divmod": Case(lambda d: d.pair("f", [x for x in TAME if x]), 0),
    "equal": binary("biufc"),
    "exp": unary("biufc", 7),
    "exp2": unary("biuf", 2),
    "expm1": unary("biufc", 7),
    "float_power": Case(lambda d: d.pair("f", POSITIVE), 2, theirs=np.float_power),
    "floor": unary("iuf"),
    "floor_divide": Case(lambda d: d.pair("iuf", [x for x in TAME if x])),
    "fmax": binary("biuf"),
    "fmin": binary("biuf"),
    "fmod": Case(lambda d: d.pair("f", (*TAME, 1e20, float("nan"), float("inf")))),
    "gcd": binary("iu"),
    "greater": binary("biuf"),
    "greater_equal": binary("biuf"),
    "heaviside": binary("f"),
    "hypot": binary("f", 2),
    "i0": unary("f", 8),
    "imag": unary("c"),
    "isclose": Case(lambda d: (*d.pair("f"), {"equal_nan": d.flag()})),
    "isfinite": unary("biufc"),
    "isinf": unary("biufc"),
    "isnan": unary("biufc"),
    "isneginf": unary("f"),
    "isposinf": unary("f"),
    "lcm": Case(lambda d: d.pair("i", (0, 1, 2, 3, 6))),
    "less": binary("biuf"),
    "less_equal": binary("biuf"),
    "log": unary("biufc", 4),
    "log10": unary("biufc", 5),
    "log1p": unary("biufc", 4),
    "log2": unary("biufc", 5),
    "logaddexp": Case(lambda d: d.pair("f", (*TAME, float("inf"), float("-inf"), float("nan"))), 4, scaled=True),
    "logaddexp2": Case(lambda d: d.pair("f", (*TAME, float("inf"), float("-inf"), float("nan"))), 4, scaled=True),
    "logical_and": binary("biufc"),
    "logical_not": unary("biufc"),
    "logical_or": binary("biufc"),
    "logical_xor": binary("biufc"),
    "maximum": binary("biuf"),
    "minimum": binary("biuf"),
    "multiply": binary("biuf"),
    "nan_to_num": unary("f"),
    "negative": unary("iufc"),
    "nextafter": Case(lambda d: d.pair("f", (1.0, 2.0, -1.0, float("inf"), float("nan")))),
    "not_equal": binary("biufc"),
    "positive": unary("iufc"),
    "pow": Case(lambda d: d.pair("f"), 2, wide=True),
    "rad2deg": unary("f", 2),
    "radians": unary("f", 2),
    "real": unary("fc"),
    "reciprocal": unary("f", 1),
    "remainder": Case(lambda d: d.pair("iuf", [x for x in TAME if x])),
    "round": unary("iufc"),
    "sign": unary("iuf"),
    "signbit": unary("f"),
    "sin": unary("biufc", 6),
    "sinc": Case(lambda d: (d.tame("f"),), 4, scaled=True),  # NumPy's multiplies by pi first
    "sinh": unary("biufc", 6),
    "sqrt": unary("biufc", 4),
    "square": unary("iuf"),
    "subtract": binary("iufc"),
    "tan": unary("biufc", 8),
    "tanh": unary("biufc", 8),
    "trunc": unary("iuf"),
    "where": Case(_where),
}
