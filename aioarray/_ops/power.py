"""Squares, roots, reciprocals and lengths."""

from __future__ import annotations

from .._base import dtypes
from . import _complex_functions, _elementary, _primitives
from ._builders import binary_floating, by_kind, in_float32_2, unary, unary_floating
from ._primitives import divide, multiply

square = unary("square", lambda x: multiply(x, x))
sqrt = unary_floating("sqrt", by_kind(real=_primitives.sqrt, complex=_complex_functions.sqrt))
cbrt = unary_floating("cbrt", lambda x: _elementary.cube_root(_elementary.without_subnormal(x)), dtypes.REAL_FLOATING)
reciprocal = unary_floating("reciprocal", lambda x: divide(1, x))
hypot = binary_floating("hypot", in_float32_2(_elementary.hypotenuse), dtypes.REAL_FLOATING)
