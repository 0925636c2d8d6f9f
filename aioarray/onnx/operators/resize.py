"""``Resize`` and ``Upsample``: along each axis, every element of the result is a weighted sum of a few of the input's.

Which and how much follows from shapes and attributes, so it is computed in NumPy while the model is traced.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import aioarray as aio

from .._registry import operator
from .._values import Tensor, as_array, axes_in_range, cast, is_floating
from .shapes import check_lengths

if TYPE_CHECKING:
    from .._evaluate import Call

# In NumPy, of float64.
Places: TypeAlias = "np.ndarray[Any, Any]"
# With more terms than this, sums are products with a matrix.
TERMS = 4


class _Axis:
    """One axis to resize: how long it is, and will be."""

    def __init__(self, length: int, scale: float, wanted: int, roi: tuple[float, float]) -> None:
        self.length, self.scale, self.wanted, self.roi = length, scale, wanted, roi

    def places(self, call: Call, mode: str) -> Any:
        """Where in the input each element of the result is."""
        # Nearest elements are those that float32 finds, as other runtimes do: it decides where two are equally near.
        dtype: Any = np.float32 if call.text("mode", "nearest") == "nearest" else np.float64
        y: Any = np.arange(self.wanted, dtype=dtype)
        scale, whole = dtype(self.scale), self.scale * self.length
        if mode == "align_corners":
            return y * 0 if whole == 1 else y * (self.length - 1) / (whole - 1)
        if mode == "asymmetric":
            return y / scale
        if mode == "half_pixel" or (mode == "pytorch_half_pixel" and whole != 1):
            return (y + 0.5) / scale - 0.5
        if mode == "pytorch_half_pixel":
            return y * 0 - 0.5
        if mode == "half_pixel_symmetric":
            return self.length / 2 * (1 - self.wanted / whole) + (y + 0.5) / scale - 0.5
        if mode == "tf_half_pixel_for_nn":
            return (y + 0.5) / scale
        if mode == "tf_crop_and_resize":
            start, end = self.roi
            if whole == 1:
                return y * 0 + (start + end) / 2 * (self.length - 1)
            return start * (self.length - 1) + y * (end - start) * (self.length - 1) / (whole - 1)
        raise call.error(f"is {mode!r}, which is none of ONNX's", "coordinate_transformation_mode")


def _nearest(call: Call, x: Places, mode: str) -> Places:
    if mode == "round_prefer_floor":
        return np.ceil(x - 0.5)
    if mode == "round_prefer_ceil":
        return np.floor(x + 0.5)
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    raise call.error(f"is {mode!r}, which is none of ONNX's", "nearest_mode")


def _triangle(x: Places, _: float) -> Places:
    near: Places = np.maximum(1 - np.abs(x), 0)
    return near


def _cubic(x: np.ndarray[Any, Any], a: float) -> np.ndarray[Any, Any]:
    """Keys, "Cubic convolution interpolation for digital image processing" (1981)."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _weights(call: Call, axis: _Axis, x: np.ndarray[Any, Any], mode: str) -> tuple[Any, Any]:
    """For each element of the result the places of its terms, and their weights: (wanted, terms) each."""
    kernel, reach = (_triangle, 1) if mode == "linear" else (_cubic, 2)
    squeeze = min(axis.scale, 1.0) if call.integer("antialias", 0) else 1.0
    span = math.ceil(reach / squeeze)
    places = np.floor(x).astype(np.int64)[:, None] + np.arange(1 - span, span + 1)
    weights = kernel((places - x[:, None]) * squeeze, call.number("cubic_coeff_a", -0.75))
    if call.integer("exclude_outside", 0):
        weights = np.where((places >= 0) & (places < axis.length), weights, 0)
    total = weights.sum(axis=1, keepdims=True)
    return np.clip(places, 0, axis.length - 1), weights / np.where(total == 0, 1, total)


def _resized_axis(call: Call, x: Tensor, number: int, axis: _Axis, mode: str, transform: str, nearest: str) -> Tensor:
    places = axis.places(call, transform)
    y: Any = None
    if mode == "nearest":
        index = np.clip(_nearest(call, places, nearest), 0, axis.length - 1).astype(np.int64)
        y = aio.take(x, index, axis=number)
    else:
        terms, weights = _weights(call, axis, places, mode)
        shape = [1] * x.ndim
        shape[number] = axis.wanted
        if terms.shape[1] <= TERMS:
            for k in range(terms.shape[1]):
                term = aio.take(x, terms[:, k], axis=number) * weights[:, k].astype(x.dtype).reshape(shape)
                y = term if y is None else y + term
        else:
            matrix = np.zeros((axis.length, axis.wanted))
            np.add.at(matrix, (terms.T, np.arange(axis.wanted)), weights.T)
            y = aio.moveaxis(aio.matmul(aio.moveaxis(x, number, -1), matrix.astype(x.dtype)), -1, number)
    if transform == "tf_crop_and_resize":
        outside = (places < 0) | (places > axis.length - 1)
        if outside.any():
            shape = [-1 if k == number else 1 for k in range(x.ndim)]
            y = aio.where(outside.reshape(shape), np.asarray(call.number("extrapolation_value", 0.0), x.dtype), y)
    return y


