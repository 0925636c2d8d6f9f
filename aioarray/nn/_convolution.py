"""Convolutions over one, two or three axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

from .._array import Array, ArrayLike, as_array, call
from .._ops import convolution

__all__ = ["conv", "conv_transpose"]

# One number for all axes, or one for each.
Sizes: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
# Besides: for each axis a number, or (before, after).
Padding: TypeAlias = SupportsIndex | Sequence[SupportsIndex | tuple[SupportsIndex, SupportsIndex]]


def spatial_ndim(function: str, x: Array, channels_last: bool) -> int:
    """How many axes of ``x`` are neither batch nor channels. ``ValueError`` unless one to three."""
    if not 3 <= x.ndim <= 5:
        layout = "(batch, …, channels)" if channels_last else "(batch, channels, …)"
        raise ValueError(f"{function}: x has shape {x.shape}; it takes {layout}, one to three axes for the dots")
    return x.ndim - 2


def sizes_of(function: str, name: str, value: Sizes, n: int, least: int = 1) -> tuple[int, ...]:
    """``value`` for each of ``n`` axes. ``TypeError``, ``ValueError`` for what is none."""
    try:
        given = tuple(map(operator.index, value)) if isinstance(value, Sequence) else (operator.index(value),) * n
    except TypeError:
        raise TypeError(f"{function}: {name} {value!r} is no integer or sequence of integers") from None
    if len(given) != n or min(given, default=least) < least:
        raise ValueError(
            f"{function}: {name} {value!r}; it takes an integer of at least {least}, or one for each of {n} axes"
        )
    return given


def padding_of(function: str, padding: Padding | str, n: int) -> tuple[tuple[int, int], ...] | str:
    """``padding`` as (before, after) for each of ``n`` axes; "same" and "valid" as they are."""
    if isinstance(padding, str):
        return padding
    given = tuple(padding) if isinstance(padding, Sequence) else (padding,) * n
    if len(given) != n:
        raise ValueError(f"{function}: padding {padding!r} is for {len(given)} axes, there are {n}")
    return tuple(_before_and_after(function, pair) for pair in given)


def _before_and_after(function: str, pair: Any) -> tuple[int, int]:
    low, high = sizes_of(function, "padding", pair, 2, 0)
    return low, high


def conv(
    x: ArrayLike,
    kernel: ArrayLike,
    bias: ArrayLike | None = None,
    /,
    *,
    stride: Sizes = 1,
    padding: Padding | Literal["same", "valid"] = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    channels_last: bool = False,
) -> Array:
    """Convolution over one to three axes: sums of products of windows of ``x`` with ``kernel``, not turned round.

    ``x`` is (batch, channels, …) and ``kernel`` (out, in / groups, …), as PyTorch has them; with ``channels_last``
    (batch, …, channels) and (…, in / groups, out), as Flax has them. ``padding`` is a number for all axes, for each
    axis a number or (before, after), "same" or "valid". float16 and bfloat16 are computed in float32. ``ValueError``
    where shapes do not fit.

    >>> x = aio.asarray([[[1.0, 2.0, 3.0, 4.0]]])
    >>> aio.nn.conv(x, aio.asarray([[[1.0, 10.0]]]), padding=((1, 0),))
    Array([[[10., 21., 32., 43.]]], dtype=float32)
    """
    source = as_array("conv", x)
    n = spatial_ndim("conv", source, channels_last)
    static = (
        sizes_of("conv", "stride", stride, n),
        padding_of("conv", padding, n),
        sizes_of("conv", "dilation", dilation, n),
        operator.index(groups),
        bool(channels_last),
    )
    return call(convolution.conv, (source, kernel, bias), *static)


def conv_transpose(
    x: ArrayLike,
    kernel: ArrayLike,
    bias: ArrayLike | None = None,
    /,
    *,
    stride: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    channels_last: bool = False,
) -> Array:
    """The transpose (gradient) of ``conv``, which makes ``x`` larger by ``stride``; also called deconvolution.

    ``kernel`` is (in, out / groups, …) or, with ``channels_last``, (…, out / groups, in): that of the convolution it
    transposes. ``padding`` is that of the convolution, too: it makes the result shorter; ``output_padding`` makes it
    longer at its end. ``ValueError`` where shapes do not fit.

    >>> x = aio.asarray([[[1.0, 2.0]]])
    >>> aio.nn.conv_transpose(x, aio.asarray([[[1.0, 10.0]]]), stride=2)
    Array([[[ 1., 10.,  2., 20.]]], dtype=float32)
    """
    source = as_array("conv_transpose", x)
    n = spatial_ndim("conv_transpose", source, channels_last)
    pairs = padding_of("conv_transpose", padding, n)
    if isinstance(pairs, str):
        raise TypeError(f"conv_transpose: padding {pairs!r}; it takes numbers")
    static = (
        sizes_of("conv_transpose", "stride", stride, n),
        pairs,
        sizes_of("conv_transpose", "output_padding", output_padding, n, 0),
        sizes_of("conv_transpose", "dilation", dilation, n),
        operator.index(groups),
        bool(channels_last),
    )
    return call(convolution.conv_transpose, (source, kernel, bias), *static)
