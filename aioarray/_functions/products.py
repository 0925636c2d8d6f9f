"""NumPy's everyday products: inner, outer, of Kronecker, of vectors; and the order in which einsum contracts."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Literal, TypeAlias

from .._array import Array, ArrayLike, as_array, call, fused
from .._dispatch.arguments import axis_of, integer_of
from .._ops import products
from .._ops._rules import normalize_axis
from .arithmetic import multiply
from .complex import conj
from .manipulation import moveaxis, reshape

__all__ = [
    "cross",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


@fused
def inner(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Sums of products over the last axes of both, whose lengths must be equal; with a number, its products.

    >>> aio.inner(aio.asarray([1, 2]), aio.asarray([[3, 4], [5, 6]]))
    Array([11, 17], dtype=int32)
    """
    a, b = as_array("inner", x1), as_array("inner", x2)
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"inner: the last axes of shapes {a.shape} and {b.shape} differ in length; they must be equal")
    return call(products.tensordot, (a, b), ((a.ndim - 1,), (b.ndim - 1,)), None)


@fused
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The matrix of all products of an element of ``x1`` with one of ``x2``, both flattened.

    >>> aio.outer(aio.asarray([1, 2]), aio.asarray([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    return multiply(reshape(x1, (-1, 1)), reshape(x2, (1, -1)))


@fused
def kron(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The Kronecker product: ``x1`` with each element replaced by its product with the whole of ``x2``.

    >>> aio.kron(aio.asarray([1, 10]), aio.asarray([1, 2, 3]))
    Array([ 1,  2,  3, 10, 20, 30], dtype=int32)
    """
    a, b = as_array("kron", x1), as_array("kron", x2)
    ndim = max(a.ndim, b.ndim)
    first = (1,) * (ndim - a.ndim) + a.shape
    second = (1,) * (ndim - b.ndim) + b.shape
    a = reshape(a, tuple(n for length in first for n in (length, 1)))
    b = reshape(b, tuple(n for length in second for n in (1, length)))
    return reshape(multiply(a, b), tuple(m * n for m, n in zip(first, second, strict=True)))


@fused
def vdot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The sum of ``conj(x1) * x2`` over all elements; ``ValueError`` where there are not as many in both.

    >>> aio.vdot(aio.asarray([1 + 2j]), aio.asarray([3 + 4j]))
    Array(11.-2.j, dtype=complex64)
    """
    a, b = as_array("vdot", x1), as_array("vdot", x2)
    if a.size != b.size:
        raise ValueError(f"vdot: shapes {a.shape} and {b.shape} have {a.size} and {b.size} elements; give as many")
    if a.dtype.kind == "c":
        a = conj(a)
    return call(products.dot, (reshape(a, (a.size,)), reshape(b, (b.size,))))


@fused
def cross(
    x1: ArrayLike, x2: ArrayLike, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Cross products of the vectors of three elements along ``axisa`` and ``axisb``, put along ``axisc``.

    ``axis`` stands for all three; the other axes broadcast. ``ValueError`` for another length than 3.

    >>> aio.cross(aio.asarray([1, 0, 0]), aio.asarray([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_array("cross", x1), as_array("cross", x2)
    a = moveaxis(a, normalize_axis("cross", integer_of("cross", "axisa", axisa), a.ndim), -1)
    b = moveaxis(b, normalize_axis("cross", integer_of("cross", "axisb", axisb), b.ndim), -1)
    product: Array = call(products.cross, (a, b), -1)
    return moveaxis(product, -1, normalize_axis("cross", integer_of("cross", "axisc", axisc), product.ndim))


# How exactly float32 operands enter a product on devices with faster units of less precision; None is "default".
Precision: TypeAlias = Literal["default", "high", "highest"] | None


def matmul(x1: ArrayLike, x2: ArrayLike, /, *, precision: Precision = None) -> Array:
    """Matrix products over the last two axes, the others broadcast; an operand of one axis is a vector.

    float16 and bfloat16 are summed in float32. ``ValueError`` where shapes do not fit.

    >>> aio.matmul(aio.asarray([[1, 2], [3, 4]]), aio.asarray([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return call(products.matmul, (x1, x2), precision)


def dot(x1: ArrayLike, x2: ArrayLike, /, *, precision: Precision = None) -> Array:
    """NumPy's ``dot``: the last axis of ``x1`` with the second to last (or only) one of ``x2``, without broadcasting.

    >>> aio.dot(aio.asarray([1.0, 2.0]), aio.asarray([3.0, 4.0]))
    Array(11., dtype=float32)
    """
    return call(products.dot, (x1, x2), precision)


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
    *,
    precision: Precision = None,
) -> Array:
    """Sums of products over ``axes``: so many last ones of ``x1`` and first ones of ``x2``, or those named for each.

    ``ValueError`` where their lengths differ.

    >>> aio.tensordot(aio.ones((2, 3, 4)), aio.ones((4, 3, 5)), axes=((1, 2), (1, 0))).shape
    (2, 5)
    """
    if isinstance(axes, Sequence):
        first, second = axes
        pairs = (_axes(first), _axes(second))
        return call(products.tensordot, (x1, x2), pairs, precision)
    return call(products.tensordot, (x1, x2), integer_of("tensordot", "axes", axes), precision)


def _axes(axes: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(map(operator.index, axes)) if isinstance(axes, Sequence) else (operator.index(axes),)


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: Precision = None) -> Array:
    """Sums along ``axis`` of ``conj(x1) * x2``; the other axes broadcast. ``ValueError`` where lengths differ.

    >>> aio.vecdot(aio.asarray([[1, 2], [3, 4]]), aio.asarray([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return call(products.vecdot, (x1, x2), axis_of("vecdot", axis), precision)


@fused
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of matrices, in the last two axes of ``x1``, with vectors, in the last axis of ``x2``.

    Dtypes promote. ``ValueError`` for lengths that differ and for shapes that do not broadcast.

    >>> aio.matvec(aio.asarray([[1, 2], [3, 4]]), aio.asarray([1, 1]))
    Array([3, 7], dtype=int32)
    """
    vectors = as_array("matvec", x2)
    return matmul(x1, vectors[..., None])[..., 0]


@fused
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of vectors, in the last axis of ``x1``, conjugated, with matrices, in the last two axes of ``x2``.

    Dtypes promote. ``ValueError`` for lengths that differ and for shapes that do not broadcast.

    >>> aio.vecmat(aio.asarray([1, 1]), aio.asarray([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    vectors = as_array("vecmat", x1)
    return matmul(conj(vectors)[..., None, :], x2)[..., 0, :]
