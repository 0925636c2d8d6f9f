"""The linear algebra functions that the array API standard has at top level, and NumPy's dot and einsum."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from .._array import ArrayLike, call
from .._ops import einstein, manipulation, products
from ._arguments import axis_of

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["dot", "einsum", "matmul", "matrix_transpose", "tensordot", "vecdot"]

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


def matrix_transpose(x: ArrayLike, /) -> Array:
    """``x`` with its last two axes exchanged. ``ValueError`` below two axes.

    >>> aio.matrix_transpose(aio.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    return call(manipulation.matrix_transpose, (x,))


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
    return call(products.tensordot, (x1, x2), operator.index(axes), precision)


def _axes(axes: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(map(operator.index, axes)) if isinstance(axes, Sequence) else (operator.index(axes),)


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: Precision = None) -> Array:
    """Sums along ``axis`` of ``conj(x1) * x2``; the other axes broadcast. ``ValueError`` where lengths differ.

    >>> aio.vecdot(aio.asarray([[1, 2], [3, 4]]), aio.asarray([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return call(products.vecdot, (x1, x2), axis_of("vecdot", axis), precision)


def einsum(subscripts: str, /, *operands: ArrayLike, precision: Precision = None) -> Array:
    """Sums of products by Einstein's convention: "ij,jk->ik" is the matrix product; "..." stands for further axes.

    As in NumPy, without the list form. ``ValueError`` where subscripts and shapes do not fit.

    >>> x = aio.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> aio.einsum("ii", x), aio.einsum("ij->j", x)
    (Array(5., dtype=float32), Array([4., 6.], dtype=float32))
    """
    return call(einstein.einsum, operands, subscripts, precision)
