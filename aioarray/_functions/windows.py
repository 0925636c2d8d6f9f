"""NumPy's window functions: weights that fall towards both ends, for spectra and filters."""

from __future__ import annotations

import operator

from .._array import Array, ArrayLike, as_array, fused
from .._base import dtypes
from .arithmetic import divide, subtract
from .creation import asarray, linspace, ones, zeros
from .data_types import astype
from .special import i0
from .trigonometric import cos

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]

TURN = 6.283185307179586


def _angles(M: int) -> Array:
    """``M`` positions from 0 to 1, in float64: windows are computed in it and rounded once."""
    return linspace(0.0, 1.0, M, dtype=dtypes.float64)


def _window(function: str, M: int) -> Array | None:
    """What a window of fewer than two elements is."""
    count = operator.index(M)
    if count > 1:
        return None
    return ones(1) if count == 1 else zeros(0)


def bartlett(M: int) -> Array:
    """The triangular window of ``M`` elements, 0 at both ends; of the default real dtype. Empty below 1.

    >>> aio.bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    small = _window("bartlett", M)
    return _bartlett(_angles(M)) if small is None else small


@fused
def _bartlett(x: ArrayLike, /) -> Array:
    place = as_array("bartlett", x)
    return _rounded(1.0 - abs(place * 2.0 - 1.0))


def _rounded(x: Array) -> Array:
    return astype(x, dtypes.default_for_rank(2))


@fused
def _cosines(x: ArrayLike, /, *, weights: tuple[float, ...]) -> Array:
    turn = as_array("hanning", x) * TURN
    total = weights[0] + weights[1] * cos(turn)
    return _rounded(total + weights[2] * cos(turn * 2.0) if len(weights) > 2 else total)


def blackman(M: int) -> Array:
    """The Blackman window of ``M`` elements, of two cosines; of the default real dtype. Empty below 1.

    >>> aio.round(aio.blackman(5), 2)
    Array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
    """
    small = _window("blackman", M)
    return _cosines(_angles(M), weights=(0.42, -0.5, 0.08)) if small is None else small


def hamming(M: int) -> Array:
    """The Hamming window of ``M`` elements, a raised cosine; of the default real dtype. Empty below 1.

    >>> aio.hamming(3)
    Array([0.08, 1.  , 0.08], dtype=float32)
    """
    small = _window("hamming", M)
    return _cosines(_angles(M), weights=(0.54, -0.46)) if small is None else small


def hanning(M: int) -> Array:
    """The Hann window of ``M`` elements, a cosine that is 0 at both ends; of the default real dtype. Empty below 1.

    >>> aio.hanning(3)
    Array([0., 1., 0.], dtype=float32)
    """
    small = _window("hanning", M)
    return _cosines(_angles(M), weights=(0.5, -0.5)) if small is None else small


def kaiser(M: int, beta: ArrayLike) -> Array:
    """The Kaiser window of ``M`` elements; the greater the number ``beta``, the narrower. Empty below 1.

    Of the default real dtype.

    >>> aio.round(aio.kaiser(3, 14), 4)
    Array([0., 1., 0.], dtype=float32)
    """
    small = _window("kaiser", M)
    return _kaiser(_angles(M), asarray(beta, dtype=dtypes.float64)) if small is None else small


@fused
def _kaiser(x: ArrayLike, beta: ArrayLike, /) -> Array:
    place, width = as_array("kaiser", x) * 2.0 - 1.0, as_array("kaiser", beta)
    height = (subtract(1.0, place * place)) ** 0.5
    return _rounded(divide(i0(width * height), i0(width)))
