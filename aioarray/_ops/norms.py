"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math

from .._base import dtypes
from .._graph import Node, definition
from . import _primitives as p
from . import statistical
from ._rules import REAL_PART, convert, normalize_axes
from .linalg import as_real, floating, inverse, magnitude, matrices, singular_values

Order = int | float | str | None
Axes = tuple[int, ...]


def _wide(x: Node) -> Node:
    return convert(x, dtypes.float32) if x.dtype.itemsize < 4 else x


def _sum(x: Node, axes: int | Axes, keepdims: bool) -> Node:
    result: Node = statistical.sum(x, axes, None, keepdims)
    return result


def _squares(x: Node) -> Node:
    if x.dtype in dtypes.COMPLEX:
        real, imaginary = REAL_PART(x), p.imaginary_part(x)
        return p.add(p.multiply(real, real), p.multiply(imaginary, imaginary))
    return p.multiply(x, x)


def _vector_norm(x: Node, axes: Axes, keepdims: bool, order: float) -> Node:
    if order == 2:
        return p.sqrt(_sum(_squares(x), axes, keepdims))
    if order == 0:
        return _sum(convert(p.not_equal(x, 0), dtypes.real_of(x.dtype)), axes, keepdims)
    size = magnitude(x)
    if math.isinf(order):
        extreme = statistical.max if order > 0 else statistical.min
        return extreme(size, axes, keepdims)
    if order == 1:
        return _sum(size, axes, keepdims)
    return p.power(_sum(p.power(size, order), axes, keepdims), 1 / order)


@definition
def vector_norm(x: Node, axis: int | Axes | None, keepdims: bool, order: float | str) -> Node:
    """Norms of the vectors along ``axis``, several axes as one: the ``order``-th root of the sum of powers."""
    if isinstance(order, str):
        raise ValueError(f"vector_norm: ord {order!r} is not known; it takes numbers, inf and -inf")
    axes = normalize_axes("vector_norm", axis, x.ndim)
    (x,) = floating("vector_norm", x)
    return as_real(_vector_norm(_wide(x), axes, keepdims, order), x.dtype)


def _check_order(function: str, order: Order) -> None:
    known = ("fro", "nuc", 1, 2, -1, -2, math.inf, -math.inf)
    if order not in known:
        raise ValueError(f"{function}: ord {order!r} is not known; use {', '.join(repr(k) for k in known)}")


def _matrix_norm(x: Node, order: Order) -> Node:
    # Of the last two axes.
    rows, columns = x.ndim - 2, x.ndim - 1
    if order == "fro":
        return p.sqrt(_sum(_squares(x), (rows, columns), False))
    if order in ("nuc", 2, -2):
        s = singular_values(x)
        if order == "nuc":
            return _sum(s, s.ndim - 1, False)
        extreme = statistical.max if order == 2 else statistical.min
        return extreme(s, s.ndim - 1, False)
    assert isinstance(order, (int, float))
    # 1: the greatest sum of a column; infinity: of a row.
    sums = _sum(magnitude(x), rows if abs(order) == 1 else columns, False)
    extreme = statistical.max if order > 0 else statistical.min
    return extreme(sums, sums.ndim - 1, False)


@definition
def matrix_norm(x: Node, keepdims: bool, order: Order) -> Node:
    """Norms of the matrices in the last two axes (standard, "matrix_norm")."""
    _check_order("matrix_norm", order)
    (a,) = matrices("matrix_norm", x)
    return _finished("matrix_norm", x, _matrix_norm(a, order), (x.ndim - 2, x.ndim - 1), keepdims)


def _finished(function: str, x: Node, result: Node, axes: Axes, keepdims: bool) -> Node:
    if keepdims:
        result = p.reshape(result, tuple(1 if axis in axes else n for axis, n in enumerate(x.shape)))
    return as_real(result, floating(function, x)[0].dtype)


@definition
def norm(x: Node, order: Order, axis: int | Axes | None, keepdims: bool) -> Node:
    """NumPy's ``linalg.norm``: of all elements, of vectors along one axis, or of matrices along two."""
    if axis is None and order is not None and x.ndim not in (1, 2):
        raise ValueError(f"norm: ord={order!r} for shape {x.shape}; name one axis (vectors) or two (matrices)")
    axes = normalize_axes("norm", axis, x.ndim)
    if order is None:
        return vector_norm(x, axes, keepdims, 2)
    if len(axes) == 1:
        return vector_norm(x, axes, keepdims, order)
    if len(axes) != 2:
        raise ValueError(f"norm: axis {axes} names {len(axes)} axes; it takes one (vectors) or two (matrices)")
    _check_order("norm", order)
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    (a,) = matrices("norm", p.transpose(x, (*others, *axes)))
    return _finished("norm", x, _matrix_norm(a, order), axes, keepdims)


@definition
def cond(x: Node, order: Order) -> Node:
    """Condition numbers: the norm of the matrix times that of its inverse; None: the same as 2."""
    order = 2 if order is None else order
    _check_order("cond", order)
    (a,) = matrices("cond", x, square=order not in (2, -2))
    if order in (2, -2):
        s = singular_values(a)
        if not s.shape[-1]:
            raise ValueError(f"cond: shape {x.shape} has no elements; there is no condition of nothing")
        largest, smallest = p.take_index(s, -1, 0), p.take_index(s, -1, s.shape[-1] - 1)
        ratio = p.divide(largest, smallest) if order == 2 else p.divide(smallest, largest)
    else:
        ratio = p.multiply(_matrix_norm(a, order), _matrix_norm(inverse(a), order))
    # A singular matrix, whose inverse holds NaN, has an infinite condition; one with NaN of its own has none.
    unknown: Node = statistical.any(p.not_equal(a, a), (a.ndim - 2, a.ndim - 1), False)
    ratio = p.select(p.bit_and(p.not_equal(ratio, ratio), p.invert(unknown)), math.inf, ratio)
    return as_real(ratio, floating("cond", x)[0].dtype)
