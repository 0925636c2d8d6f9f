"""Running sums and products along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import ArraySpec, Emitter, Node, Op, definition
from ._primitives import (
    add,
    barrier,
    bit_and,
    bit_or,
    concatenate,
    greater_equal,
    less_equal,
    multiply,
    reshape,
    select,
    slice_axis,
)
from ._rules import broadcast_to, convert, int_array, normalize_axis, scalar
from .statistical import REDUCE, accumulation_dtype, numeric_cast, widened

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


# The length of the windows that XLA computes one by one, each from its first element on.
_BLOCK = 16


def _scan(x: Node, combine: str, identity: int, axis: int) -> Node:
    """``SCAN``; of real numbers that are all at least ``identity`` it never decreases, and stays where one is that.

    Products of numbers that are all at most 1 never increase.

    Blocks are added to what is before them, as in XLA's tree, which rounds the end of a block otherwise than the sum up
    to there. Here no element of such a block passes that sum, and those that reach the block's own end have it.
    """
    initial = scalar(identity, x.dtype)
    length = x.shape[axis]
    if length <= _BLOCK or x.dtype not in dtypes.REAL_FLOATING:
        return SCAN(x, initial, axis=axis, combine=combine) if x.size else x
    count = -(-length // _BLOCK)
    before, behind = x.shape[:axis], x.shape[axis + 1 :]
    if missing := count * _BLOCK - length:
        x = concatenate((x, broadcast_to(initial, (*before, missing, *behind))), axis)
    blocks = reshape(x, (*before, count, _BLOCK, *behind))
    within = barrier(SCAN(blocks, initial, axis=axis + 1, combine=combine))  # or it is computed for each use
    ends = slice_axis(within, axis + 1, _BLOCK - 1, _BLOCK)
    sums = barrier(_scan(reshape(ends, (*before, count, *behind)), combine, identity, axis))
    earlier = concatenate((broadcast_to(initial, (*before, 1, *behind)), slice_axis(sums, axis, 0, count - 1)), axis)
    rows = (*before, count, 1, *behind)
    apart = add if combine == "stablehlo.add" else multiply
    total = apart(broadcast_to(reshape(earlier, rows), blocks.shape), within)
    limit, end = (broadcast_to(reshape(part, rows), blocks.shape) for part in (sums, ends))
    for beyond in (greater_equal,) if combine == "stablehlo.add" else (greater_equal, less_equal):
        one_way = beyond(blocks, identity)
        whole = REDUCE(one_way, scalar(True, dtypes.bool_), axes=(axis + 1,), combine="stablehlo.and")
        passes = bit_or(beyond(within, end), beyond(total, limit))
        moves = bit_and(broadcast_to(reshape(whole, rows), blocks.shape), passes)
        total = select(moves, limit, total)
    flat = reshape(total, (*before, count * _BLOCK, *behind))
    return slice_axis(flat, axis, 0, length)


def _cumulative(
    function: str, x: Node, combine: str, identity: int, axis: int | None, dtype: DType | None, include_initial: bool
) -> Node:
    if axis is None and x.ndim != 1:
        raise ValueError(f"{function}: shape {x.shape} has {x.ndim} axes; name one with axis=")
    k = normalize_axis(function, axis or 0, x.ndim)
    target = accumulation_dtype(x.dtype, x.shape[k]) if dtype is None else dtype
    x = widened(numeric_cast(function, x, target))
    initial = scalar(identity, x.dtype)
    running = _scan(x, combine, identity, k)
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
