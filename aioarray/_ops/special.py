"""Special functions of real numbers."""

from __future__ import annotations

from .._base import dtypes
from . import _elementary, _primitives
from ._builders import in_float32, unary_floating

_erfc = _primitives._unary("erfc", "chlo.erfc")
_digamma = _primitives._unary("digamma", "chlo.digamma")

erf = unary_floating("erf", in_float32(_primitives.erf), dtypes.REAL_FLOATING)
erfc = unary_floating("erfc", in_float32(_erfc), dtypes.REAL_FLOATING)
erfinv = unary_floating("erfinv", in_float32(_primitives.erf_inv), dtypes.REAL_FLOATING)
lgamma = unary_floating("lgamma", in_float32(_primitives.lgamma), dtypes.REAL_FLOATING)
digamma = unary_floating("digamma", in_float32(_digamma), dtypes.REAL_FLOATING)
logistic = unary_floating("logistic", in_float32(_elementary.logistic))
