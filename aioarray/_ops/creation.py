"""Arrays made of a rule: constants, ranges, diagonals. They take no arrays but their scalar parameters.

Those are nodes, not static: a range from 1 is then the program of one from 2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._base import dtypes
from .._graph import Node, definition
from ._compensated import two_sum
from ._primitives import (
    absolute,
    add,
    barrier,
    bit_and,
    bitcast,
    divide,
    equal,
    floor,
    greater_equal,
    iota,
    less,
    less_equal,
    multiply,
    not_equal,
    select,
    subtract,
)
from ._primitives import reshape as _reshape
from ._rules import (
    broadcast_to,
    convert,
    scalar,
)
from ._rules import broadcast_to as _broadcast_to
from .data_types import nonzero_mask

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _check_shape(function: str, shape: tuple[int, ...]) -> None:
    if any(n < 0 for n in shape):
        raise ValueError(f"{function}: shape {shape} has a negative length")


@definition
def zeros(shape: tuple[int, ...], dtype: DType) -> Node:
    """Zeros."""
    _check_shape("zeros", shape)
    return broadcast_to(scalar(0, dtype), shape)


@definition
def ones(shape: tuple[int, ...], dtype: DType) -> Node:
    """Ones."""
    _check_shape("ones", shape)
    return broadcast_to(scalar(1, dtype), shape)


@definition
def full(value: Node, shape: tuple[int, ...], dtype: DType) -> Node:
    """``value``, a scalar or what stretches to ``shape``, in ``dtype``."""
    _check_shape("full", shape)
    value = nonzero_mask(value) if dtype == dtypes.bool_ else convert(value, dtype)
    return broadcast_to(value, shape)


@definition
def full_like(x: Node, value: Node, dtype: DType) -> Node:
    """``value``, a scalar, in the shape of ``x`` and in ``dtype``."""
    return full(value, x.shape, dtype)


@definition
def arange(start: Node, step: Node, length: int, dtype: DType) -> Node:
    """``start + i * step`` for i below ``length``, each the exact value rounded once to ``dtype``.

    Both are integers, int64 or of ``dtype``, or both float64.
    """
    shape = (length,)
    places = iota(shape, dtypes.int64, 0)
    if start.dtype in dtypes.INTEGRAL:
        values = add(multiply(convert(places, start.dtype), broadcast_to(step, shape)), broadcast_to(start, shape))
        if dtype not in dtypes.REAL_FLOATING:
            return convert(values, dtype)
        near = convert(values, dtypes.float64)
        return _rounded_once(near, convert(subtract(values, convert(near, values.dtype)), dtypes.float64), dtype)
    # Halves of the factors make products of at most 53 bits, which are exact.
    high = bitcast(bit_and(bitcast(step, dtypes.int64), _HIGH_BITS), dtypes.float64)
    halves = [broadcast_to(part, shape) for part in (high, subtract(step, high))]
    low_places = bit_and(places, _LOW_PLACES)
    parts = [low_places] if length <= _LOW_PLACES else [low_places, subtract(places, low_places)]
    products = [multiply(convert(part, dtypes.float64), half) for part in reversed(parts) for half in halves]
    total, errors = products[0], []
    # What might be a constant is hidden: jaxlib 0.10 rewrites (x + c) - c to x.
    hidden = select(not_equal(total, total), total, broadcast_to(start, shape))
    for term in (*products[1:], hidden):
        total, error = two_sum(total, term)
        errors.append(error)
    rest, lost = errors[0], None
    for error in errors[1:]:
        rest, error = two_sum(rest, error)
        lost = error if lost is None else add(lost, error)
    total, rest = two_sum(total, rest)
    return _rounded_once(total, rest if lost is None else add(rest, lost), dtype)


_HIGH_BITS = -1 << 27
_LOW_PLACES = (1 << 26) - 1


def _rounded_once(near: Node, rest: Node, dtype: DType) -> Node:
    """``near + rest`` in ``dtype``; ``near`` is the sum rounded to float64. Zeros of ``rest`` say that it is exact."""
    if dtype == dtypes.float64:
        return near
    odd = _to_odd(near, rest)
    if dtype not in dtypes.REAL_FLOATING or dtype == dtypes.float32:
        return convert(odd, dtype)
    single = convert(odd, dtypes.float32)
    return convert(_to_odd(single, subtract(odd, convert(single, dtypes.float64))), dtype)


def _to_odd(near: Node, rest: Node) -> Node:
    """``near + rest`` rounded to the neighbour whose last bit is 1, which a second rounding rounds as the sum itself
    (Boldo and Melquiond, "When double rounding is odd").
    """
    bits = bitcast(near, dtypes.int64 if near.dtype == dtypes.float64 else dtypes.int32)
    outwards = equal(less(rest, 0), less(near, 0))
    moved = bitcast(select(outwards, add(bits, 1), subtract(bits, 1)), near.dtype)
    inexact = bit_and(not_equal(rest, 0), equal(rest, rest))
    finite = less(absolute(near), math.inf)
    even = equal(bit_and(bits, 1), 0)
    return select(bit_and(bit_and(inexact, finite), even), moved, near)


def _rounded(product: Node) -> Node:
    """``product`` rounded before it is added to something, as NumPy does; XLA would round product and sum at once.

    An optimization barrier does not keep it from that in every release, a selection does.
    """
    return select(equal(product, 0), 0, product)


@definition
def linspace(start: Node, stop: Node, num: int, dtype: DType, endpoint: bool) -> Node:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both float64 or complex128, cast to ``dtype``.

    Computed as NumPy does: steps are multiplied, not summed, and the last element is ``stop`` itself.
    """
    wide = dtypes.complex128 if start.dtype in dtypes.COMPLEX or stop.dtype in dtypes.COMPLEX else dtypes.float64
    start, stop = convert(start, wide), convert(stop, wide)
    shape = (num,)
    intervals = num - 1 if endpoint else num
    places = iota(shape, dtypes.int64, 0)
    positions = convert(places, wide)
    delta = subtract(stop, start)
    if intervals > 0:
        step = divide(delta, barrier(scalar(intervals, wide)))
        steps = multiply(positions, broadcast_to(step, shape))
        # A step that underflowed to zero: divide the positions instead.
        fractions = multiply(
            divide(positions, broadcast_to(scalar(intervals, wide), shape)),
            broadcast_to(delta, shape),
        )
        steps = select(broadcast_to(equal(step, 0), shape), fractions, steps)
    else:
        steps = multiply(positions, broadcast_to(delta, shape))
    values = add(_rounded(steps), broadcast_to(start, shape))
    if endpoint and num > 1:
        values = select(equal(places, num - 1), broadcast_to(stop, shape), values)
    if dtype in dtypes.INTEGRAL:
        values = floor(values)
    return convert(values, dtype)


