"""Arrays made of a rule: constants, ranges, diagonals. They take no arrays but their scalar parameters.

Those are nodes, not static: a range from 1 is then the program of one from 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import dtypes
from .._graph import Node, definition
from ._primitives import (
    add,
    barrier,
    divide,
    equal,
    floor,
    greater_equal,
    iota,
    less_equal,
    multiply,
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
    """``start + i * step`` for i below ``length``; ``step`` is the difference of the first two elements in ``dtype``.

    NumPy rounds the first two elements to ``dtype`` and continues with their difference; so does this.
    """
    wide = dtypes.float32 if dtype in dtypes.REAL_FLOATING and dtype.itemsize < 4 else dtype
    places = convert(iota((length,), dtypes.int64, 0), wide)
    steps = _rounded(multiply(places, broadcast_to(convert(step, wide), (length,))))
    return convert(add(broadcast_to(convert(start, wide), (length,)), steps), dtype)


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
