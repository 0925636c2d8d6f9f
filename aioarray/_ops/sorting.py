"""Sorting. XLA sorts one array of integers by "less" fastest, so that is what everything is made into."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._base import dtypes
from .._graph import ArraySpec, Emitter, Graph, Node, Op, Specs, array_spec, definition, input_node, results
from ._ordering import from_sort_key, is_negative, sort_key
from ._primitives import (
    bit_and,
    bit_or,
    bit_xor,
    bitcast,
    equal,
    imaginary_part,
    invert,
    iota,
    less,
    reshape,
    select,
    shift_left,
    shift_right,
    slice_axis,
    transpose,
)
from ._rules import REAL_PART, check_dtype, convert, index_dtype, normalize_axis, stablehlo
from .indexing import take_along_axis

Comparator = Callable[..., Node]


def _lower_sort(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    return emitter.op(
        "stablehlo.sort",
        operands,
        tuple(child.spec for child in node.inputs),
        node.specs,
        {
            "dimension": f"{node.params['axis']} : i64",
            "is_stable": str(node.params["stable"]).lower(),
        },
        (emitter.region(node.params["comparator"]),),
    )


def _sorted(*specs: ArraySpec, axis: int, stable: bool, comparator: Graph) -> Specs:
    return specs


# Arrays of one shape, rearranged alike along ``axis`` so that ``comparator`` (whose inputs are the two elements of the
# first array, then those of the second, …) holds of neighbours.
SORT = Op("sort", _sorted, _lower_sort)


# The greatest along the last axis, in order, the first of equal ones first; and where they are.
TOP_K = Op(
    "top_k",
    lambda x, *, k: (x.with_shape((*x.shape[:-1], k)), array_spec((*x.shape[:-1], k), dtypes.int32)),
    stablehlo("chlo.top_k", lambda node: {"k": f"{node.params['k']} : i64"}),
)


def _first_less(*elements: Node) -> Node:
    return less(elements[0], elements[1])


def sort_together(
    arrays: tuple[Node, ...], axis: int, *, stable: bool, before: Comparator = _first_less
) -> tuple[Node, ...]:
    """``arrays`` rearranged alike along ``axis``, so that the first increases, or that ``before`` says so."""
    inputs = tuple(input_node(array_spec((), x.dtype)) for x in arrays for _ in range(2))
    comparator = Graph("before", inputs, (before(*inputs),))
    return results(SORT(*arrays, axis=axis, stable=stable, comparator=comparator))


# ---- Real numbers


def _argsort_real(x: Node, axis: int, descending: bool, stable: bool) -> Node:
    key = sort_key(x, descending=descending)
    dtype = index_dtype(x.shape[axis])
    if key.dtype.itemsize <= 4 and x.shape[axis] < 2**31:
        # Key and position in one integer: unequal, so that the order is stable by itself.
        packed = bit_or(shift_left(convert(key, dtypes.int64), 32), iota(x.shape, dtypes.int64, axis))
        (ordered,) = sort_together((packed,), axis, stable=False)
        return convert(bit_and(ordered, 2**32 - 1), dtype)
    return sort_together((key, iota(x.shape, dtype, axis)), axis, stable=stable)[1]


def _sort_real(x: Node, axis: int, descending: bool, stable: bool) -> Node:
    if x.dtype not in dtypes.REAL_FLOATING or not stable:
        key = sort_key(x, signed_zeros=True, descending=descending)
        (ordered,) = sort_together((key,), axis, stable=False)
        return from_sort_key(ordered, x.dtype, descending=descending)
    # Only of zeros can one tell equal ones apart, by their sign: it travels with the key.
    key = sort_key(x, descending=descending)
    if key.dtype.itemsize > 4 or x.shape[axis] >= 2**31:
        return sort_together((key, x), axis, stable=True)[1]
    place = shift_left(iota(x.shape, dtypes.int64, axis), 1)
    low = bit_or(place, convert(is_negative(x), dtypes.int64))
    packed = bit_or(shift_left(convert(key, dtypes.int64), 32), low)
    (ordered,) = sort_together((packed,), axis, stable=False)
    ordered_key = convert(shift_right(ordered, 32), key.dtype)
    values = from_sort_key(ordered_key, x.dtype, descending=descending)
    is_zero = equal(ordered_key, -1 if descending else 0)
    return select(bit_and(is_zero, equal(bit_and(ordered, 1), 1)), -0.0, values)


# ---- Complex numbers: by real part, then imaginary part, NaN last, as in NumPy


def _before_complex(*elements: Node) -> Node:
    real_a, real_b, imaginary_a, imaginary_b = elements[:4]
    rank_a, rank_b = _nan_rank(real_a, imaginary_a), _nan_rank(real_b, imaginary_b)
    by_parts = bit_or(less(real_a, real_b), bit_and(equal(real_a, real_b), less(imaginary_a, imaginary_b)))
    return bit_or(less(rank_a, rank_b), bit_and(equal(rank_a, rank_b), by_parts))


def _nan_rank(real: Node, imaginary: Node) -> Node:
    """0 for numbers, 1 where the imaginary part is NaN, 2 where the real part is, 3 where both are."""
    nan = int(np.iinfo(real.dtype).max)
    of_real, of_imaginary = (convert(equal(key, nan), dtypes.int32) for key in (real, imaginary))
    return bit_or(shift_left(of_real, 1), of_imaginary)


def _argsort_complex(x: Node, axis: int, descending: bool, stable: bool) -> Node:
    keys = [sort_key(part, descending=descending) for part in (REAL_PART(x), imaginary_part(x))]
    positions = iota(x.shape, index_dtype(x.shape[axis]), axis)
    return sort_together((*keys, positions), axis, stable=stable, before=_before_complex)[2]


# ---- Definitions


def _along(function: str, x: Node, axis: int | None) -> tuple[Node, int]:
    """What is sorted, and its axis: of the flattened array where none is given."""
    return (reshape(x, (x.size,)), 0) if axis is None else (x, normalize_axis(function, axis, x.ndim))


@definition
def argsort(x: Node, axis: int | None, descending: bool, stable: bool) -> Node:
    """The positions that sort ``x`` along ``axis``; NaN goes last in both directions."""
    x, k = _along("argsort", x, axis)
    if x.dtype in dtypes.COMPLEX:
        return _argsort_complex(x, k, descending, stable)
    return _argsort_real(x, k, descending, stable)


@definition
def sort(x: Node, axis: int | None, descending: bool, stable: bool) -> Node:
    """``x`` sorted along ``axis``; NaN goes last in both directions."""
    x, k = _along("sort", x, axis)
    if x.dtype in dtypes.COMPLEX:
        return take_along_axis(x, _argsort_complex(x, k, descending, stable), k)
    return _sort_real(x, k, descending, stable)


@definition
def top_k(x: Node, k: int, axis: int, largest: bool) -> tuple[Node, Node]:
    """The ``k`` greatest (or least) along ``axis``, in order, and where they are."""
    position = normalize_axis("top_k", axis, x.ndim)
    check_dtype("top_k", x, dtypes.REAL_OR_BOOLEAN)
    if not 0 <= k <= x.shape[position]:
        raise ValueError(f"top_k: k={k} of axis {axis} with length {x.shape[position]}; use 0..{x.shape[position]}")
    order = _top_positions(x, k, position, largest)
    return take_along_axis(x, order, position), order


def _top_positions(x: Node, k: int, axis: int, largest: bool) -> Node:
    # The keys' order is that of sort(): what comes first has the least.
    key = sort_key(x, descending=largest)
    if key.dtype.itemsize > 4 or x.shape[axis] >= 2**31 or 0 in x.shape or k == 0:
        return slice_axis(_argsort_real(x, axis, largest, True), axis, 0, k)
    # XLA's selection is fast for float32 only, which it orders by the bits: -NaN, -inf, …, -0.0, 0.0, …, inf, NaN.
    bits = invert(convert(key, dtypes.int32))
    bits = select(less(bits, 0), bit_xor(bits, 2**31 - 1), bits)
    last = tuple(i for i in range(x.ndim) if i != axis)
    positions = results(TOP_K(transpose(bitcast(bits, dtypes.float32), (*last, axis)), k=k))[1]
    back = list(range(x.ndim - 1))
    back.insert(axis, x.ndim - 1)
    return convert(transpose(positions, tuple(back)), index_dtype(x.shape[axis]))
