"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from . import _complex_functions, _elementary, _real_functions
from ._builders import by_kind, in_float32, unary_floating

sinh = unary_floating("sinh", by_kind(real=in_float32(_real_functions.sinh), complex=_complex_functions.sinh))
cosh = unary_floating("cosh", by_kind(real=in_float32(_real_functions.cosh), complex=_complex_functions.cosh))
tanh = unary_floating("tanh", by_kind(real=_elementary.hyperbolic_tangent, complex=_complex_functions.tanh))
asinh = unary_floating("asinh", by_kind(real=in_float32(_real_functions.asinh), complex=_complex_functions.asinh))
acosh = unary_floating("acosh", by_kind(real=in_float32(_real_functions.acosh), complex=_complex_functions.acosh))
atanh = unary_floating("atanh", by_kind(real=in_float32(_real_functions.atanh), complex=_complex_functions.atanh))
