"""Pooling: one value for each window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from .._graph import ArraySpec, Emitter, Node, Op, constant, definition
from ._primitives import divide, transpose
from ._rules import broadcast_to, check_dtype, convert, int_array, scalar
from .convolution import Ints, Pairs, resolve_padding, spatial_axes, spread, window_count
from .products import contract
from .statistical import lowest, widened

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _reduced(
    x: ArraySpec, initial: ArraySpec, *, window: Ints, stride: Ints, dilation: Ints, padding: Pairs, combine: str
) -> ArraySpec:
    return x.with_shape(
        tuple(
            window_count(n + low + high, spread(k, d), s)
            for n, k, s, d, (low, high) in zip(x.shape, window, stride, dilation, padding, strict=True)
        )
    )


def _lower(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    padding = [list(pair) for pair in node.params["padding"]]
    return emitter.op(
        "stablehlo.reduce_window",
        operands,
        tuple(child.spec for child in node.inputs),
        node.specs,
        {
            "window_dimensions": int_array(node.params["window"]),
            "window_strides": int_array(node.params["stride"]),
            "base_dilations": int_array([1] * len(padding)),
            "window_dilations": int_array(node.params["dilation"]),
            "padding": f"dense<{padding}> : tensor<{len(padding)}x2xi64>",
        },
        (emitter.reducer(node.params["combine"], node.dtype),),
    )


# x, initial value -> the elements of each window combined, with the initial value in place of the padding.
REDUCE_WINDOW = Op("reduce_window", _reduced, _lower)


def _pooled(
    function: str,
    x: Node,
    initial: object,
    combine: str,
    window: Ints,
    stride: Ints,
    padding: Pairs | str,
    dilation: Ints,
    channels_last: bool,
) -> Node:
    axes = spatial_axes(x, channels_last)
    pairs = resolve_padding(function, padding, x, axes, window, stride, dilation)
    for axis, size, (low, high), step in zip(axes, window, pairs, dilation, strict=True):
        if size < 1 or max(low, high) >= spread(size, step):
            raise ValueError(
                f"{function}: a window of {size} with a padding of {low, high} along axis {axis}; windows must be at "
                "least 1 long, and longer than the padding, or they hold nothing"
            )

    def whole(values: Ints) -> Ints:
        return tuple(values[axes.index(k)] if k in axes else 1 for k in range(x.ndim))

    return REDUCE_WINDOW(
        x,
        scalar(initial, x.dtype),
        window=whole(window),
        stride=whole(stride),
        dilation=whole(dilation),
        padding=tuple(pairs[axes.index(k)] if k in axes else (0, 0) for k in range(x.ndim)),
        combine=combine,
    )


@definition
def max_pool(x: Node, window: Ints, stride: Ints, padding: Pairs | str, dilation: Ints, channels_last: bool) -> Node:
    """The greatest of each window; padding does not count."""
    check_dtype("max_pool", x, dtypes.REAL)
    return _pooled(
        "max_pool", x, lowest(x.dtype), "stablehlo.maximum", window, stride, padding, dilation, channels_last
    )


@definition
def avg_pool(
    x: Node, window: Ints, stride: Ints, padding: Pairs | str, count_padding: bool, channels_last: bool
) -> Node:
    """The mean of each window, with or without the padding's zeros."""
    dtype = x.dtype
    check_dtype("avg_pool", x, dtypes.REAL_FLOATING)
    x = widened(x)
    ones = (1,) * len(window)
    total = _pooled("avg_pool", x, 0, "stablehlo.add", window, stride, padding, ones, channels_last)
    if count_padding:
        count = scalar(math.prod(window), x.dtype)
    else:
        axes = spatial_axes(x, channels_last)
        pairs = resolve_padding("avg_pool", padding, x, axes, window, stride, ones)
        counts = np.ones((1,) * x.ndim)
        for axis, k, s, (low, _) in zip(axes, window, stride, pairs, strict=True):
            starts = np.arange(total.shape[axis]) * s - low
            inside = np.minimum(starts + k, x.shape[axis]) - np.maximum(starts, 0)
            counts = counts * inside.reshape([-1 if other == axis else 1 for other in range(x.ndim)])
        count = constant(counts.astype(x.dtype))
    return convert(divide(total, broadcast_to(count, total.shape)), dtype)


@definition
def adaptive_avg_pool(x: Node, size: Ints, channels_last: bool) -> Node:
    """Means of ``size`` pieces of each axis, as even as they can be; pieces overlap where it does not divide."""
    dtype = x.dtype
    check_dtype("adaptive_avg_pool", x, dtypes.REAL_FLOATING)
    x = widened(x)
    axes = spatial_axes(x, channels_last)
    for axis, count in zip(axes, size, strict=True):
        if count < 1 or x.shape[axis] < 1:
            raise ValueError(
                f"adaptive_avg_pool: axis {axis} of length {x.shape[axis]} into {count} pieces; both must be at least 1"
            )
        means = contract(x, _averages(x.shape[axis], count, x.dtype), ((axis,), (0,)), ((), ()), "highest")
        # The new axis is the last.
        order = list(range(x.ndim - 1))
        order.insert(axis, x.ndim - 1)
        x = transpose(means, tuple(order))
    return convert(x, dtype)


def _averages(length: int, count: int, dtype: DType) -> Node:
    """The matrix (length, count) whose columns average pieces."""
    matrix = np.zeros((length, count))
    for piece in range(count):
        start, stop = piece * length // count, -(-(piece + 1) * length // count)
        matrix[start:stop, piece] = 1 / (stop - start)
    return constant(matrix.astype(dtype))