@definition
def eye(rows: int, columns: int, k: int, dtype: DType) -> Node:
    """Ones on diagonal ``k`` of a matrix, zeros elsewhere."""
    _check_shape("eye", (rows, columns))
    k = max(-rows - 1, min(k, columns + 1))
    shape, index = (rows, columns), dtypes.int64
    return convert(equal(iota(shape, index, 1), add(iota(shape, index, 0), k)), dtype)


@definition
def tri(rows: int, columns: int, k: int, dtype: DType) -> Node:
    """Ones on and below diagonal ``k`` of a matrix, zeros above."""
    _check_shape("tri", (rows, columns))
    return convert(triangle_mask((rows, columns), k, upper=False), dtype)


@definition
def meshgrid(*arguments: Any) -> tuple[Node, ...]:
    """``meshgrid(*vectors, indexing)``: every vector along an axis of its own, stretched over the others'."""
    nodes: tuple[Node, ...] = arguments[:-1]
    for node in nodes:
        if node.ndim > 1:
            raise ValueError(f"meshgrid: an array has shape {node.shape}; it takes vectors")
    order = list(range(len(nodes)))
    if arguments[-1] == "xy" and len(nodes) > 1:
        order[:2] = [1, 0]
    shape = [0] * len(nodes)
    for node, axis in zip(nodes, order, strict=True):
        shape[axis] = node.size
    along = (
        _reshape(node, tuple(node.size if k == axis else 1 for k in range(len(nodes))))
        for node, axis in zip(nodes, order, strict=True)
    )
    return tuple(_broadcast_to(node, tuple(shape)) for node in along)


@definition
def triu(x: Node, k: int) -> Node:
    """The last two axes' matrices with zeros below diagonal ``k``."""
    return _triangle("triu", x, k)


@definition
def tril(x: Node, k: int) -> Node:
    """The last two axes' matrices with zeros above diagonal ``k``."""
    return _triangle("tril", x, k)


def _triangle(function: str, x: Node, k: int) -> Node:
    if x.ndim < 2:
        raise ValueError(f"{function}: shape {x.shape} has fewer than 2 axes; it takes stacks of matrices")
    inside = triangle_mask(x.shape[-2:], k, upper=function == "triu")
    return select(_broadcast_to(inside, x.shape), x, 0)


def triangle_mask(shape: tuple[int, ...], k: int, *, upper: bool) -> Node:
    """True on and above (``upper``), or on and below, diagonal ``k`` of a matrix of ``shape``."""
    rows, columns = shape
    # Beyond the corners nothing changes, and so k fits the index dtype whatever it is.
    k = max(-rows - 1, min(k, columns + 1))
    dtype = dtypes.int32 if max(rows, columns) < 2**30 else dtypes.int64
    row, column = iota(shape, dtype, 0), iota(shape, dtype, 1)
    return greater_equal(column, add(row, k)) if upper else less_equal(column, add(row, k))
