"""Pooling. Windows may go beyond the end where ``ceil_mode`` says so; what is outside does not count."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, as_array, cast, is_floating
from .convolution import paddings, sizes

if TYPE_CHECKING:
    from .._evaluate import Call


class _Windows:
    """Where the windows of a pooling operator are."""

    def __init__(self, call: Call, x: Tensor) -> None:
        n = x.ndim - 2
        self.kernel = sizes(call, "kernel_shape", (1,) * n, n)
        self.strides = sizes(call, "strides", (1,) * n, n)
        self.dilations = sizes(call, "dilations", (1,) * n, n)
        self.lengths = tuple(x.shape[2:])
        self.pads = paddings(call, self.lengths, self.kernel, self.strides, self.dilations)
        self.ceil = bool(call.integer("ceil_mode", 0)) and call.text("auto_pad", "NOTSET") == "NOTSET"
        spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        counts, after = [], []
        for length, span, stride, (low, high) in zip(self.lengths, spans, self.strides, self.pads, strict=True):
            room = length + low + high - span
            count = (-(-room // stride) if self.ceil else room // stride) + 1
            if self.ceil and (count - 1) * stride >= length + low:
                count -= 1  # that window would begin beyond the input and what is before it
            if count < 1:
                raise ValueError(f"windows of {span} elements for {length}, with {low} before and {high} after")
            counts.append(count)
            after.append(max((count - 1) * stride + span - length - low, 0))
        self.counts = tuple(counts)
        # What is added after the end so that the last windows are whole.
        self.whole = tuple((low, high) for (low, _), high in zip(self.pads, after, strict=True))

    def places(self, axis: int) -> np.ndarray[Any, Any]:
        """For each window and each place in it, the index in the input; it may be outside."""
        starts = np.arange(self.counts[axis])[:, None] * self.strides[axis] - self.pads[axis][0]
        return starts + np.arange(self.kernel[axis]) * self.dilations[axis]

    def inside(self, padded: bool) -> np.ndarray[Any, Any]:
        """How many places of each window count, those in the padding too or not."""
        found = np.ones(())
        for axis, (low, high) in enumerate(self.pads):
            places = self.places(axis)
            first, last = (-low, self.lengths[axis] + high) if padded else (0, self.lengths[axis])
            found = found[..., None] * ((places >= first) & (places < last)).sum(axis=1)
        return found

    def patches(self, x: Tensor, filler: Any) -> Tensor:
        """The elements of each window: (batch, channels, windows…, places…)."""
        n = len(self.kernel)
        padded = aio.pad(x, [(0, 0), (0, 0), *self.whole], constant_values=np.asarray(filler, x.dtype))
        index: list[Any] = [slice(None), slice(None)]
        for axis in range(n):
            places = self.places(axis) + self.pads[axis][0]
            shape = [1] * (2 * n)
            shape[axis], shape[n + axis] = places.shape
            index.append(places.reshape(shape))
        return padded[tuple(index)]


def _summed(x: Tensor, windows: _Windows) -> Tensor:
    """The sum of each window; ``x`` is floating."""
    channels = x.shape[1]
    if all(d == 1 for d in windows.dilations) and all(
        max(pair) < k for pair, k in zip(windows.whole, windows.kernel, strict=True)
    ):
        mean = nn.avg_pool(x, windows.kernel, stride=windows.strides, padding=windows.whole)
        return mean * math.prod(windows.kernel)
    ones = np.ones((channels, 1, *windows.kernel), x.dtype)
    return nn.conv(x, ones, stride=windows.strides, padding=windows.whole, dilation=windows.dilations, groups=channels)


@operator("AveragePool")
def average_pool(call: Call, x: Tensor) -> Tensor:
    windows = _Windows(call, x)
    padded = bool(call.integer("count_include_pad", 0))
    counts = windows.inside(padded)
    wide = cast(x, np.float32) if x.dtype.itemsize < 4 else x
    return cast(_summed(wide, windows) / np.maximum(counts, 1).astype(wide.dtype), x.dtype)


@operator("MaxPool")
def max_pool(call: Call, x: Tensor) -> tuple[Tensor, ...] | Tensor:
    windows = _Windows(call, x)
    lowest = -np.inf if is_floating(x) else np.iinfo(x.dtype).min
    if not call.wants(1):
        if all(
            max(pair) < (k - 1) * d + 1
            for pair, k, d in zip(windows.whole, windows.kernel, windows.dilations, strict=True)
        ):
            return nn.max_pool(
                x, windows.kernel, stride=windows.strides, padding=windows.whole, dilation=windows.dilations
            )
        n = len(windows.kernel)
        return aio.max(windows.patches(x, lowest), axis=tuple(range(2 + n, 2 + 2 * n)))
    n = len(windows.kernel)
    batch, channels = x.shape[:2]
    patches = windows.patches(x, lowest)
    flat = aio.reshape(patches, (batch, channels, *windows.counts, math.prod(windows.kernel)))
    chosen = aio.argmax(flat, axis=-1)
    order = range(n) if not call.integer("storage_order", 0) else reversed(range(n))
    place: Any = np.zeros((1,) * 2 * n, np.int64)
    for axis in order:
        shape = [1] * (2 * n)
        shape[axis], shape[n + axis] = windows.counts[axis], windows.kernel[axis]
        place = place * windows.lengths[axis] + windows.places(axis).reshape(shape)
    place = place.reshape((1, 1, *windows.counts, -1))
    indices = aio.take_along_axis(aio.broadcast_to(place, flat.shape), aio.expand_dims(chosen, axis=-1), axis=-1)
    offsets = np.arange(batch * channels).reshape((batch, channels, *[1] * n)) * math.prod(windows.lengths)
    return aio.max(flat, axis=-1), aio.squeeze(indices, axis=-1) + offsets


@operator("LpPool", since=2)
def lp_pool(call: Call, x: Tensor) -> Tensor:
    p = call.integer("p", 2)
    windows = _Windows(call, x)
    total = _summed(aio.abs(x) ** p, windows)
    return cast(aio.maximum(total, 0) ** (1 / p), x.dtype)


def _spatial(x: Tensor) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


@operator("GlobalAveragePool")
def global_average_pool(call: Call, x: Tensor) -> Tensor:
    return aio.mean(x, axis=_spatial(x), keepdims=True)


@operator("GlobalMaxPool")
def global_max_pool(call: Call, x: Tensor) -> Tensor:
    return aio.max(x, axis=_spatial(x), keepdims=True)


@operator("GlobalLpPool", since=2)
def global_lp_pool(call: Call, x: Tensor) -> Tensor:
    p = call.integer("p", 2)
    return aio.sum(aio.abs(x) ** p, axis=_spatial(x), keepdims=True) ** (1 / p)


@operator("MaxUnpool")
def max_unpool(call: Call, x: Tensor, indices: Tensor, shape: Tensor = None) -> Tensor:
    """The inverse of ``MaxPool``: elements where they were taken from, and zeros."""
    n = x.ndim - 2
    kernel = sizes(call, "kernel_shape", (1,) * n, n)
    strides, pads = sizes(call, "strides", (1,) * n, n), call.items("pads", (0,) * 2 * n)
    natural = (
        *x.shape[:2],
        *[(x.shape[2 + k] - 1) * strides[k] + kernel[k] - pads[k] - pads[k + n] for k in range(n)],
    )
    target = natural if shape is None else call.ints(shape, "the shape")
    # The indices are those of the natural shape.
    flat = aio.zeros((math.prod(natural),), dtype=x.dtype)
    flat = flat.at[aio.reshape(indices, (x.size,))].set(aio.reshape(x, (x.size,)))
    y = aio.reshape(flat, natural)
    if target == natural:
        return y
    return aio.pad(y, [(0, wanted - length) for length, wanted in zip(natural, target, strict=True)])


@operator("MaxRoiPool")
def max_roi_pool(call: Call, x: Tensor, rois: Tensor) -> Tensor:
    """The greatest element of each of the parts of regions, whose corners are values."""
    high, wide = call.items("pooled_shape")
    scale = call.number("spatial_scale", 1.0)
    x, rois = as_array(x), as_array(rois)
    batch = aio.astype(rois[:, 0], np.int32)
    corners = aio.floor(rois[:, 1:] * scale + 0.5)
    masks = []
    for first, last, parts, length in ((1, 3, high, x.shape[2]), (0, 2, wide, x.shape[3])):
        start = corners[:, first]
        size = aio.maximum(corners[:, last] - start + 1, 1) / parts
        steps = np.arange(parts, dtype=np.float32)
        low = aio.clip(aio.floor(size[:, None] * steps) + start[:, None], 0, length)
        end = aio.clip(aio.ceil(size[:, None] * (steps + 1)) + start[:, None], 0, length)
        places = np.arange(length, dtype=np.float32)
        masks.append((places >= low[..., None]) & (places < end[..., None]))  # (regions, parts, length)
    taken = aio.take(x, batch, axis=0)
    rows = aio.where(masks[0][:, None, :, :, None], taken[:, :, None], -np.inf)
    tall = aio.max(rows, axis=3)  # (regions, channels, high, width)
    columns = aio.where(masks[1][:, None, None], tall[:, :, :, None], -np.inf)
    found = aio.max(columns, axis=-1)
    return aio.where(aio.isinf(found), 0, found)
