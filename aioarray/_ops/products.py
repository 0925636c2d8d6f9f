"""Sums of products: matrix and tensor products, all of them one ``dot_general``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import ArraySpec, Node, Op, array_spec, definition
from . import _primitives as p
from ._primitives import imaginary_part, make_complex, multiply, negative, not_equal, reshape, transpose
from ._rules import (
    REAL_PART,
    broadcast_shapes,
    broadcast_to,
    check_dtype,
    convert,
    normalize_axes,
    normalize_axis,
    result_dtype,
    stablehlo,
)

if TYPE_CHECKING:
    from .._base.dtypes import DType

Axes = tuple[int, ...]

# How exactly float32 operands enter a product, on devices that have faster units of less precision.
PRECISIONS = {None: "DEFAULT", "default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST"}


def _contracted(
    x: ArraySpec,
    y: ArraySpec,
    *,
    contracting: tuple[Axes, Axes],
    batch: tuple[Axes, Axes],
    dtype: DType,
    precision: str | None,
) -> ArraySpec:
    shape = [x.shape[axis] for axis in batch[0]]
    shape += [n for axis, n in enumerate(x.shape) if axis not in contracting[0] + batch[0]]
    shape += [n for axis, n in enumerate(y.shape) if axis not in contracting[1] + batch[1]]
    return array_spec(tuple(shape), dtype)


def _attributes(node: Node) -> dict[str, str]:
    contracting, batch = node.params["contracting"], node.params["batch"]
    precision = f"#stablehlo<precision {PRECISIONS[node.params['precision']]}>"
    return {
        "dot_dimension_numbers": (
            f"#stablehlo.dot<lhs_batching_dimensions = {list(batch[0])}, "
            f"rhs_batching_dimensions = {list(batch[1])}, "
            f"lhs_contracting_dimensions = {list(contracting[0])}, "
            f"rhs_contracting_dimensions = {list(contracting[1])}>"
        ),
        "precision_config": f"[{precision}, {precision}]",
    }


# The result has the batch axes, then what is left of x, then what is left of y; sums are kept in ``dtype``.
DOT_GENERAL = Op("dot_general", _contracted, stablehlo("stablehlo.dot_general", _attributes))


def contract(x: Node, y: Node, contracting: tuple[Axes, Axes], batch: tuple[Axes, Axes], precision: str | None) -> Node:
    """Products of ``x`` and ``y``, which have one dtype, summed over ``contracting``; axes are counted from the front.

    ``batch`` axes go side by side. The result has the batch axes, then what is left of x, then what is left of y.
    Sums of narrow floating-point numbers are kept in float32 and rounded once; of booleans, the sum is "or".
    """
    if precision not in PRECISIONS:
        raise ValueError(
            f"precision {precision!r} is not known; use {', '.join(repr(p) for p in PRECISIONS if p)} or None"
        )
    dtype = x.dtype

    def product(a: Node, b: Node, sums: DType) -> Node:
        return DOT_GENERAL(a, b, contracting=contracting, batch=batch, dtype=sums, precision=precision)

    if dtype == dtypes.bool_:
        # Counting in float32 is fast and cannot go wrong: a sum of ones never comes back to zero.
        x, y = convert(x, dtypes.float32), convert(y, dtypes.float32)
        return not_equal(product(x, y, dtypes.float32), 0)
    if dtype in dtypes.REAL_FLOATING and dtype.itemsize < 4:
        return convert(product(x, y, dtypes.float32), dtype)
    return product(x, y, dtype)


def _operands(function: str, x1: Node, x2: Node) -> tuple[Node, Node]:
    dtype = result_dtype(function, x1, x2)
    return convert(x1, dtype), convert(x2, dtype)


@definition
def matmul(x1: Node, x2: Node, precision: str | None = None) -> Node:
    """Matrix products of the last two axes; the others broadcast. One axis: a vector (standard, "matmul")."""
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError(
            f"matmul: shapes {x1.shape} and {x2.shape}; it takes vectors and matrices, scalars go with multiply()"
        )
    x1, x2 = _operands("matmul", x1, x2)
    inner1, inner2 = x1.shape[-1], x2.shape[-2 if x2.ndim > 1 else 0]
    if inner1 != inner2:
        raise ValueError(
            f"matmul: shapes {x1.shape} and {x2.shape}: the last axis of x1 has length {inner1}, the "
            f"{'second to last' if x2.ndim > 1 else 'only'} axis of x2 has length {inner2}; they must be equal"
        )
    if x1.ndim == 1 and x2.ndim > 2:
        # The vector is summed against the second to last axis, and the stack stays in front.
        return contract(x2, x1, ((x2.ndim - 2,), (0,)), ((), ()), precision)
    if x2.ndim <= 2:
        return contract(x1, x2, ((x1.ndim - 1,), (max(x2.ndim - 2, 0),)), ((), ()), precision)
    if x1.ndim == 2:
        # (n, k) with (…, k, m): one product with x2's stack in front, (…, m, n).
        product = contract(x2, x1, ((x2.ndim - 2,), (1,)), ((), ()), precision)
        return transpose(product, (*range(product.ndim - 2), product.ndim - 1, product.ndim - 2))
    shape = broadcast_shapes("matmul", x1.shape[:-2], x2.shape[:-2])
    x1 = broadcast_to(x1, (*shape, *x1.shape[-2:]))
    x2 = broadcast_to(x2, (*shape, *x2.shape[-2:]))
    batch = tuple(range(len(shape)))
    return contract(x1, x2, ((len(shape) + 1,), (len(shape),)), (batch, batch), precision)


@definition
def dot(x1: Node, x2: Node, precision: str | None = None) -> Node:
    """NumPy's ``dot``: the last axis of x1 with the second to last (or only) axis of x2, no broadcasting."""
    x1, x2 = _operands("dot", x1, x2)
    if x1.ndim == 0 or x2.ndim == 0:
        shape = broadcast_shapes("dot", x1.shape, x2.shape)
        return multiply(broadcast_to(x1, shape), broadcast_to(x2, shape))
    axis = max(x2.ndim - 2, 0)
    if x1.shape[-1] != x2.shape[axis]:
        raise ValueError(
            f"dot: shapes {x1.shape} and {x2.shape}: the last axis of x1 has length {x1.shape[-1]}, axis {axis} of "
            f"x2 has length {x2.shape[axis]}; they must be equal"
        )
    return contract(x1, x2, ((x1.ndim - 1,), (axis,)), ((), ()), precision)


