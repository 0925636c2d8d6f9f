"""Where values are: in sorted arrays, and where an array is not zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import Node, definition
from ._gather import GATHER, SCATTER
from ._loops import while_loop
from ._ordering import sort_key
from ._primitives import (
    add,
    bit_and,
    concatenate,
    divide,
    equal,
    greater_equal,
    iota,
    less,
    less_equal,
    multiply,
    remainder,
    reshape,
    select,
    shift_right,
    stack,
    subtract,
    take_index,
)
from ._rules import (
    broadcast_shapes,
    broadcast_to,
    check_dtype,
    convert,
    full_like,
    index_dtype,
    normalize_axis,
    result_dtype,
    scalar,
)
from .cumulative import cumulative_sum
from .data_types import nonzero_mask
from .indexing import take
from .statistical import sum as _sum

if TYPE_CHECKING:
    from .._base.dtypes import DType, Scalar

SIDES = ("left", "right")


@definition
def searchsorted(x1: Node, x2: Node, sorter: Node | None, side: str) -> Node:
    """Where in the sorted vector ``x1`` the values ``x2`` belong: before ("left") or after equal ones."""
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: x1 has shape {x1.shape}; it takes a vector")
    if side not in SIDES:
        raise ValueError(f"searchsorted: side={side!r} is not known; use 'left' or 'right'")
    dtype = result_dtype("searchsorted", x1, x2)
    if sorter is not None:
        if sorter.shape != x1.shape:
            raise ValueError(f"searchsorted: sorter has shape {sorter.shape}, x1 {x1.shape}; they must be the same")
        x1 = take(x1, sorter, None)
    x1, x2 = convert(x1, dtype), convert(x2, dtype)
    check_dtype("searchsorted", x1, dtypes.REAL_OR_BOOLEAN)
    return search_keys(sort_key(x1), sort_key(x2), side)


def search_keys(ordered: Node, wanted: Node, side: str) -> Node:
    """``searchsorted`` on sort keys: bisection of all at once, in as many rounds as the length has bits."""
    length = ordered.size
    dtype = index_dtype(length)
    low = broadcast_to(scalar(0, dtype), wanted.shape)
    if length == 0 or wanted.size == 0:
        return low
    before = less if side == "left" else less_equal

    def going(left: Node, *_: Node) -> Node:
        return less(scalar(0, dtypes.int32), left)

    def halve(left: Node, low: Node, high: Node, ordered: Node, wanted: Node) -> tuple[Node, ...]:
        middle = shift_right(add(low, high), 1)
        value = GATHER(ordered, reshape(middle, (*middle.shape, 1)), axes=(0,), window=())
        after = before(value, wanted)
        open_ = less(low, high)
        return (
            subtract(left, 1),
            select(bit_and(open_, after), add(middle, 1), low),
            select(after, high, middle),
            ordered,
            wanted,
        )

    rounds = scalar(length.bit_length(), dtypes.int32)
    initial = (rounds, low, full_like(low, length), ordered, wanted)
    return while_loop(going, halve, initial, counted=True)[1]


@definition
def nonzero(x: Node, size: int, fill_value: int) -> tuple[Node, ...]:
    """The first ``size`` positions where ``x`` is not zero, one array for each axis; then ``fill_value``."""
    if x.ndim == 0:
        raise ValueError("nonzero: an array without axes has no positions; use reshape(x, (1,))")
    if size < 0:
        raise ValueError(f"nonzero: size={size} must not be negative")
    dtype = index_dtype(max(x.shape, default=0))
    flat = compress_positions(nonzero_mask(reshape(x, (x.size,))), size)
    missing = equal(flat, x.size)
    positions: list[Node] = []
    for length in reversed(x.shape):
        divisor = full_like(flat, max(length, 1))
        positions.append(select(missing, fill_value, convert(remainder(flat, divisor), dtype)))
        flat = divide(flat, divisor)
    return tuple(reversed(positions))


def compress_positions(mask: Node, size: int) -> Node:
    """The first ``size`` positions where the vector ``mask`` is true, then its length."""
    dtype = dtypes.int32 if mask.size < 2**31 - 1 and size < 2**31 - 1 else dtypes.int64
    result = broadcast_to(scalar(mask.size, dtype), (size,))
    if size == 0 or mask.size == 0:
        return result
    if mask.size >= LARGE and size * 8 * BLOCK <= mask.size:
        return _few_positions(mask, size, dtype)
    rank = subtract(cumulative_sum(convert(mask, dtype), 0, dtype, False), 1)
    # Positions beyond the end are dropped.
    target = reshape(select(mask, rank, size), (mask.size, 1))
    return SCATTER(result, target, iota(mask.shape, dtype), axes=(0,), window=(), combine=None, unique=False)


# A mask from this size on is counted by blocks of so many where few positions are wanted: ranks of all elements, which
# are scattered otherwise, would take 12 to 24 bytes each.
LARGE = 1 << 20
BLOCK = 128


def _few_positions(mask: Node, size: int, dtype: DType) -> Node:
    """``compress_positions`` by finding the block of each, and then the place in it."""
    blocks = -(-mask.size // BLOCK)
    rest = blocks * BLOCK - mask.size
    whole = concatenate((mask, broadcast_to(scalar(False, dtypes.bool_), (rest,))), 0) if rest else mask
    table = reshape(whole, (blocks, BLOCK))
    counts = _sum(convert(table, dtypes.uint8), 1, dtypes.uint8, False)  # XLA writes out what it adds
    ends = cumulative_sum(convert(counts, dtype), 0, dtype, False)
    rank = iota((size,), dtype)
    block = search_keys(ends, rank, "right")
    missing = greater_equal(rank, broadcast_to(take_index(ends, 0, blocks - 1), (size,)))
    block = convert(select(missing, 0, block), dtype)
    before = subtract(take(ends, block, None), convert(take(counts, block, None), dtype))
    within = cumulative_sum(convert(take(table, block, 0), dtypes.int32), 1, dtypes.int32, False)
    wanted = reshape(convert(subtract(rank, before), dtypes.int32), (size, 1))
    place = _sum(convert(less_equal(within, broadcast_to(wanted, within.shape)), dtypes.int32), 1, dtypes.int32, False)
    return select(missing, mask.size, add(multiply(block, BLOCK), convert(place, dtype)))


@definition
def argwhere(x: Node, size: int, fill_value: int) -> Node:
    """The positions that ``nonzero`` gives, as the rows of a matrix."""
    return stack(nonzero(x, size, fill_value), 1)


@definition
def repeat(x: Node, repeats: Node, axis: int | None, size: int, fill_value: Scalar) -> Node:
    """The first ``size`` elements of ``x`` along ``axis`` with each repeated so many times, then ``fill_value``."""
    if size < 0:
        raise ValueError(f"repeat: size={size} must not be negative")
    if repeats.dtype not in dtypes.INTEGRAL or repeats.ndim > 1:
        raise TypeError(f"repeat: repeats is {repeats.spec}; it takes one integer or a vector")
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    k = normalize_axis("repeat", axis, x.ndim)
    length, shape = x.shape[k], (*x.shape[:k], size, *x.shape[k + 1 :])
    if repeats.size not in (1, length):
        raise ValueError(
            f"repeat: {repeats.size} repeats for {length} elements along axis {k}; give one, or one for each"
        )
    if 0 in x.shape or size == 0:
        return broadcast_to(scalar(fill_value, x.dtype), shape)
    counts = broadcast_to(convert(reshape(repeats, (repeats.size,)), dtypes.int64), (length,))
    ends = cumulative_sum(counts, 0, dtypes.int64, False)
    places = iota((size,), dtypes.int64)
    taken = take(x, search_keys(ends, places, "right"), k)
    kept = reshape(
        less(places, broadcast_to(take_index(ends, 0, length - 1), (size,))), (size, *[1] * (x.ndim - k - 1))
    )
    return select(broadcast_to(kept, shape), taken, broadcast_to(scalar(fill_value, x.dtype), shape))


@definition
def where(condition: Node, x1: Node, x2: Node) -> Node:
    dtype = result_dtype("where", x1, x2)
    shape = broadcast_shapes("where", condition.shape, x1.shape, x2.shape)
    condition = broadcast_to(nonzero_mask(condition), shape)
    return select(condition, broadcast_to(convert(x1, dtype), shape), broadcast_to(convert(x2, dtype), shape))
