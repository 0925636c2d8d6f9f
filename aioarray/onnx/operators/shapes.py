"""Operators that make shapes, or arrays from shapes: what follows from shapes is known while the model is traced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio

from .._dtypes import DTYPES
from .._registry import operator
from .._values import KNOWN, LARGEST, Tensor, cast, filled, is_floating, is_known

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("Constant")
def constant(call: Call) -> Tensor:
    value = call.get("value")
    if value is None:
        value = call.get("sparse_value")
    if value is not None:
        return value
    for name, dtype in (
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
        ("value_string", object),
        ("value_strings", object),
    ):
        found = call.get(name)
        if found is not None:
            return np.asarray(found, dtype)
    raise call.error("has no value")


@operator("Shape")
def shape(call: Call, x: Tensor) -> Tensor:
    start, end = call.integer("start", 0), call.get("end")
    n = x.ndim
    start = min(max(start + n if start < 0 else start, 0), n)
    end = n if end is None else min(max(end + n if end < 0 else end, 0), n)
    return np.asarray(x.shape[start:end], np.int64)


@operator("Size")
def size(call: Call, x: Tensor) -> Tensor:
    return np.asarray(x.size, np.int64)


@operator("ConstantOfShape")
def constant_of_shape(call: Call, shape: Tensor) -> Tensor:
    value = call.get("value")
    lengths = call.ints(shape, "the shape")
    check_lengths(call, lengths)
    value = np.zeros(1, np.float32) if value is None else value
    if value.size != 1:
        raise call.error(f"has the shape {value.shape}; it takes one element", "value")
    return filled(lengths, value.reshape(()), value.dtype)


def check_lengths(call: Call, lengths: tuple[int, ...]) -> None:
    """``FormatError`` for a shape that no array has."""
    if any(n < 0 for n in lengths) or math.prod(lengths) > LARGEST:
        raise call.error(f"the shape {lengths} is no shape, or too large")


@operator("Range")
def range_(call: Call, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    dtype = start.dtype
    what = "how long a range is"
    low, high, step = (call.scalar(x, what) for x in (start, limit, delta))
    if not step:
        raise call.error("the step of a range is 0")
    count = max(math.ceil((high - low) / step), 0)
    check_lengths(call, (count,))
    if count <= KNOWN:
        return (low + np.arange(count) * step).astype(dtype)
    places = aio.arange(count, dtype=np.float64 if is_floating(start) else np.int64)
    return cast(low + places * step, dtype)


@operator("EyeLike")
def eye_like(call: Call, x: Tensor) -> Tensor:
    number = call.get("dtype")
    dtype = x.dtype if number is None else DTYPES[number]
    if x.ndim != 2:
        raise call.error(f"its input has the shape {x.shape}; it takes two axes")
    return cast(aio.eye(x.shape[0], x.shape[1], k=call.integer("k", 0), dtype=np.float32), dtype)


@operator("Expand")
def expand(call: Call, x: Tensor, shape: Tensor) -> Tensor:
    lengths = call.ints(shape, "the shape")
    check_lengths(call, lengths)
    target = np.broadcast_shapes(x.shape, lengths)
    if is_known(x) and math.prod(target) <= KNOWN:
        return np.broadcast_to(x, target)
    return aio.broadcast_to(x, target)
