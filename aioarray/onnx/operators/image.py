"""Operators on images and boxes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._registry import operator
from .._values import Tensor, as_array, cast

if TYPE_CHECKING:
    from .._evaluate import Call


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """``x`` mirrored at both ends until it is between them."""
    span = high - low
    if span <= 0:
        return x * 0 + low
    distance = aio.abs(x - low)
    turns = aio.floor(distance / span)
    rest = distance - turns * span
    return aio.where(aio.remainder(turns, 2) == 0, low + rest, high - rest)


def _cubic_weights(x: Tensor) -> list[Tensor]:
    a = -0.75
    weights: list[Tensor] = []
    for distance in (x + 1, x, 1 - x, 2 - x):
        near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        weights.append(near if len(weights) in (1, 2) else far)
    return weights


@operator("GridSample", since=16)
def grid_sample(call: Call, x: Tensor, grid: Tensor) -> Tensor:
    """The elements at places that ``grid`` tells, from -1 to 1 along each axis, the last axis first."""
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(call.text("mode", "linear"), call.text("mode", "linear"))
    padding, aligned = call.text("padding_mode", "zeros"), bool(call.integer("align_corners", 0))
    if mode not in ("nearest", "linear", "cubic"):
        raise call.error(f"is {mode!r}; it takes nearest, linear or cubic", "mode")
    if padding not in ("zeros", "border", "reflection"):
        raise call.error(f"is {padding!r}; it takes zeros, border or reflection", "padding_mode")
    x, grid = as_array(x), as_array(grid)
    batch, channels, *lengths = x.shape
    n = len(lengths)
    # For each axis of the input, the taps: places and weights, of the shape (batch, places of the result).
    taps: list[list[tuple[Tensor, Tensor]]] = []
    for k, length in enumerate(lengths):
        position = aio.reshape(grid[..., n - 1 - k], (batch, -1))
        position = (position + 1) / 2 * (length - 1) if aligned else ((position + 1) * length - 1) / 2
        low, high = (0.0, length - 1.0) if aligned else (-0.5, length - 0.5)
        if mode == "nearest":
            position = aio.round(position)
        # Cubic terms are brought inside one by one, as PyTorch does it.
        if mode == "cubic":
            pass
        elif padding == "border":
            position = aio.clip(position, 0, length - 1)
        elif padding == "reflection":
            position = _reflected(position, low, high)
        if mode == "nearest":
            taps.append([(position, aio.ones(position.shape, dtype=position.dtype))])
            continue
        first = aio.floor(position)
        part = position - first
        if mode == "linear":
            taps.append([(first, 1 - part), (first + 1, part)])
        else:
            taps.append([(first + (j - 1), weight) for j, weight in enumerate(_cubic_weights(part))])
    total = None
    rows, columns = np.arange(batch).reshape(-1, 1, 1), np.arange(channels).reshape(1, -1, 1)
    for combination in itertools.product(*taps):
        index: list[Any] = []
        weight = None
        for k, (place, share) in enumerate(combination):
            length = lengths[k]
            if padding == "zeros":
                share = aio.where((place >= 0) & (place <= length - 1), share, 0)
            elif padding == "reflection":
                low, high = (0.0, length - 1.0) if aligned else (-0.5, length - 0.5)
                place = _reflected(place, low, high)
            place = aio.clip(place, 0, length - 1)
            weight = share if weight is None else weight * share
            index.append(aio.expand_dims(aio.astype(place, np.int32), axis=1))
        assert weight is not None
        term = x[(rows, columns, *index)] * aio.expand_dims(cast(weight, x.dtype), axis=1)
        total = term if total is None else total + term
    assert total is not None
    return aio.reshape(total, (batch, channels, *grid.shape[1:-1]))


@operator("RoiAlign")
def roi_align(call: Call, x: Tensor, rois: Tensor, batch: Tensor) -> Tensor:
    """Each region of an image as a small one: means, or maxima, of interpolated elements in each of its parts."""
    high, wide = call.integer("output_height", 1), call.integer("output_width", 1)
    ratio, scale = call.integer("sampling_ratio", 0), call.number("spatial_scale", 1.0)
    default = "half_pixel" if call.version >= 16 else "output_half_pixel"
    half = call.text("coordinate_transformation_mode", default) == "half_pixel"
    kind = call.text("mode", "avg")
    x, rois = as_array(x), as_array(rois)
    _, channels, height, width = x.shape
    corners = rois * scale - (0.5 if half else 0.0)
    grids = []
    for first, last, parts, length in ((1, 3, high, height), (0, 2, wide, width)):
        start = corners[:, first]
        extent = corners[:, last] - start
        if not half:
            extent = aio.maximum(extent, 1.0)
        step = extent / parts  # of each part
        if ratio > 0:
            count: Any = ratio
            each: Any = np.float32(ratio)
        else:
            counts = np.maximum(np.ceil(call.host(step, "how many samples a region takes")), 1)
            count, each = int(counts.max(initial=1)), counts.astype(np.float32)
        each = aio.broadcast_to(as_array(np.asarray(each, x.dtype)), (rois.shape[0],))
        samples = np.arange(count, dtype=np.float32)
        inner = (samples + 0.5) * step[:, None] / each[:, None]  # (regions, samples)
        places = start[:, None, None] + np.arange(parts, dtype=np.float32)[:, None] * step[:, None, None]
        places = places + inner[:, None, :]  # (regions, parts, samples)
        used = (samples < each[:, None])[:, None, :]
        outside = (places < -1.0) | (places > length)
        inside = aio.maximum(places, 0.0)
        low = aio.minimum(aio.floor(inside), length - 1)
        up = aio.minimum(low + 1, length - 1)
        share = aio.where(low >= length - 1, 0, inside - low)
        grids.append((low, up, share, outside, used, each))
    (y0, y1, sy, out_y, use_y, n_y), (x0, x1, sx, out_x, use_x, n_x) = grids
    skipped = out_y[:, :, :, None, None] | out_x[:, None, None]
    used = use_y[:, :, :, None, None] & use_x[:, None, None]
    image = aio.reshape(aio.astype(as_array(batch), np.int32), (-1, 1, 1, 1, 1, 1))
    channel = np.arange(channels).reshape(1, -1, 1, 1, 1, 1)
    terms = []
    for py, wy in ((y0, 1 - sy), (y1, sy)):
        for px, wx in ((x0, 1 - sx), (x1, sx)):
            rows = aio.astype(py, np.int32)[:, None, :, :, None, None]
            columns = aio.astype(px, np.int32)[:, None, None, None]
            weight = wy[:, :, :, None, None] * wx[:, None, None]
            weight = cast(aio.where(skipped, 0, weight), x.dtype)
            terms.append(x[image, channel, rows, columns] * weight[:, None])  # (regions, channels, h, sy, w, sx)
    if kind == "max":
        best = aio.maximum(aio.maximum(terms[0], terms[1]), aio.maximum(terms[2], terms[3]))
        return aio.max(aio.where(used[:, None], best, -np.inf), axis=(3, 5))
    total = terms[0] + terms[1] + terms[2] + terms[3]
    total = aio.sum(aio.where(used[:, None], total, 0), axis=(3, 5))
    return cast(total / aio.reshape(n_y * n_x, (-1, 1, 1, 1)), x.dtype)


@operator("NonMaxSuppression", since=10)
def non_max_suppression(
    call: Call, boxes: Tensor, scores: Tensor, most: Tensor = None, overlap: Tensor = None, least: Tensor = None
) -> Tensor:
    """The best boxes of each class that overlap none that is better. How many there are depends on the values."""
    what = "how many boxes are left"
    places, values = call.host(boxes, what), call.host(scores, what)
    limit = 0 if most is None else int(call.scalar(most, what))
    threshold = 0.0 if overlap is None else float(call.scalar(overlap, what))
    lowest = -np.inf if least is None else float(call.scalar(least, what))
    found = []
    for batch in range(values.shape[0]):
        edges = _edges(places[batch].astype(np.float32), bool(call.integer("center_point_box", 0)))
        for kind in range(values.shape[1]):
            row = values[batch, kind]
            candidates = np.flatnonzero(row > lowest)
            order = candidates[np.argsort(-row[candidates], kind="stable")]
            chosen: list[int] = []
            while order.size and len(chosen) < limit:
                best, order = int(order[0]), order[1:]
                chosen.append(best)
                order = order[_overlaps(edges, best, order) <= threshold]
            found += [(batch, kind, box) for box in chosen]
    return np.asarray(found, np.int64).reshape(-1, 3)


def _edges(boxes: np.ndarray[Any, Any], centred: bool) -> np.ndarray[Any, Any]:
    """(low y, low x, high y, high x) of each box."""
    if centred:
        x, y, width, height = boxes.T
        return np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], axis=1)
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1)


def _overlaps(edges: np.ndarray[Any, Any], one: int, others: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Intersection over union of one box with others."""
    low, high = np.maximum(edges[one, :2], edges[others, :2]), np.minimum(edges[one, 2:], edges[others, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    areas = np.prod(edges[:, 2:] - edges[:, :2], axis=1)
    union = areas[one] + areas[others] - shared
    return np.where(shared > 0, shared / np.where(union > 0, union, 1), 0.0)
