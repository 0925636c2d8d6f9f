"""Running sums and products along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._graph import ArraySpec, Emitter, Node, Op, definition
from ._primitives import concatenate, reshape
from ._rules import broadcast_to, convert, int_array, normalize_axis, scalar
from .statistical import accumulation_dtype, numeric_cast, widened

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _lower_window(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    x, axis = node.inputs[0], node.params["axis"]
    ones = [1] * x.ndim
    window, padding = list(ones), [[0, 0] for _ in ones]
    window[axis] = x.shape[axis]
    padding[axis] = [x.shape[axis] - 1, 0]
    return emitter.op(
        "stablehlo.reduce_window",
        operands,
        tuple(child.spec for child in node.inputs),
        node.specs,
        {
            "window_dimensions": int_array(window),
            "window_strides": int_array(ones),
            "base_dilations": int_array(ones),
            "window_dilations": int_array(ones),
            "padding": f"dense<{padding}> : tensor<{x.ndim}x2xi64>",
        },
        (emitter.reducer(node.params["combine"], node.dtype),),
    )


def _scanned(x: ArraySpec, initial: ArraySpec, *, axis: int, combine: str) -> ArraySpec:
    return x


# x, initial value -> x with each element combined with all before it along ``axis``. A window as long as the axis is a
# form that XLA recognises and turns into a tree of short ones.
SCAN = Op("cumulative", _scanned, _lower_window)


def _cumulative(
    function: str, x: Node, combine: str, identity: int, axis: int | None, dtype: DType | None, include_initial: bool
) -> Node:
    if axis is None and x.ndim != 1:
        raise ValueError(f"{function}: shape {x.shape} has {x.ndim} axes; name one with axis=")
    k = normalize_axis(function, axis or 0, x.ndim)
    target = accumulation_dtype(x.dtype, x.shape[k]) if dtype is None else dtype
    x = widened(numeric_cast(function, x, target))
    initial = scalar(identity, x.dtype)
    running = SCAN(x, initial, axis=k, combine=combine) if x.size else x
    if include_initial:
        first = broadcast_to(initial, (*x.shape[:k], 1, *x.shape[k + 1 :]))
        running = concatenate((first, running), k)
    return convert(running, target)


@definition
def cumulative_sum(x: Node, axis: int | None, dtype: DType | None, include_initial: bool) -> Node:
    """Sums of the elements up to each one along ``axis``, which may be None for vectors."""
    return _cumulative("cumulative_sum", x, "stablehlo.add", 0, axis, dtype, include_initial)


@definition
def cumulative_prod(x: Node, axis: int | None, dtype: DType | None, include_initial: bool) -> Node:
    """Products of the elements up to each one along ``axis``, which may be None for vectors."""
    return _cumulative("cumulative_prod", x, "stablehlo.multiply", 1, axis, dtype, include_initial)


@definition
def cumsum(x: Node, axis: int | None, dtype: DType | None) -> Node:
    """``cumulative_sum``, of the flattened array for None."""
    x, k = _flattened(x, axis)
    return _cumulative("cumsum", x, "stablehlo.add", 0, k, dtype, False)


@definition
def cumprod(x: Node, axis: int | None, dtype: DType | None) -> Node:
    """``cumulative_prod``, of the flattened array for None."""
    x, k = _flattened(x, axis)
    return _cumulative("cumprod", x, "stablehlo.multiply", 1, k, dtype, False)


def _flattened(x: Node, axis: int | None) -> tuple[Node, int]:
    return (reshape(x, (x.size,)), 0) if axis is None else (x, axis)