def resized(call: Call, x: Tensor, axes: dict[int, _Axis], mode: str, transform: str, nearest: str) -> Tensor:
    """``x`` with some of its axes resized."""
    check_lengths(call, tuple(axes[k].wanted if k in axes else n for k, n in enumerate(x.shape)))
    y = as_array(x)
    exact = mode == "nearest"
    if not exact and (not is_floating(x) or x.dtype.itemsize < 4):
        y = cast(y, np.float32)
    for number, axis in axes.items():
        if axis.wanted != axis.length or axis.scale != 1 or transform == "tf_crop_and_resize":
            y = _resized_axis(call, y, number, axis, mode, transform, nearest)
    if y.dtype == x.dtype:
        return y
    if not is_floating(x):
        limits = np.iinfo(x.dtype)
        y = aio.clip(aio.round(y), limits.min, limits.max)
    return cast(y, x.dtype)


def _by_scales(call: Call, x: Tensor, scales: Any) -> dict[int, _Axis]:
    if len(scales) != x.ndim:
        raise ValueError(f"{len(scales)} scales for {x.ndim} axes")
    return {
        k: _Axis(n, _checked(call, float(scale)), math.floor(n * float(scale)), (0.0, 1.0))
        for k, (n, scale) in enumerate(zip(x.shape, scales, strict=True))
    }


@operator("Upsample", since=7)
def upsample_by_attribute(call: Call, x: Tensor) -> Tensor:
    return _upsample(call, x, call.items("scales"))


@operator("Upsample", since=9)
def upsample(call: Call, x: Tensor, scales: Tensor) -> Tensor:
    return _upsample(call, x, call.host(scales, "the scales"))


def _upsample(call: Call, x: Tensor, scales: Any) -> Tensor:
    mode = call.text("mode", "nearest")
    if mode not in ("nearest", "linear"):
        raise call.error(f"is {mode!r}; it takes nearest or linear", "mode")
    return resized(call, x, _by_scales(call, x, scales), mode, "asymmetric", "floor")


@operator("Resize", since=10)
def resize_by_scales(call: Call, x: Tensor, scales: Tensor) -> Tensor:
    return _upsample(call, x, call.host(scales, "the scales"))


@operator("Resize", since=11)
def resize(call: Call, x: Tensor, roi: Tensor = None, scales: Tensor = None, sizes: Tensor = None) -> Tensor:
    mode = call.text("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise call.error(f"is {mode!r}; it takes nearest, linear or cubic", "mode")
    transform = call.text("coordinate_transformation_mode", "half_pixel")
    numbers = axes_in_range(call.items("axes", tuple(range(x.ndim))), x.ndim)
    n = len(numbers)
    regions = [(0.0, 1.0)] * n
    if transform == "tf_crop_and_resize":
        corners = [] if roi is None else call.host(roi, "the region").astype(np.float64).tolist()
        if len(corners) != 2 * n:
            raise ValueError(f"a region of {len(corners)} numbers for {n} axes; it takes two for each")
        regions = [(corners[k], corners[k + n]) for k in range(n)]
    lengths = [x.shape[k] for k in numbers]
    if sizes is not None and sizes.size:
        wanted = list(call.ints(sizes, "the sizes"))
        if len(wanted) != n:
            raise ValueError(f"{len(wanted)} sizes for {n} axes")
        factors = [length / max(k, 1) for length, k in zip(wanted, lengths, strict=True)]
        policy = call.text("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            if policy not in ("not_larger", "not_smaller"):
                raise call.error(f"is {policy!r}, which is none of ONNX's", "keep_aspect_ratio_policy")
            one = (min if policy == "not_larger" else max)(factors)
            factors = [one] * n
            wanted = [math.floor(one * k + 0.5) for k in lengths]
        axes = {
            number: _Axis(length, factor, size, region)
            for number, length, factor, size, region in zip(numbers, lengths, factors, wanted, regions, strict=True)
        }
    elif scales is not None and scales.size:
        given = call.host(scales, "the scales").astype(np.float64).tolist()
        if len(given) != n:
            raise ValueError(f"{len(given)} scales for {n} axes")
        axes = {
            number: _Axis(length, _checked(call, factor), math.floor(length * factor), region)
            for number, length, factor, region in zip(numbers, lengths, given, regions, strict=True)
        }
    else:
        raise call.error("has neither scales nor sizes")
    return resized(call, x, axes, mode, transform, call.text("nearest_mode", "round_prefer_floor"))


def _checked(call: Call, scale: float) -> float:
    if not (scale > 0 and math.isfinite(scale)):
        raise call.error(f"has the scale {scale}; scales are above 0")
    return scale
