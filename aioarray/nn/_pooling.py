"""Pooling over one, two or three axes."""

from __future__ import annotations

from typing import Literal

from .._array import Array, ArrayLike, as_array, call
from .._ops import pooling
from ._convolution import Padding, Sizes, padding_of, sizes_of, spatial_ndim

__all__ = ["adaptive_avg_pool", "avg_pool", "max_pool"]


def max_pool(
    x: ArrayLike,
    /,
    window: Sizes,
    *,
    stride: Sizes | None = None,
    padding: Padding | Literal["same", "valid"] = 0,
    dilation: Sizes = 1,
    channels_last: bool = False,
) -> Array:
    """The greatest element of each window of ``x``, (batch, channels, …) or (batch, …, channels).

    NaN where there is one in the window. ``stride`` is ``window`` if it is not given. Padding does not count.
    ``ValueError`` for windows that could hold nothing.

    >>> aio.nn.max_pool(aio.asarray([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    Array([[[3., 2.]]], dtype=float32)
    """
    source = as_array("max_pool", x)
    n = spatial_ndim("max_pool", source, channels_last)
    size = sizes_of("max_pool", "window", window, n)
    static = (
        size,
        size if stride is None else sizes_of("max_pool", "stride", stride, n),
        padding_of("max_pool", padding, n),
        sizes_of("max_pool", "dilation", dilation, n),
        bool(channels_last),
    )
    return call(pooling.max_pool, (source,), *static)


def avg_pool(
    x: ArrayLike,
    /,
    window: Sizes,
    *,
    stride: Sizes | None = None,
    padding: Padding | Literal["same", "valid"] = 0,
    count_padding: bool = True,
    channels_last: bool = False,
) -> Array:
    """The mean of each window of ``x``, (batch, channels, …) or (batch, …, channels).

    ``stride`` is ``window`` if it is not given. Padding counts as zeros unless ``count_padding`` is False. Real
    floating-point dtypes, kept; ``TypeError`` for others.

    >>> aio.nn.avg_pool(aio.asarray([[[1.0, 3.0, 2.0, 0.0]]]), 2, stride=1)
    Array([[[2. , 2.5, 1. ]]], dtype=float32)
    """
    source = as_array("avg_pool", x)
    n = spatial_ndim("avg_pool", source, channels_last)
    size = sizes_of("avg_pool", "window", window, n)
    static = (
        size,
        size if stride is None else sizes_of("avg_pool", "stride", stride, n),
        padding_of("avg_pool", padding, n),
        bool(count_padding),
        bool(channels_last),
    )
    return call(pooling.avg_pool, (source,), *static)


def adaptive_avg_pool(x: ArrayLike, /, size: Sizes, *, channels_last: bool = False) -> Array:
    """Means over as many pieces of each axis of ``x`` as ``size`` says, as even as they can be.

    Piece i of n is from ``floor(i * length / n)`` to ``ceil((i + 1) * length / n)``, so pieces may overlap.

    >>> aio.nn.adaptive_avg_pool(aio.asarray([[[1.0, 2.0, 3.0]]]), 2)
    Array([[[1.5, 2.5]]], dtype=float32)
    """
    source = as_array("adaptive_avg_pool", x)
    n = spatial_ndim("adaptive_avg_pool", source, channels_last)
    sizes = sizes_of("adaptive_avg_pool", "size", size, n)
    return call(pooling.adaptive_avg_pool, (source,), sizes, bool(channels_last))