@definition
def tensordot(x1: Node, x2: Node, axes: int | tuple[Axes, Axes], precision: str | None) -> Node:
    """Sums of products over ``axes``: so many last ones of x1 and first ones of x2, or those named for each."""
    x1, x2 = _operands("tensordot", x1, x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError(
                f"tensordot: axes={axes} for shapes {x1.shape} and {x2.shape}; use 0..{min(x1.ndim, x2.ndim)}"
            )
        first, second = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        first = normalize_axes("tensordot", tuple(axes[0]), x1.ndim)
        second = normalize_axes("tensordot", tuple(axes[1]), x2.ndim)
    lengths1, lengths2 = tuple(x1.shape[k] for k in first), tuple(x2.shape[k] for k in second)
    if lengths1 != lengths2:
        raise ValueError(
            f"tensordot: axes {first} of shape {x1.shape} have lengths {lengths1}, axes {second} of shape {x2.shape} "
            f"have lengths {lengths2}; they must be equal"
        )
    return contract(x1, x2, (first, second), ((), ()), precision)


@definition
def vecdot(x1: Node, x2: Node, axis: int, precision: str | None) -> Node:
    """Sums of conj(x1) times x2 along ``axis``; the other axes broadcast (standard, "vecdot")."""
    x1, x2 = _operands("vecdot", x1, x2)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape}; both must have an axis {axis}")
    x1, x2 = _axis_last(x1, axis), _axis_last(x2, axis)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            f"vecdot: along axis {axis}, x1 has length {x1.shape[-1]}, x2 has length {x2.shape[-1]}; they must be equal"
        )
    if x1.dtype in dtypes.COMPLEX:
        x1 = make_complex(REAL_PART(x1), negative(imaginary_part(x1)))
    shape = broadcast_shapes("vecdot", x1.shape, x2.shape)
    x1, x2 = broadcast_to(x1, shape), broadcast_to(x2, shape)
    last = len(shape) - 1
    batch = tuple(range(last))
    return contract(x1, x2, ((last,), (last,)), (batch, batch), precision)


def _axis_last(x: Node, axis: int) -> Node:
    k = normalize_axis("vecdot", axis, x.ndim)
    return transpose(x, (*(i for i in range(x.ndim) if i != k), k))


@definition
def outer(x1: Node, x2: Node) -> Node:
    """Products of every element of the vector x1 with every one of the vector x2."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: shapes {x1.shape} and {x2.shape}; it takes two vectors, use reshape(x, (-1,))")
    x1, x2 = _operands("outer", x1, x2)
    shape = (x1.size, x2.size)
    return multiply(broadcast_to(reshape(x1, (x1.size, 1)), shape), broadcast_to(x2, shape))


@definition
def cross(x1: Node, x2: Node, axis: int) -> Node:
    """Cross products of the vectors of three elements along ``axis``; the other axes broadcast."""
    dtype = result_dtype("cross", x1, x2)
    moved = []
    for name, x in (("x1", x1), ("x2", x2)):
        k = normalize_axis("cross", axis, x.ndim)
        if x.shape[k] != 3:
            raise ValueError(f"cross: axis {axis} of {name}, of shape {x.shape}, has length {x.shape[k]}; it takes 3")
        moved.append(p.transpose(convert(x, dtype), (*(i for i in range(x.ndim) if i != k), k)))
    check_dtype("cross", moved[0], dtypes.NUMERIC)
    shape = broadcast_shapes("cross", *(x.shape for x in moved))
    a, b = ([p.take_index(broadcast_to(x, shape), -1, i) for i in range(3)] for x in moved)
    parts = [p.subtract(p.multiply(a[i], b[j]), p.multiply(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return p.stack(parts, normalize_axis("cross", axis, len(shape)))
