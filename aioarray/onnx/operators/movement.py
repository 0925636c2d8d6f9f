"""Operators that move elements: reshape, transpose, concatenate, split, slice, pad, tile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._registry import operator
from .._values import KNOWN, Tensor, axes_in_range, is_known, namespace
from .shapes import check_lengths

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("Identity")
def identity(call: Call, x: Tensor) -> Tensor:
    return x


@operator("Reshape", since=5)
def reshape(call: Call, x: Tensor, shape: Tensor) -> Tensor:
    wanted = list(call.ints(shape, "the shape"))
    if not call.integer("allowzero", 0):
        wanted = [x.shape[k] if n == 0 and k < x.ndim else n for k, n in enumerate(wanted)]
    if wanted.count(-1) == 1:
        rest = math.prod(n for n in wanted if n != -1)
        wanted[wanted.index(-1)] = x.size // rest if rest else 0
    if any(n < 0 for n in wanted) or math.prod(wanted) != x.size:
        raise ValueError(f"no array of shape {x.shape} has the shape {call.ints(shape, 'the shape')}")
    return namespace(x).reshape(x, tuple(wanted))


@operator("Flatten")
def flatten(call: Call, x: Tensor) -> Tensor:
    axis = call.integer("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return namespace(x).reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Transpose")
def transpose(call: Call, x: Tensor) -> Tensor:
    axes = call.items("perm", tuple(reversed(range(x.ndim))))
    return namespace(x).permute_dims(x, axes)


@operator("Squeeze")
def squeeze_by_attribute(call: Call, x: Tensor) -> Tensor:
    return _squeeze(x, call.get("axes"))


@operator("Squeeze", since=13)
def squeeze(call: Call, x: Tensor, axes: Tensor = None) -> Tensor:
    return _squeeze(x, None if axes is None else call.ints(axes, "the axes"))


def _squeeze(x: Tensor, axes: Any) -> Tensor:
    if axes is None:
        axes = [axis for axis, n in enumerate(x.shape) if n == 1]
    return namespace(x).squeeze(x, axis=axes_in_range(axes, x.ndim))


@operator("Unsqueeze")
def unsqueeze_by_attribute(call: Call, x: Tensor) -> Tensor:
    return _unsqueeze(x, call.items("axes"))


@operator("Unsqueeze", since=13)
def unsqueeze(call: Call, x: Tensor, axes: Tensor) -> Tensor:
    return _unsqueeze(x, call.ints(axes, "the axes"))


def _unsqueeze(x: Tensor, axes: Any) -> Tensor:
    places = axes_in_range(axes, x.ndim + len(axes))
    if len(set(places)) != len(places):
        raise ValueError(f"the axes {axes} are not all different")
    lengths = iter(x.shape)
    shape = tuple(1 if axis in places else next(lengths) for axis in range(x.ndim + len(places)))
    return namespace(x).reshape(x, shape)


@operator("Concat", since=4)
def concat(call: Call, *operands: Tensor) -> Tensor:
    axis = call.integer("axis")
    xp = np if all(map(is_known, operands)) and sum(x.size for x in operands) <= KNOWN else aio
    return operands[0] if len(operands) == 1 else xp.concat(operands, axis=axis)


@operator("Split", since=2)
def split_by_attribute(call: Call, x: Tensor) -> tuple[Tensor, ...]:
    return _split(call, x, call.get("split"), call.outputs)


@operator("Split", since=13)
def split(call: Call, x: Tensor, lengths: Tensor = None) -> tuple[Tensor, ...]:
    sizes = None if lengths is None else call.ints(lengths, "the lengths")
    return _split(call, x, sizes, call.integer("num_outputs", call.outputs))


def _split(call: Call, x: Tensor, sizes: Any, count: int) -> tuple[Tensor, ...]:
    axis = axes_in_range([call.integer("axis", 0)], x.ndim)[0]
    total = x.shape[axis]
    if sizes is None:
        if count < 1:
            raise call.error(f"is {count}; it takes 1 or more", "num_outputs")
        each = -(-total // count)
        sizes = [min(each, max(total - each * k, 0)) for k in range(count)]
    if sum(sizes) != total or any(n < 0 for n in sizes) or len(sizes) != call.outputs:
        raise ValueError(f"{call.outputs} outputs of the lengths {tuple(sizes)} of an axis with {total} elements")
    return pieces(x, sizes, axis)


def pieces(x: Tensor, sizes: Any, axis: int) -> tuple[Tensor, ...]:
    """``x`` cut along ``axis`` into pieces of these lengths."""
    found, start = [], 0
    for n in sizes:
        found.append(x[tuple(slice(start, start + n) if k == axis else slice(None) for k in range(x.ndim))])
        start += n
    return tuple(found)


@operator("Slice")
def slice_by_attributes(call: Call, x: Tensor) -> Tensor:
    starts, ends = call.items("starts"), call.items("ends")
    return _slice(x, starts, ends, call.items("axes", tuple(range(len(starts)))), (1,) * len(starts))


@operator("Slice", since=10)
def slice_(call: Call, x: Tensor, starts: Tensor, ends: Tensor, axes: Tensor = None, steps: Tensor = None) -> Tensor:
    chosen = tuple(range(starts.size)) if axes is None else call.ints(axes, "the axes")
    by = (1,) * starts.size if steps is None else call.ints(steps, "the steps")
    if 0 in by:
        raise call.error(f"has the steps {by}; they are other than 0")
    return _slice(x, call.ints(starts, "the starts"), call.ints(ends, "the ends"), chosen, by)


def _slice(x: Tensor, starts: Any, ends: Any, axes: Any, steps: Any) -> Tensor:
    index = [slice(None)] * x.ndim
    places = axes_in_range(axes, x.ndim)
    if not len(starts) == len(ends) == len(places) == len(steps):
        raise ValueError(f"{len(starts)} starts, {len(ends)} ends, {len(places)} axes and {len(steps)} steps")
    for start, end, axis, step in zip(starts, ends, places, steps, strict=True):
        n = x.shape[axis]
        start = start + n if start < 0 else start
        end = end + n if end < 0 else end
        if step > 0:
            start, end = min(max(start, 0), n), min(max(end, 0), n)
            index[axis] = slice(start, max(end, start), step)
        else:
            start, end = min(max(start, -1), n - 1), min(max(end, -1), n - 1)
            index[axis] = slice(start, None if end < 0 else end, step) if start > end else slice(0, 0)
    return x[tuple(index)]


@operator("Tile")
def tile(call: Call, x: Tensor, repeats: Tensor) -> Tensor:
    counts = call.ints(repeats, "the repeats")
    if len(counts) != x.ndim:
        raise ValueError(f"{len(counts)} repeats for {x.ndim} axes")
    lengths = tuple(n * k for n, k in zip(x.shape, counts, strict=True))
    check_lengths(call, lengths)
    return (np if is_known(x) and math.prod(lengths) <= KNOWN else aio).tile(x, counts)


@operator("Pad", since=2)
def pad_by_attributes(call: Call, x: Tensor) -> Tensor:
    value = np.asarray(call.number("value", 0.0), x.dtype)
    return padded(call, x, call.items("pads"), value, tuple(range(x.ndim)))


@operator("Pad", since=11)
def pad(call: Call, x: Tensor, pads: Tensor, value: Tensor = None, axes: Tensor = None) -> Tensor:
    places = tuple(range(x.ndim)) if axes is None else axes_in_range(call.ints(axes, "the axes"), x.ndim)
    return padded(call, x, call.ints(pads, "the pads"), value, places)


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def padded(call: Call, x: Tensor, pads: Any, value: Tensor, axes: tuple[int, ...]) -> Tensor:
    """``x`` with elements added at, or taken from, the ends of its axes."""
    mode = call.text("mode", "constant")
    if mode not in _PAD_MODES:
        raise call.error(f"is {mode!r}; it takes {', '.join(_PAD_MODES)}", "mode")
    if len(pads) != 2 * len(axes):
        raise ValueError(f"{len(pads)} pads for {len(axes)} axes; it takes two for each")
    widths = [[0, 0] for _ in range(x.ndim)]
    for place, axis in enumerate(axes):
        widths[axis] = [pads[place], pads[place + len(axes)]]
    check_lengths(call, tuple(max(n + low + high, 0) for n, (low, high) in zip(x.shape, widths, strict=True)))
    # Less than nothing is cut off.
    cut = tuple(slice(max(-low, 0), max(n - max(-high, 0), 0)) for n, (low, high) in zip(x.shape, widths, strict=True))
    x = x[cut]
    grown = [(max(low, 0), max(high, 0)) for low, high in widths]
    xp = namespace(x) if value is None or is_known(value) else aio
    if xp is np and math.prod(n + low + high for n, (low, high) in zip(x.shape, grown, strict=True)) > KNOWN:
        xp = aio
    if mode != "constant":
        return xp.pad(x, grown, mode=mode)
    filler = np.asarray(0, x.dtype) if value is None else namespace(value).reshape(value, ())
    return xp.pad(x, grown, constant_values=filler)


@operator("DepthToSpace")
def depth_to_space(call: Call, x: Tensor) -> Tensor:
    block = call.integer("blocksize")
    mode = call.text("mode", "DCR")
    batch, channels, *spatial = x.shape
    n = len(spatial)
    less = channels // block**n
    if mode == "DCR":
        x = aio.reshape(x, (batch, *[block] * n, less, *spatial))
        order = [0, n + 1]
        for k in range(n):
            order += [n + 2 + k, 1 + k]
    else:
        x = aio.reshape(x, (batch, less, *[block] * n, *spatial))
        order = [0, 1]
        for k in range(n):
            order += [n + 2 + k, 2 + k]
    return aio.reshape(aio.permute_dims(x, tuple(order)), (batch, less, *[length * block for length in spatial]))


@operator("SpaceToDepth")
def space_to_depth(call: Call, x: Tensor) -> Tensor:
    block = call.integer("blocksize")
    mode = call.text("mode", "DCR")
    batch, channels, *spatial = x.shape
    n = len(spatial)
    shape = [batch, channels]
    for length in spatial:
        shape += [length // block, block]
    x = aio.reshape(x, tuple(shape))
    outer, inner = [2 + 2 * k for k in range(n)], [3 + 2 * k for k in range(n)]
    order = [0, *inner, 1, *outer] if mode == "DCR" else [0, 1, *inner, *outer]
    return aio.reshape(
        aio.permute_dims(x, tuple(order)), (batch, channels * block**n, *[length // block for length in spatial])
    )


@operator("Trilu")
def trilu(call: Call, x: Tensor, k: Tensor = None) -> Tensor:
    offset = 0 if k is None else int(call.scalar(k, "the diagonal"))
    xp = namespace(x)
    return xp.triu(x, k=offset) if call.integer("upper", 1) else xp.tril(x, k=offset)


@operator("ReverseSequence")
def reverse_sequence(call: Call, x: Tensor, lengths: Tensor) -> Tensor:
    time, batch = call.integer("time_axis", 0), call.integer("batch_axis", 1)
    steps = np.arange(x.shape[time], dtype=np.int64)
    counts = aio.expand_dims(aio.astype(aio.asarray(lengths), np.int64), axis=1)
    places = aio.where(steps < counts, counts - 1 - steps, steps)  # (batch, time)
    shape = [1] * x.ndim
    shape[batch], shape[time] = x.shape[batch], x.shape[time]
    index = aio.reshape(places if batch < time else places.T, tuple(shape))
    return aio.take_along_axis(x, aio.broadcast_to(index, x.shape), axis=time)


@operator("CenterCropPad")
def center_crop_pad(call: Call, x: Tensor, shape: Tensor) -> Tensor:
    axes = axes_in_range(call.items("axes", tuple(range(x.ndim))), x.ndim)
    wanted = call.ints(shape, "the shape")
    if len(wanted) != len(axes):
        raise ValueError(f"{len(wanted)} lengths for {len(axes)} axes")
    check_lengths(call, wanted)
    index, widths = [slice(None)] * x.ndim, [(0, 0)] * x.ndim
    for axis, length in zip(axes, wanted, strict=True):
        n = x.shape[axis]
        if n > length:
            start = (n - length) // 2
            index[axis] = slice(start, start + length)
        else:
            before = (length - n) // 2
            widths[axis] = (before, length - n - before)
    return aio.pad(x[tuple(index)], widths)
