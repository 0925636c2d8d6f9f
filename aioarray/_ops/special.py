"""Special functions of real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from . import _elementary, _primitives
from ._builders import in_float32, unary_floating
from ._primitives import absolute, add, divide, exp, less_equal, maximum, minimum, multiply, select, sqrt, subtract
from ._rules import full_like

if TYPE_CHECKING:
    from .._graph import Node


_erfc = _primitives._unary("erfc", "chlo.erfc")
_digamma = _primitives._unary("digamma", "chlo.digamma")

erf = unary_floating("erf", in_float32(_primitives.erf), dtypes.REAL_FLOATING)
erfc = unary_floating("erfc", in_float32(_erfc), dtypes.REAL_FLOATING)
erfinv = unary_floating("erfinv", in_float32(_primitives.erf_inv), dtypes.REAL_FLOATING)
lgamma = unary_floating("lgamma", in_float32(_primitives.lgamma), dtypes.REAL_FLOATING)
digamma = unary_floating("digamma", in_float32(_digamma), dtypes.REAL_FLOATING)
logistic = unary_floating("logistic", in_float32(_elementary.logistic))


# Coefficients of the Chebyshev series of exp(-x) I0(x) for x in 0..8, in x / 4 - 1.
_NEAR = (
    0.33839763720473803,
    -0.3046826723431984,
    0.17162090152220877,
    -0.09490109704804764,
    0.04930528423967071,
    -0.02373741480589947,
    0.010546460394594998,
    -0.004324309995050576,
    0.0016394756169413357,
    -0.0005763755745385824,
    0.00018850288509584165,
    -5.754195010082104e-05,
    1.6448448070728896e-05,
    -4.4167383584587505e-06,
    1.1173875391201037e-06,
    -2.670793853940612e-07,
    6.046995022541919e-08,
    -1.300025009986248e-08,
    2.6598237246823866e-09,
    -5.189795601635263e-10,
    9.675809035373237e-11,
    -1.726826291441556e-11,
    2.95505266312964e-12,
    -4.856446783111929e-13,
    7.676185498604936e-14,
    -1.1685332877993451e-14,
    1.715391285555133e-15,
    -2.431279846547955e-16,
    3.3307945188222384e-17,
    -4.4153416464793395e-18,
)


# Those of exp(-x) sqrt(x) I0(x) for x from 8 on, in 16 / x - 1.
_FAR = (
    0.4022452055070544,
    0.0033691164782556943,
    6.889758346916825e-05,
    2.8913705208347567e-06,
    2.0489185894690638e-07,
    2.266668990498178e-08,
    3.3962320257083865e-09,
    4.94060238822497e-10,
    1.1889147107846439e-11,
    -3.1499165279632416e-11,
    -1.3215811840447713e-11,
    -1.7941785315068062e-12,
    7.180124451383666e-13,
    3.8527783827421426e-13,
    1.54008621752141e-14,
    -4.150569347287222e-14,
    -9.554846698828307e-15,
    3.8116806693526224e-15,
    1.7725601330565263e-15,
    -3.425485619677219e-16,
    -2.8276239805165836e-16,
    3.461222867697461e-17,
    4.46562142029676e-17,
    -4.830504485944182e-18,
    -7.233180487874754e-18,
)


def _series(x: Node, coefficients: tuple[float, ...]) -> Node:
    """The Chebyshev series at ``x``, by Clenshaw's recurrence."""
    twice = add(x, x)
    later, latest = full_like(x, 0.0), full_like(x, 0.0)
    for coefficient in reversed(coefficients[1:]):
        later, latest = latest, add(subtract(multiply(twice, latest), later), full_like(x, coefficient))
    return add(subtract(multiply(x, latest), later), full_like(x, coefficients[0]))


def _i0(x: Node) -> Node:
    x = absolute(x)
    near = _series(subtract(multiply(minimum(x, 8.0), 0.25), 1.0), _NEAR)
    outer = maximum(x, 8.0)
    far = divide(_series(subtract(divide(full_like(x, 16.0), outer), 1.0), _FAR), sqrt(outer))
    # In two factors, since the exponential overflows before the result does.
    root = exp(multiply(x, 0.5))
    return multiply(root, multiply(root, select(less_equal(x, 8.0), near, far)))


i0 = unary_floating("i0", in_float32(_i0), dtypes.REAL_FLOATING)
