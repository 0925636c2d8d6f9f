"""Operators that take elements by their places, or put them there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, as_array, axes_in_range, cast, is_known, namespace

if TYPE_CHECKING:
    from .._evaluate import Call


def _from_the_front(indices: Tensor, length: int) -> Tensor:
    """Indices below 0 count from the end."""
    xp = namespace(indices)
    zero = np.asarray(0, indices.dtype)
    return xp.where(xp.less(indices, zero), indices + np.asarray(length, indices.dtype), indices)


@operator("Gather")
def gather(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    axis = axes_in_range([call.integer("axis", 0)], x.ndim)[0]
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if is_known(x) and is_known(indices):
        return np.take(x, indices, axis=axis)
    if is_known(indices) and indices.ndim == 0:
        place = int(indices)
        if not -x.shape[axis] <= place < x.shape[axis]:
            raise ValueError(f"the index {place} is out of range for {x.shape[axis]} elements")
        return x[tuple(place if k == axis else slice(None) for k in range(x.ndim))]
    flat = namespace(indices).reshape(_from_the_front(indices, x.shape[axis]), (indices.size,))
    return aio.reshape(aio.take(x, flat, axis=axis), shape)


@operator("GatherElements")
def gather_elements(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    axis = axes_in_range([call.integer("axis", 0)], x.ndim)[0]
    return x[_grid(_from_the_front(indices, x.shape[axis]), axis)]


def _grid(indices: Tensor, axis: int) -> tuple[Any, ...]:
    """The index of elements that are where they are, but along ``axis`` where ``indices`` say."""
    n = indices.ndim
    return tuple(
        indices if k == axis else np.arange(length).reshape([-1 if j == k else 1 for j in range(n)])
        for k, length in enumerate(indices.shape)
    )


@operator("GatherND")
def gather_nd(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    batch, depth = call.integer("batch_dims", 0), indices.shape[-1]
    if batch + depth > x.ndim:
        raise ValueError(f"indices of {depth} axes after {batch} of a batch, for an array of {x.ndim}")
    n = indices.ndim - 1
    index: list[Any] = [np.arange(x.shape[k]).reshape([-1 if j == k else 1 for j in range(n)]) for k in range(batch)]
    index += [_from_the_front(indices[..., k], x.shape[batch + k]) for k in range(depth)]
    if is_known(x) and is_known(indices):
        return x[tuple(index)]
    return as_array(x)[tuple(index)]


@operator("ScatterElements", "Scatter")
def scatter_elements(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    axis = axes_in_range([call.integer("axis", 0)], x.ndim)[0]
    index = _grid(_from_the_front(indices, x.shape[axis]), axis)
    return _scattered(call, x, index, updates)


@operator("ScatterND")
def scatter_nd(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    depth = indices.shape[-1]
    index = tuple(_from_the_front(indices[..., k], x.shape[k]) for k in range(depth))
    return _scattered(call, x, index, updates)


_UPDATES = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}


def _scattered(call: Call, x: Tensor, index: tuple[Any, ...], updates: Tensor) -> Tensor:
    kind = call.text("reduction", "none")
    if kind not in _UPDATES:
        raise call.error(f"is {kind!r}; it takes {', '.join(_UPDATES)}", "reduction")
    if is_known(x) and is_known(updates) and all(map(is_known, index)) and kind == "none":
        result = x.copy()
        result[index] = updates
        return result
    x = as_array(x)
    return getattr(x.at[index], _UPDATES[kind])(updates)


@operator("OneHot")
def one_hot(call: Call, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    count = int(call.scalar(depth, "the depth"))
    axis = call.integer("axis", -1)
    places = _from_the_front(cast(indices, np.int64), count)
    hot = nn.one_hot(places, count, axis=axis, dtype=np.bool_)
    return aio.where(hot, values[1], values[0])


@operator("Compress")
def compress(call: Call, x: Tensor, condition: Tensor) -> Tensor:
    axis = call.get("axis")
    kept = np.flatnonzero(call.host(condition, "how many elements are kept"))
    if axis is None:
        return aio.take(aio.reshape(x, (x.size,)), kept, axis=0)
    return aio.take(x, kept, axis=axis)


@operator("NonZero")
def non_zero(call: Call, x: Tensor) -> Tensor:
    if is_known(x):
        return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)
    if x.ndim == 0:
        x = aio.reshape(x, (1,))
    count = int(call.scalar(aio.count_nonzero(x), "how many elements are not zero"))
    return aio.stack([cast(y, np.int64) for y in aio.nonzero(x, size=count)])


@operator("TensorScatter")
def tensor_scatter(call: Call, cache: Tensor, update: Tensor, starts: Tensor = None) -> Tensor:
    """``update`` written into ``cache`` from the place on that ``starts`` says for each of the batch."""
    axis = axes_in_range([call.integer("axis", -2)], cache.ndim)[0]
    circular = call.text("mode", "linear") == "circular"
    batch, length, steps = cache.shape[0], cache.shape[axis], update.shape[axis]
    begin = np.zeros(batch, np.int64) if starts is None else starts
    shape = [1] * cache.ndim
    shape[0] = batch
    places = namespace(begin).reshape(cast(begin, np.int64), tuple(shape))
    along = [1] * cache.ndim
    along[axis] = steps
    places = places + np.arange(steps).reshape(along)
    if circular:
        places = places % np.int64(length)
    index = tuple(
        places if k == axis else np.arange(n).reshape([-1 if j == k else 1 for j in range(cache.ndim)])
        for k, n in enumerate(update.shape)
    )
    return as_array(cache).at[index].set(update)


@operator("Det")
def det(call: Call, x: Tensor) -> Tensor:
    return aio.linalg.det(x)


@operator("Col2Im")
def col2im(call: Call, x: Tensor, image: Tensor, block: Tensor) -> Tensor:
    """Columns added up to the image that they were cut out of."""
    lengths, sizes = call.ints(image, "the shape of the image"), call.ints(block, "the shape of a block")
    n = len(lengths)
    dilations, strides = call.items("dilations", (1,) * n), call.items("strides", (1,) * n)
    pads = call.items("pads", (0,) * 2 * n)
    counts = tuple(
        (lengths[k] + pads[k] + pads[k + n] - dilations[k] * (sizes[k] - 1) - 1) // strides[k] + 1 for k in range(n)
    )
    batch, channels = x.shape[0], x.shape[1] // math.prod(sizes)
    x = aio.reshape(x, (batch, channels, *sizes, *counts))
    index: list[Any] = [slice(None), slice(None)]
    for k in range(n):
        places = np.arange(sizes[k])[:, None] * dilations[k] + np.arange(counts[k]) * strides[k]
        shape = [1] * (2 * n)
        shape[k], shape[n + k] = places.shape
        index.append(places.reshape(shape))
    whole = aio.zeros((batch, channels, *[lengths[k] + pads[k] + pads[k + n] for k in range(n)]), dtype=x.dtype)
    whole = whole.at[tuple(index)].add(x)
    return whole[(slice(None), slice(None), *[slice(pads[k], pads[k] + lengths[k]) for k in range(n)])]
