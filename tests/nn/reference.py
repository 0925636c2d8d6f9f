"""What layers should give, written out in NumPy float64 from their definitions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

ERF = np.vectorize(math.erf, otypes=[float])
ERFC = np.vectorize(math.erfc, otypes=[float])


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normally distributed float32 numbers."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def softmax(x: np.ndarray, axis: int | tuple[int, ...] = -1) -> np.ndarray:
    x = x.astype(np.float64)
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    *,
    bias: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> np.ndarray:
    """Of one sequence, (length, heads, width), one query and one head at a time."""
    query, key, value = (x.astype(np.float64) for x in (query, key, value))
    (t, heads, width), (s, kv, _) = query.shape, key.shape
    result = np.zeros((t, heads, value.shape[-1]))
    for h, i in product(range(heads), range(t)):
        group = h // (heads // kv)
        scores = key[:, group] @ query[i, h] * (1 / math.sqrt(width) if scale is None else scale)
        if bias is not None:
            scores = scores + np.broadcast_to(bias, (heads, t, s))[h, i]
        seen = np.ones(s, bool) if mask is None else np.broadcast_to(mask, (heads, t, s))[h, i].copy()
        if causal:
            seen &= np.arange(s) <= i
        if seen.any():
            result[i, h] = softmax(scores[seen]) @ value[seen, group]
    return result


def conv(
    x: np.ndarray,
    kernel: np.ndarray,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int = 1,
) -> np.ndarray:
    """Of (batch, channels, …) with (out, in / groups, …), one place at a time."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *padding))
    window = kernel.shape[2:]
    counts = [
        max(0, (n - (k - 1) * d - 1) // s + 1) for n, k, d, s in zip(x.shape[2:], window, dilation, stride, strict=True)
    ]
    outputs, inputs = kernel.shape[:2]
    result = np.zeros((x.shape[0], outputs, *counts))
    for place in product(*map(range, counts)):
        cut = tuple(
            slice(i * s, i * s + (k - 1) * d + 1, d) for i, s, k, d in zip(place, stride, window, dilation, strict=True)
        )
        for out in range(outputs):
            first = out // (outputs // groups) * inputs
            patch = x[(slice(None), slice(first, first + inputs), *cut)]
            result[(slice(None), out, *place)] = (patch * kernel[out].astype(np.float64)).reshape(len(x), -1).sum(1)
    return result


def conv_transpose(
    x: np.ndarray,
    kernel: np.ndarray,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int = 1,
) -> np.ndarray:
    """Of (batch, in, …) with (in, out / groups, …): every element of x spreads a kernel."""
    inputs, outputs = kernel.shape[:2]
    window = kernel.shape[2:]
    whole = [
        (n - 1) * s + (k - 1) * d + 1 + more
        for n, s, k, d, more in zip(x.shape[2:], stride, window, dilation, output_padding, strict=True)
    ]
    result = np.zeros((x.shape[0], outputs * groups, *whole))
    for channel, *place in product(range(inputs), *map(range, x.shape[2:])):
        first = channel // (inputs // groups) * outputs
        cut = tuple(
            slice(i * s, i * s + (k - 1) * d + 1, d) for i, s, k, d in zip(place, stride, window, dilation, strict=True)
        )
        values = x[(slice(None), channel, *place)].astype(np.float64).reshape(-1, *[1] * (kernel.ndim - 1))
        result[(slice(None), slice(first, first + outputs), *cut)] += values * kernel[channel].astype(np.float64)
    crop = tuple(slice(low, n - high) for (low, high), n in zip(padding, whole, strict=True))
    return result[(slice(None), slice(None), *crop)]


def pool(
    x: np.ndarray,
    combine: Any,
    window: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    fill: float,
    dilation: tuple[int, ...] | None = None,
) -> np.ndarray:
    """``combine`` of every window of (batch, channels, …)."""
    dilation = dilation or (1,) * len(window)
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *padding), constant_values=fill)
    counts = [
        max(0, (n - (k - 1) * d - 1) // s + 1) for n, k, d, s in zip(x.shape[2:], window, dilation, stride, strict=True)
    ]
    result = np.zeros((*x.shape[:2], *counts))
    for place in product(*map(range, counts)):
        cut = tuple(
            slice(i * s, i * s + (k - 1) * d + 1, d) for i, s, k, d in zip(place, stride, window, dilation, strict=True)
        )
        patch = x[(slice(None), slice(None), *cut)].reshape(*x.shape[:2], -1)
        result[(slice(None), slice(None), *place)] = combine(patch, axis=-1)
    return result
