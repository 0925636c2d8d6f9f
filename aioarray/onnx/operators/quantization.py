"""Quantised operators: integers or float8 with a scale and a zero point, for the whole, for an axis, or for blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._dtypes import DTYPES
from .._registry import operator
from .._values import Tensor, as_array, axes_in_range, cast, is_floating
from .convolution import convolved
from .elementwise import converted

if TYPE_CHECKING:
    from .._evaluate import Call

_RANGES = {
    "int2": (-2, 1),
    "uint2": (0, 3),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
}


def spread(x: Tensor, shape: tuple[int, ...], axis: int, block: int) -> Tensor:
    """A scale or zero point as it broadcasts against an array of this shape."""
    if x.size == 1 and x.ndim <= 1:
        return x.reshape(()) if isinstance(x, np.ndarray) else aio.reshape(x, ())
    place = axes_in_range([axis], len(shape))[0]
    if x.ndim == 1:
        lengths = tuple(-1 if k == place else 1 for k in range(len(shape)))
        return x.reshape(lengths) if isinstance(x, np.ndarray) else aio.reshape(x, lengths)
    if not block:
        return x
    repeated = np.repeat(x, block, axis=place) if isinstance(x, np.ndarray) else aio.repeat(x, block, axis=place)
    return repeated[tuple(slice(0, shape[k]) if k == place else slice(None) for k in range(len(shape)))]


def quantized(call: Call, x: Tensor, scale: Tensor, zero: Tensor, dtype: Any, axis: int = 1, block: int = 0) -> Tensor:
    """``x`` over ``scale`` plus ``zero``, rounded half to even and kept in the range of ``dtype``."""
    precision = call.integer("precision", 0)
    factor = spread(scale, x.shape, axis, block)
    if precision:
        x, factor = cast(x, DTYPES[precision]), cast(factor, DTYPES[precision])
    if not is_floating(x):
        x = cast(x, np.float32)
    ratio = x / cast(factor, x.dtype)
    if dtype.name not in _RANGES:
        return converted(call, ratio, dtype, bool(call.integer("saturate", 1)))
    low, high = _RANGES[dtype.name]
    whole = aio.round(cast(ratio, np.float32) if ratio.dtype.itemsize < 4 else ratio)
    if zero is not None:
        whole = whole + cast(spread(zero, x.shape, axis, block), whole.dtype)
    return cast(aio.clip(whole, low, high), dtype)


@operator("QuantizeLinear")
def quantize_linear(call: Call, x: Tensor, scale: Tensor, zero: Tensor = None) -> Tensor:
    number = call.integer("output_dtype", 0)
    dtype = zero.dtype if zero is not None else DTYPES[number or 2]
    if dtype.name.startswith("float"):
        zero = None
    return quantized(call, x, scale, zero, dtype, call.integer("axis", 1), call.integer("block_size", 0))


@operator("DequantizeLinear")
def dequantize_linear(call: Call, x: Tensor, scale: Tensor, zero: Tensor = None) -> Tensor:
    axis, block = call.integer("axis", 1), call.integer("block_size", 0)
    number = call.integer("output_dtype", 0)
    target = DTYPES[number] if number else scale.dtype
    factor = spread(scale, x.shape, axis, block)
    wide = cast(x, np.float32)
    if zero is not None and not zero.dtype.name.startswith("float"):
        wide = wide - cast(spread(zero, x.shape, axis, block), np.float32)
    return cast(wide * cast(factor, np.float32), target)


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(call: Call, x: Tensor) -> tuple[Tensor, ...]:
    high, low = aio.maximum(aio.max(x), 0), aio.minimum(aio.min(x), 0)
    scale = (high - low) / np.float32(255)
    safe = aio.where(scale == 0, 1, scale)
    zero = aio.clip(aio.round(-low / safe), 0, 255)
    y = aio.clip(aio.round(x / safe) + zero, 0, 255)
    return cast(y, np.uint8), scale, cast(zero, np.uint8)


def _less_zero(x: Tensor, zero: Tensor, axis: int | None = None) -> Tensor:
    """``x`` without its zero point, exact in int32."""
    wide = cast(as_array(x), np.int32)
    if zero is None:
        return wide
    zero = cast(zero, np.int32)
    if zero.ndim == 1 and zero.size > 1 and axis is not None:
        zero = aio.reshape(zero, tuple(-1 if k == axis % x.ndim else 1 for k in range(x.ndim)))
    elif zero.size == 1:
        zero = aio.reshape(zero, ())
    return wide - zero


@operator("MatMulInteger")
def matmul_integer(call: Call, x: Tensor, y: Tensor, x_zero: Tensor = None, y_zero: Tensor = None) -> Tensor:
    return aio.matmul(_less_zero(x, x_zero, -2), _less_zero(y, y_zero, -1))


@operator("QLinearMatMul")
def qlinear_matmul(
    call: Call,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    y: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
) -> Tensor:
    if x.dtype.name.startswith("float8"):
        product = aio.matmul(cast(x, np.float32), cast(y, np.float32))
    else:
        product = cast(aio.matmul(_less_zero(x, x_zero, -2), _less_zero(y, y_zero, -1)), np.float32)
    rows = spread(x_scale, x.shape, -2, 0)
    columns = spread(y_scale, y.shape, -1, 0)
    factor = cast(rows, np.float32) * cast(columns, np.float32)
    return quantized(call, product * factor, cast(scale, np.float32), zero, zero.dtype, -1)


def _convolved_integers(call: Call, x: Tensor, kernel: Tensor, x_zero: Tensor, kernel_zero: Tensor) -> Tensor:
    # XLA's convolutions of float32 are many times as fast as those of integers; float64 holds the sums exactly.
    left, right = _less_zero(x, x_zero), _less_zero(kernel, kernel_zero, 0)
    terms = kernel.size // kernel.shape[0]
    exact = np.float32 if terms * 510 * 510 < 1 << 24 else np.float64
    return cast(aio.round(convolved(call, cast(left, exact), cast(right, exact))), np.int32)


@operator("ConvInteger")
def conv_integer(call: Call, x: Tensor, kernel: Tensor, x_zero: Tensor = None, kernel_zero: Tensor = None) -> Tensor:
    return _convolved_integers(call, x, kernel, x_zero, kernel_zero)


@operator("QLinearConv")
def qlinear_conv(
    call: Call,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    kernel: Tensor,
    kernel_scale: Tensor,
    kernel_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
    bias: Tensor = None,
) -> Tensor:
    total = _convolved_integers(call, x, kernel, x_zero, kernel_zero)
    if bias is not None:
        total = total + aio.reshape(bias, (-1, *[1] * (x.ndim - 2)))
    factor = x_scale.reshape(()) * spread(kernel_scale, total.shape, 1, 0)
    return quantized(call, cast(total, np.float32) * factor, scale, zero, zero.dtype)
