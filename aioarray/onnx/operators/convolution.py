"""Convolutions."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, as_array, cast

if TYPE_CHECKING:
    from .._evaluate import Call


# Convolutions of groups are written out up to this many elements of the window.
TAPS = 64


def paddings(
    call: Call, lengths: tuple[int, ...], kernel: tuple[int, ...], strides: Any, dilations: Any
) -> tuple[tuple[int, int], ...]:
    """How much is added before and after each axis, by ``pads`` or ``auto_pad``."""
    n = len(kernel)
    mode = call.text("auto_pad", "NOTSET")
    if mode == "NOTSET":
        pads = call.items("pads", (0,) * 2 * n)
        if len(pads) != 2 * n:
            raise call.error(f"has {len(pads)} entries for {n} axes; it takes two for each", "pads")
        return tuple((pads[k], pads[k + n]) for k in range(n))
    if mode == "VALID":
        return ((0, 0),) * n
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise call.error(f"is {mode!r}; it takes NOTSET, VALID, SAME_UPPER or SAME_LOWER", "auto_pad")
    found = []
    for length, size, stride, dilation in zip(lengths, kernel, strides, dilations, strict=True):
        count = -(-length // stride)
        total = max((count - 1) * stride + (size - 1) * dilation + 1 - length, 0)
        less, more = total // 2, total - total // 2
        found.append((less, more) if mode == "SAME_UPPER" else (more, less))
    return tuple(found)


def sizes(call: Call, name: str, default: Any, n: int) -> tuple[int, ...]:
    """The attribute ``name``, a number for each of ``n`` axes."""
    found = call.items(name, default)
    if len(found) != n or any(k < 1 for k in found):
        raise call.error(f"is {found}; it takes {n} numbers from 1 on", name)
    return found


def convolved(call: Call, x: Tensor, kernel: Tensor, bias: Tensor = None) -> Tensor:
    """The convolution that the attributes describe."""
    n = x.ndim - 2
    if n < 1 or kernel.ndim != x.ndim:
        raise ValueError(f"an input of {x.ndim} axes and a kernel of {kernel.ndim}")
    if call.get("kernel_shape") not in (None, kernel.shape[2:]):
        raise call.error(f"is {call.get('kernel_shape')}, but the kernel is {kernel.shape[2:]}", "kernel_shape")
    strides, dilations = sizes(call, "strides", (1,) * n, n), sizes(call, "dilations", (1,) * n, n)
    padding = paddings(call, x.shape[2:], kernel.shape[2:], strides, dilations)
    if any(low < 0 or high < 0 for low, high in padding):
        raise call.error(f"is {padding}; it takes numbers from 0 on", "pads")
    groups = call.integer("group", 1)
    fits = groups > 1 and x.shape[1] == groups * kernel.shape[1] and kernel.shape[0] % groups == 0
    if not fits or math.prod(kernel.shape[2:]) > TAPS:
        return nn.conv(x, kernel, bias, stride=strides, padding=padding, dilation=dilations, groups=groups)
    # XLA's convolution of groups on a CPU takes several times as long as what follows, and 20 to 30 times where each
    # channel is a group.
    wide = cast(as_array(x), np.float32) if x.dtype.itemsize < 4 else as_array(x)
    taps = _taps(wide, kernel.shape[2:], strides, padding, dilations)
    apply = _depthwise if kernel.shape[1] == 1 else _grouped
    y = apply(taps, cast(as_array(kernel), wide.dtype), groups)
    return cast(y if bias is None else y + aio.reshape(cast(bias, wide.dtype), (-1, *[1] * n)), x.dtype)


def _taps(x: Tensor, window: Any, strides: Any, padding: Any, dilations: Any) -> list[Tensor]:
    """For each element of the window in turn, what it meets: arrays of (batch, channels, windows…)."""
    spans = tuple(low + length + high for length, (low, high) in zip(x.shape[2:], padding, strict=True))
    counts = tuple(
        (span - (size - 1) * d - 1) // stride + 1
        for span, size, d, stride in zip(spans, window, dilations, strides, strict=True)
    )
    if min(counts) < 1:
        raise ValueError(f"a window of {window} elements, {dilations} apart, for {spans}")
    padded = aio.pad(x, [(0, 0), (0, 0), *padding])
    taps = []
    for place in itertools.product(*map(range, window)):
        cut = tuple(
            slice(k * d, k * d + stride * (count - 1) + 1, stride)
            for k, d, stride, count in zip(place, dilations, strides, counts, strict=True)
        )
        taps.append(padded[(slice(None), slice(None), *cut)])
    return taps


def _depthwise(taps: list[Tensor], kernel: Tensor, groups: int) -> Tensor:
    """A convolution of each channel by itself, as a sum of products with shifted copies."""
    outputs, n = kernel.shape[0], kernel.ndim - 2
    factors = aio.reshape(kernel, (outputs, len(taps)))
    total: Any = None
    for k, tap in enumerate(taps):
        each = tap if outputs == groups else aio.repeat(tap, outputs // groups, axis=1)
        term = each * aio.reshape(factors[:, k], (-1, *[1] * n))
        total = term if total is None else total + term
    return total


def _grouped(taps: list[Tensor], kernel: Tensor, groups: int) -> Tensor:
    """A convolution of groups as one product of matrices for each."""
    batch, channels, *counts = taps[0].shape
    outputs = kernel.shape[0]
    rows = channels // groups * len(taps)
    columns = aio.reshape(aio.stack(taps, axis=2), (batch, groups, rows, math.prod(counts)))
    product = aio.matmul(aio.reshape(kernel, (groups, outputs // groups, rows)), columns)
    return aio.reshape(product, (batch, outputs, *counts))


@operator("Conv")
def conv(call: Call, x: Tensor, kernel: Tensor, bias: Tensor = None) -> Tensor:
    return convolved(call, x, kernel, bias)


@operator("ConvTranspose")
def conv_transpose(call: Call, x: Tensor, kernel: Tensor, bias: Tensor = None) -> Tensor:
    n = x.ndim - 2
    lengths, window = x.shape[2:], kernel.shape[2:]
    strides, dilations = sizes(call, "strides", (1,) * n, n), sizes(call, "dilations", (1,) * n, n)
    extra = call.items("output_padding", (0,) * n)
    wanted = call.get("output_shape")
    mode = call.text("auto_pad", "NOTSET")
    full = [strides[k] * (lengths[k] - 1) + extra[k] + (window[k] - 1) * dilations[k] + 1 for k in range(n)]
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(length * stride for length, stride in zip(lengths, strides, strict=True))
    if wanted is not None:
        wanted = wanted[-n:]
        padding = []
        for k in range(n):
            total = full[k] - wanted[k]
            less, more = total // 2, total - total // 2
            if total < 0:
                padding.append((0, total))  # longer at the end
            else:
                padding.append((less, more) if mode == "SAME_UPPER" else (more, less))
    else:
        padding = list(paddings(call, lengths, window, strides, dilations))
    # The whole result, which padding then makes shorter or longer.
    whole = nn.conv_transpose(
        x, kernel, stride=strides, padding=0, output_padding=0, dilation=dilations, groups=call.integer("group", 1)
    )
    grow = [(max(-low, 0), max(extra[k] - high, 0)) for k, (low, high) in enumerate(padding)]
    cut = tuple(
        slice(max(low, 0), length - max(high - extra[k], 0))
        for k, ((low, high), length) in enumerate(zip(padding, whole.shape[2:], strict=True))
    )
    y = aio.pad(whole[(slice(None), slice(None), *cut)], [(0, 0), (0, 0), *grow])
    return y if bias is None else y + bias.reshape((-1, *[1] * n))


@operator("DeformConv")
def deform_conv(
    call: Call, x: Tensor, kernel: Tensor, offset: Tensor, bias: Tensor = None, mask: Tensor = None
) -> Tensor:
    """A convolution whose taps are moved by ``offset``, with bilinear interpolation, and weighted by ``mask``."""
    if x.ndim != 4:
        raise ValueError(f"an input of {x.ndim} axes; aioarray has it for two spatial ones")
    strides, dilations = sizes(call, "strides", (1, 1), 2), sizes(call, "dilations", (1, 1), 2)
    (top, bottom), (left, right) = paddings(call, x.shape[2:], kernel.shape[2:], strides, dilations)
    groups, parts = call.integer("group", 1), call.integer("offset_group", 1)
    batch, channels, height, width = x.shape
    outputs, _, rows, columns = kernel.shape
    taps = rows * columns
    high = (height + top + bottom - dilations[0] * (rows - 1) - 1) // strides[0] + 1
    wide = (width + left + right - dilations[1] * (columns - 1) - 1) // strides[1] + 1
    moves = aio.reshape(offset, (batch, parts, taps, 2, high, wide))
    r, c = np.meshgrid(np.arange(rows) * dilations[0], np.arange(columns) * dilations[1], indexing="ij")
    base_y = (r.reshape(-1, 1, 1) - top + np.arange(high)[:, None] * strides[0]).astype(x.dtype)
    base_x = (c.reshape(-1, 1, 1) - left + np.arange(wide) * strides[1]).astype(x.dtype)
    ys, xs = moves[:, :, :, 0] + base_y, moves[:, :, :, 1] + base_x
    source = aio.reshape(x, (batch, parts, channels // parts, height * width))
    floor_y, floor_x = aio.floor(ys), aio.floor(xs)
    samples = None
    for dy in (0, 1):
        for dx in (0, 1):
            py, px = floor_y + dy, floor_x + dx
            weight = (1 - aio.abs(ys - py)) * (1 - aio.abs(xs - px))
            inside = (py >= 0) & (py <= height - 1) & (px >= 0) & (px <= width - 1)
            weight = aio.where(inside, weight, 0)
            place = aio.clip(py, 0, height - 1) * width + aio.clip(px, 0, width - 1)
            flat = aio.reshape(aio.astype(place, np.int32), (batch, parts, 1, taps * high * wide))
            index = (np.arange(batch).reshape(-1, 1, 1, 1), np.arange(parts).reshape(1, -1, 1, 1))
            taken = as_array(source)[(*index, np.arange(channels // parts).reshape(1, 1, -1, 1), flat)]
            value = taken * aio.reshape(weight, (batch, parts, 1, taps * high * wide))
            samples = value if samples is None else samples + value
    assert samples is not None
    if mask is not None:
        samples = samples * aio.reshape(mask, (batch, parts, 1, taps * high * wide))
    columns_of = aio.reshape(samples, (batch, groups, channels // groups * taps, high * wide))
    weights = aio.reshape(kernel, (groups, outputs // groups, channels // groups * taps))
    y = aio.reshape(aio.matmul(weights, columns_of), (batch, outputs, high, wide))
    return cast(y if bias is None else y + bias.reshape((-1, 1, 1)), x.dtype)
