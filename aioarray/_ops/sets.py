"""Distinct values, and membership."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import Node, definition
from ._gather import GATHER, SCATTER
from ._ordering import sort_key
from ._primitives import (
    bit_and,
    bit_or,
    concatenate,
    equal,
    imaginary_part,
    invert,
    minimum,
    not_equal,
    reshape,
    select,
    slice_axis,
    subtract,
)
from ._rules import REAL_PART, broadcast_to, convert, index_dtype, result_dtype, scalar
from .cumulative import cumulative_sum
from .indexing import take
from .searching import search_keys
from .sorting import argsort, sort_together
from .statistical import any as _any

if TYPE_CHECKING:
    from .._base.dtypes import Scalar

# Up to so many values it is faster to compare with each of them than to sort them and search.
COMPARE_ALL = 32


def _parts(x: Node) -> tuple[Node, ...]:
    return (REAL_PART(x), imaginary_part(x)) if x.dtype in dtypes.COMPLEX else (x,)


def _is_nan(x: Node) -> Node:
    if x.dtype not in dtypes.FLOATING:
        return broadcast_to(scalar(False, dtypes.bool_), x.shape)
    of_parts = [not_equal(part, part) for part in _parts(x)]
    return of_parts[0] if len(of_parts) == 1 else bit_or(*of_parts)


def _same(x: Node, y: Node) -> Node:
    """Where ``x`` equals ``y``; by keys, since XLA compares subnormal numbers as zero."""
    result: Node | None = None
    for a, b in zip(_parts(x), _parts(y), strict=True):
        equal_part = equal(sort_key(a), sort_key(b))
        result = equal_part if result is None else bit_and(result, equal_part)
    assert result is not None
    return bit_and(result, invert(_is_nan(x)))


@definition
def unique(
    x: Node, size: int, equal_nan: bool = False, fill_value: Scalar | None = None
) -> tuple[Node, Node, Node, Node]:
    """The ``size`` least distinct values of ``x``; where each occurs first; which one each element is; how often.

    NaN are all distinct, unless ``equal_nan``. Where there are fewer than ``size``, ``fill_value`` follows, or the
    least comes again (0 where there is none), with a count of 0; elements that are none of them have ``size`` or more
    in the third result.
    """
    if size < 0:
        raise ValueError(f"unique: size={size} must not be negative")
    shape, dtype = x.shape, index_dtype(max(x.size, size))
    flat = reshape(x, (x.size,))
    if x.size == 0 or size == 0:
        # There is no least value to come again: 0 does.
        zeros, filling = (
            broadcast_to(scalar(0, dtype), (size,)),
            broadcast_to(scalar(fill_value or 0, x.dtype), (size,)),
        )
        return filling, zeros, broadcast_to(scalar(0, dtype), shape), zeros
    order = convert(argsort(flat, 0, False, True), dtype)
    ordered = take(flat, order, None)
    later, earlier = slice_axis(ordered, 0, 1, x.size), slice_axis(ordered, 0, 0, x.size - 1)
    same = _same(later, earlier)
    if equal_nan:
        same = bit_or(same, bit_and(_is_nan(later), _is_nan(earlier)))
    first = concatenate((broadcast_to(scalar(True, dtypes.bool_), (1,)), invert(same)), 0)
    group = subtract(cumulative_sum(convert(first, dtype), 0, dtype, False), 1)
    inverse = _scatter(group, order, group, None)
    zeros = broadcast_to(scalar(0, dtype), (size,))
    counts = _scatter(zeros, group, broadcast_to(scalar(1, dtype), group.shape), "stablehlo.add")
    least = broadcast_to(slice_axis(order, 0, 0, 1), (size,))
    indices = _scatter(least, select(first, group, size), order, None)
    values = take(flat, indices, None)
    if fill_value is not None:
        values = select(equal(counts, 0), broadcast_to(scalar(fill_value, x.dtype), (size,)), values)
    return values, indices, reshape(inverse, shape), counts


def _scatter(target: Node, positions: Node, values: Node, combine: str | None) -> Node:
    """The vector ``target`` with ``values`` put, or combined, at ``positions``; those out of range are dropped."""
    places = reshape(positions, (positions.size, 1))
    return SCATTER(target, places, values, axes=(0,), window=(), combine=combine, unique=False)


@definition
def isin(x1: Node, x2: Node, invert_result: bool) -> Node:
    """Whether each element of ``x1`` equals an element of ``x2``."""
    dtype = result_dtype("isin", x1, x2)
    x1, x2 = convert(x1, dtype), reshape(convert(x2, dtype), (x2.size,))
    if x2.size <= COMPARE_ALL or dtype in dtypes.COMPLEX:
        shape = (*x1.shape, x2.size)
        found = _any(_same(broadcast_to(reshape(x1, (*x1.shape, 1)), shape), broadcast_to(x2, shape)), x1.ndim, False)
    else:
        wanted = sort_key(x1)
        (ordered,) = sort_together((sort_key(x2),), 0, stable=False)
        place = minimum(search_keys(ordered, wanted, "left"), x2.size - 1)
        value = GATHER(ordered, reshape(place, (*place.shape, 1)), axes=(0,), window=())
        found = bit_and(equal(value, wanted), invert(_is_nan(x1)))
    return invert(found) if invert_result else found
