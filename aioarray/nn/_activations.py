"""Activation functions. Integers become real numbers; float16 and bfloat16 are computed in float32."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._array import fused
from .._functions.arithmetic import abs
from .._functions.comparison import maximum, minimum
from .._functions.exponential import exp, expm1, log1p
from .._functions.hyperbolic import tanh as _tanh
from .._functions.searching import where
from ._math import erfc, logistic
from ._precision import cast, widen

if TYPE_CHECKING:
    from .._array import Array, ArrayLike

__all__ = [
    "elu",
    "gelu",
    "hard_swish",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "relu",
    "sigmoid",
    "silu",
    "softplus",
    "tanh",
]


@fused
def relu(x: ArrayLike, /) -> Array:
    """``max(x, 0)``, in the dtype of ``x``, which may be an integer one.

    >>> aio.nn.relu(aio.asarray([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    return maximum(x, 0)


@fused
def gelu(x: ArrayLike, /, *, approximate: bool = False) -> Array:
    """``x`` times the normal distribution function at ``x``; ``approximate`` takes tanh for it, as GPT-2 does.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    Hendrycks and Gimpel, "Gaussian Error Linear Units" (arXiv 1606.08415).

    >>> [round(y, 4) for y in aio.nn.gelu(aio.asarray([-1.0, 0.0, 1.0])).tolist()]
    [-0.1587, 0.0, 0.8413]
    """
    wide, dtype = widen("gelu", x)
    if approximate:
        # (1 + tanh(u)) / 2 is the logistic function of 2 u, which does not cancel where u is negative.
        return cast(wide * logistic(math.sqrt(8 / math.pi) * (wide + 0.044715 * (wide * wide * wide))), dtype)
    # erfc, not 1 + erf: that would lose all digits of the result where x is below -3.
    return cast(0.5 * wide * erfc(wide * -math.sqrt(0.5)), dtype)


@fused
def silu(x: ArrayLike, /) -> Array:
    """``x * sigmoid(x)``, also called swish.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> [round(y, 4) for y in aio.nn.silu(aio.asarray([-1.0, 0.0, 1.0])).tolist()]
    [-0.2689, 0.0, 0.7311]
    """
    wide, dtype = widen("silu", x)
    return cast(wide * logistic(wide), dtype)


@fused
def sigmoid(x: ArrayLike, /) -> Array:
    """``1 / (1 + exp(-x))``.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> aio.nn.sigmoid(aio.asarray([0.0, 100.0]))
    Array([0.5, 1. ], dtype=float32)
    """
    wide, dtype = widen("sigmoid", x)
    return cast(logistic(wide), dtype)


@fused
def tanh(x: ArrayLike, /) -> Array:
    """The hyperbolic tangent.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> aio.nn.tanh(aio.asarray([0.0, 100.0]))
    Array([0., 1.], dtype=float32)
    """
    wide, dtype = widen("tanh", x)
    return cast(_tanh(wide), dtype)


@fused
def elu(x: ArrayLike, /, *, alpha: float = 1.0) -> Array:
    """``x`` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> [round(y, 4) for y in aio.nn.elu(aio.asarray([-1.0, 1.0])).tolist()]
    [-0.6321, 1.0]
    """
    wide, dtype = widen("elu", x)
    return cast(where(wide > 0, wide, alpha * expm1(minimum(wide, 0))), dtype)


@fused
def leaky_relu(x: ArrayLike, /, *, negative_slope: float = 0.01) -> Array:
    """``x`` where it is positive, ``negative_slope * x`` elsewhere.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> aio.nn.leaky_relu(aio.asarray([-2.0, 2.0]), negative_slope=0.25)
    Array([-0.5,  2. ], dtype=float32)
    """
    wide, dtype = widen("leaky_relu", x)
    return cast(where(wide > 0, wide, negative_slope * wide), dtype)


@fused
def softplus(x: ArrayLike, /) -> Array:
    """``log(1 + exp(x))``, without overflow.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> [round(y, 4) for y in aio.nn.softplus(aio.asarray([-100.0, 0.0, 100.0])).tolist()]
    [0.0, 0.6931, 100.0]
    """
    wide, dtype = widen("softplus", x)
    return cast(_softplus(wide), dtype)


def _softplus(x: Array) -> Array:
    return maximum(x, 0) + log1p(exp(-abs(x)))


@fused
def log_sigmoid(x: ArrayLike, /) -> Array:
    """``log(sigmoid(x))``, without underflow.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    >>> [round(y, 4) for y in aio.nn.log_sigmoid(aio.asarray([-100.0, 0.0])).tolist()]
    [-100.0, -0.6931]
    """
    wide, dtype = widen("log_sigmoid", x)
    return cast(-_softplus(-wide), dtype)


@fused
def hard_swish(x: ArrayLike, /) -> Array:
    """``x * min(max(x + 3, 0), 6) / 6``.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    Howard and others, "Searching for MobileNetV3" (arXiv 1905.02244).

    >>> [round(y, 4) for y in aio.nn.hard_swish(aio.asarray([-1.0, 1.0, 4.0])).tolist()]
    [-0.3333, 0.6667, 4.0]
    """
    wide, dtype = widen("hard_swish", x)
    return cast(wide * minimum(maximum(wide + 3, 0), 6) / 6, dtype)


@fused
def mish(x: ArrayLike, /) -> Array:
    """``x * tanh(softplus(x))``.

    Real dtypes; integers and booleans become the default real dtype first. ``TypeError`` for complex ones.

    Misra, "Mish: A Self Regularized Non-Monotonic Activation Function" (arXiv 1908.08681).

    >>> [round(y, 4) for y in aio.nn.mish(aio.asarray([-1.0, 1.0])).tolist()]
    [-0.3034, 0.8651]
    """
    wide, dtype = widen("mish", x)
    return cast(wide * _tanh(_softplus(wide)), dtype)
