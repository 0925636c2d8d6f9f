"""Fourier transforms, windows and scales of signals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._dtypes import DTYPES
from .._registry import operator
from .._values import Tensor, as_array, axes_in_range, cast

if TYPE_CHECKING:
    from .._evaluate import Call


def _complex(x: Tensor) -> Tensor:
    """An array of a complex dtype, of pairs (real, imaginary) or of real numbers along the last axis."""
    x = as_array(x)
    if x.dtype.itemsize < 4:
        x = cast(x, np.float32)
    dtype = np.complex128 if x.dtype == np.dtype(np.float64) else np.complex64
    real = cast(x[..., 0], dtype)
    return real if x.shape[-1] == 1 else real + cast(x[..., 1], dtype) * dtype(1j)


def _pairs(x: Tensor, dtype: Any) -> Tensor:
    return cast(aio.stack([aio.real(x), aio.imag(x)], axis=-1), dtype)


@operator("DFT", since=17)
def dft_by_attribute(call: Call, x: Tensor, length: Tensor = None) -> Tensor:
    return _dft(call, x, length, call.integer("axis", 1))


@operator("DFT", since=20)
def dft(call: Call, x: Tensor, length: Tensor = None, axis: Tensor = None) -> Tensor:
    return _dft(call, x, length, -2 if axis is None else int(call.scalar(axis, "the axis")))


def _dft(call: Call, x: Tensor, length: Tensor, axis: int) -> Tensor:
    along = axes_in_range([axis], x.ndim)[0]
    if along == x.ndim - 1:
        raise ValueError("the last axis holds real and imaginary parts; the transform is along another one")
    onesided, inverse = call.integer("onesided", 0), call.integer("inverse", 0)
    count = None if length is None else int(call.scalar(length, "the length of the transform"))
    if onesided and inverse:
        n = 2 * (x.shape[along] - 1) if count is None else count
        y = aio.fft.irfft(_complex(x), n=n, axis=along)
        return cast(aio.expand_dims(y, axis=-1), x.dtype)
    transformed = (aio.fft.ifft if inverse else aio.fft.fft)(_complex(x), n=count, axis=along)
    if onesided:
        kept = transformed.shape[along] // 2 + 1
        transformed = transformed[tuple(slice(0, kept) if k == along else slice(None) for k in range(transformed.ndim))]
    return _pairs(transformed, x.dtype)


@operator("STFT", since=17)
def stft(call: Call, x: Tensor, step: Tensor, window: Tensor = None, length: Tensor = None) -> Tensor:
    hop = int(call.scalar(step, "the step of frames"))
    if length is not None:
        size = int(call.scalar(length, "the length of frames"))
    elif window is not None:
        size = window.shape[0]
    else:
        raise ValueError("neither a window nor the length of frames")
    if hop < 1 or size < 1 or x.shape[1] < size:
        raise ValueError(f"frames of {size} elements, {hop} apart, of a signal of {x.shape[1]}")
    signal = _complex(x if x.ndim == 3 else aio.expand_dims(x, axis=-1))
    count = 1 + (x.shape[1] - size) // hop
    frames = signal[:, np.arange(count)[:, None] * hop + np.arange(size)]
    if window is not None:
        frames = frames * cast(window, frames.dtype)
    transformed = aio.fft.fft(frames, axis=-1)
    if call.integer("onesided", 1):
        transformed = transformed[..., : size // 2 + 1]
    return _pairs(transformed, x.dtype)


def _window(call: Call, size: Tensor, factors: tuple[float, ...]) -> Tensor:
    count = int(call.scalar(size, "the length of a window"))
    dtype = DTYPES[call.integer("output_datatype", 1)]
    period = count if call.integer("periodic", 1) else count - 1
    angles = 2 * math.pi * np.arange(count) / max(period, 1)
    return sum(factor * np.cos(k * angles) for k, factor in enumerate(factors)).astype(dtype)  # type: ignore[union-attr]


@operator("HannWindow", since=17)
def hann_window(call: Call, size: Tensor) -> Tensor:
    return _window(call, size, (0.5, -0.5))


@operator("HammingWindow", since=17)
def hamming_window(call: Call, size: Tensor) -> Tensor:
    return _window(call, size, (25 / 46, -21 / 46))


@operator("BlackmanWindow", since=17)
def blackman_window(call: Call, size: Tensor) -> Tensor:
    return _window(call, size, (0.42, -0.5, 0.08))


@operator("MelWeightMatrix", since=17)
def mel_weight_matrix(call: Call, bins: Tensor, size: Tensor, rate: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """What makes a spectrum one of frequencies as they are heard: triangles that are even on the mel scale."""
    count, length, sampled, first, last = (
        call.scalar(x, "the parameters of a mel scale") for x in (bins, size, rate, low, high)
    )
    dtype = DTYPES[call.integer("output_datatype", 1)]

    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    # The edges, in places of the spectrum.
    step = (mel(last) - mel(first)) / (count + 2)
    mels = mel(first) + np.arange(count + 2) * step
    places = (((length + 1) * (700 * (10 ** (mels / 2595) - 1))) // sampled).astype(np.int64)
    matrix = np.zeros((length // 2 + 1, count))
    for k in range(count):
        lower, centre, upper = places[k : k + 3]
        if centre == lower:
            matrix[centre, k] = 1
        else:
            rising = np.arange(lower, centre + 1)
            matrix[rising, k] = (rising - lower) / (centre - lower)
        if upper > centre:
            falling = np.arange(centre, upper)
            matrix[falling, k] = (upper - falling) / (upper - centre)
    return matrix.astype(dtype)
