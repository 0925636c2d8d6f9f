"""Affine maps, table look-up and dropout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._array import call, fused
from .._base import dtypes
from .._functions.indexing import take
from .._graph import Node, definition
from .._ops import random
from .._ops._primitives import add, divide, select, transpose
from .._ops._rules import broadcast_to, check_dtype, convert, full_like, result_dtype, scalar
from .._ops.products import DOT_GENERAL
from ..random._keys import KeyLike, opened

if TYPE_CHECKING:
    from .._array import Array, ArrayLike
    from .._base.dtypes import DType

__all__ = ["dropout", "embedding", "linear"]


# XLA's CPU kernels share out the rows of the first operand: with few of them, the weight is the better first one.
# Measured with 384 and 1536 features in float32: up to twice as fast at 16 and 32 rows, no different from 128 on.
FEW_ROWS = 64


def _product(x: Node, weight: Node, dtype: DType) -> Node:
    """``x @ weight.T``, summed in ``dtype``."""
    last, rows = x.ndim - 1, math.prod(x.shape[:-1])
    if 1 < rows <= FEW_ROWS and rows < weight.shape[0]:
        product = DOT_GENERAL(weight, x, contracting=((1,), (last,)), batch=((), ()), dtype=dtype, precision="default")
        return transpose(product, (*range(1, product.ndim), 0))
    return DOT_GENERAL(x, weight, contracting=((last,), (1,)), batch=((), ()), dtype=dtype, precision="default")


@definition
def _linear(x: Node, weight: Node, bias: Node | None) -> Node:
    if weight.ndim != 2 or x.ndim < 1 or x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"linear: x of shape {x.shape} with a weight of shape {weight.shape}; it takes (…, in) and (out, in)"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"linear: bias has shape {bias.shape}; it takes {weight.shape[:1]}")
    dtype = result_dtype("linear", x, weight)
    x, weight = convert(x, dtype), convert(weight, dtype)
    check_dtype("linear", x, dtypes.FLOATING)
    # Narrow operands are summed in float32, and what is added is added there.
    sums: DType = dtypes.float32 if dtype.itemsize < 4 else dtype
    product = _product(x, weight, sums)
    if bias is not None:
        product = add(product, broadcast_to(convert(bias, sums), product.shape))
    return convert(product, dtype)


def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None, /) -> Array:
    """``x @ weight.T + bias``: weight is (out, in), as PyTorch stores it, ``x`` is (…, in).

    float16 and bfloat16 are summed in float32 and rounded once. What bfloat16 throughout costs in the sentence encoder
    all-MiniLM-L6-v2: of 128 sentences, cosines of 0.99993 and more to the vectors in float32, and similarities that are
    off by 0.0007 on average, 0.004 at most. ``ValueError`` where shapes do not fit.

    >>> weight = aio.asarray([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> aio.nn.linear(aio.asarray([1.0, 2.0]), weight, aio.asarray([0.0, 0.0, 5.0]))
    Array([1., 2., 8.], dtype=float32)
    """
    return call(_linear, (x, weight, bias))


@fused
def embedding(indices: ArrayLike, table: ArrayLike, /) -> Array:
    """The rows of ``table`` that integer ``indices`` of any shape name; those out of range take the nearest row.

    >>> aio.nn.embedding(aio.asarray([2, 0]), aio.asarray([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
    Array([[3., 3.],
           [1., 1.]], dtype=float32)
    """
    return take(table, indices, axis=0)


@definition
def _dropout(x: Node, key: Node, rate: float, partitionable: bool) -> Node:
    if not 0 <= rate <= 1:
        raise ValueError(f"dropout: rate {rate} is no probability; it must be in 0..1")
    check_dtype("dropout", x, dtypes.FLOATING)
    if rate == 1:
        return full_like(x, 0)
    keep = random.bernoulli(key, scalar(1 - rate, dtypes.float32), x.shape, partitionable)
    return select(keep, divide(x, full_like(x, 1 - rate)), full_like(x, 0))


def dropout(x: ArrayLike, key: KeyLike, /, *, rate: float) -> Array:
    """``x`` with elements set to 0 with probability ``rate``, the others divided by ``1 - rate``.

    ``key`` is one of ``aio.random.key``; the same key leaves out the same elements. ``ValueError`` for another rate
    than in 0..1.

    >>> x = aio.nn.dropout(aio.ones(1000), aio.random.key(42), rate=0.25)
    >>> 700 < int(aio.count_nonzero(x)) < 800
    True
    """
    bits, layout = opened("dropout", key)
    return call(_dropout, (x, bits), float(rate), layout)
