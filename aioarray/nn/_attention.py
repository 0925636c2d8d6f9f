"""Attention."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ml_dtypes

from .._array import call
from .._base import dtypes
from .._graph import Node, definition
from .._ops import _primitives as p
from .._ops import statistical
from .._ops._rules import broadcast_to, check_dtype, convert, result_dtype, scalar
from .._ops.products import DOT_GENERAL

if TYPE_CHECKING:
    from .._array import Array, ArrayLike
    from .._base.dtypes import DType

__all__ = ["dot_product_attention"]


@definition
def _attention(
    query: Node,
    key: Node,
    value: Node,
    bias: Node | None,
    mask: Node | None,
    causal: bool,
    scale: float | None,
) -> Node:
    lead, t, heads, width, s, groups = _check_attention(query, key, value)
    dtype = result_dtype("dot_product_attention", query, key, value)
    sums = dtypes.float32 if dtype.itemsize < 4 else dtype
    query, key, value = (_heads_first(convert(x, dtype)) for x in (query, key, value))
    check_dtype("dot_product_attention", query, dtypes.REAL_FLOATING)
    # Query heads that share a key head lie side by side: with them, the queries are one longer matrix.
    n, kv = len(lead), heads // groups
    query = p.reshape(query, (*lead, kv, groups * t, width))
    scores = _product(query, key, n + 1, (n + 2, n + 2), sums)
    scores = p.reshape(scores, (*lead, heads, t, s))
    scores = p.multiply(scores, scale if scale is not None else 1 / math.sqrt(width))
    if bias is not None:
        scores = p.add(scores, _fitted("bias", convert(bias, sums), scores.shape))
    visible = _visible(mask, causal, scores.shape)
    if visible is not None:
        scores = p.select(visible, scores, broadcast_to(scalar(-math.inf, sums), scores.shape))
    # No less than the least finite number: the powers of a query that sees nothing are then 0, not NaN.
    least = scalar(float(ml_dtypes.finfo(sums).min), sums)
    greatest = statistical.REDUCE(scores, least, axes=(scores.ndim - 1,), combine="stablehlo.maximum")
    greatest = broadcast_to(p.reshape(greatest, (*greatest.shape, 1)), scores.shape)
    powers = p.exp(p.subtract(scores, greatest))
    # The greatest power is 1, so that this changes only the sum of a query that sees nothing, whose result is 0.
    total = p.maximum(statistical.sum(powers, -1, None, True), 1)
    share = p.divide(1, total)  # one quotient for each query: by each power it would take a third longer
    weights = convert(p.multiply(powers, broadcast_to(share, powers.shape)), dtype)
    result = _product(p.reshape(weights, (*lead, kv, groups * t, s)), value, n + 1, (n + 2, n + 1), sums)
    result = p.reshape(result, (*lead, heads, t, value.shape[-1]))
    return convert(_heads_last(result), dtype)


def _check_attention(query: Node, key: Node, value: Node) -> tuple[tuple[int, ...], int, int, int, int, int]:
    if min(x.ndim for x in (query, key, value)) < 3 or not query.ndim == key.ndim == value.ndim:
        raise ValueError(
            f"dot_product_attention: shapes {query.shape}, {key.shape} and {value.shape}; it takes (…, length, heads, "
            "width) three times"
        )
    *lead, t, heads, width = query.shape
    *lead_k, s, kv, width_k = key.shape
    if (*lead_k, s, kv) != value.shape[:-1] or tuple(lead) != tuple(lead_k) or width != width_k:
        raise ValueError(
            f"dot_product_attention: query {query.shape}, key {key.shape}, value {value.shape}: leading axes of all, "
            "length and heads of key and value, and the width of query and key must agree"
        )
    if kv == 0 or heads % kv:
        raise ValueError(f"dot_product_attention: {heads} query heads do not divide among {kv} heads of key and value")
    return tuple(lead), t, heads, width, s, heads // kv


def _heads_first(x: Node) -> Node:
    return p.transpose(x, (*range(x.ndim - 3), x.ndim - 2, x.ndim - 3, x.ndim - 1))


_heads_last = _heads_first  # the same exchange takes them back


def _product(x: Node, y: Node, batch: int, contracting: tuple[int, int], dtype: DType) -> Node:
    axes = tuple(range(batch))
    return DOT_GENERAL(
        x,
        y,
        contracting=((contracting[0],), (contracting[1],)),
        batch=(axes, axes),
        dtype=dtype,
        precision="default",
    )


def stretches(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether broadcasting takes ``shape`` to ``target``."""
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape[::-1], target[::-1], strict=False))


def _fitted(name: str, x: Node, shape: tuple[int, ...]) -> Node:
    if not stretches(x.shape, shape):
        raise ValueError(
            f"dot_product_attention: {name} of shape {x.shape} does not broadcast to {shape}, (…, heads, queries, keys)"
        )
    return broadcast_to(x, shape)


def _visible(mask: Node | None, causal: bool, shape: tuple[int, ...]) -> Node | None:
    visible = None
    if mask is not None:
        if mask.dtype != dtypes.bool_:
            raise TypeError(
                f"dot_product_attention: mask is of dtype {mask.dtype.name}; it takes booleans, and numbers as bias"
            )
        visible = _fitted("mask", mask, shape)
    if causal:
        rows, columns = p.iota(shape, dtypes.int32, len(shape) - 2), p.iota(shape, dtypes.int32, len(shape) - 1)
        earlier = p.less_equal(columns, rows)
        visible = earlier if visible is None else p.bit_and(visible, earlier)
    return visible


def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    /,
    *,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Array:
    """``softmax(scale * query @ key.T + bias) @ value`` for each head, without overflow.

    ``query`` is (…, T, heads, width), ``key`` and ``value`` (…, S, key heads, width): as many heads, or fewer, each
    of which serves as many query heads. ``bias`` (numbers) and ``mask`` (True: takes part) broadcast to (…, heads, T,
    S). ``causal`` lets query t see keys up to t. ``scale`` is ``1 / sqrt(width)`` if it is not given. What sees
    nothing is 0.

    Scores and sums are in float32 at least. Vaswani and others, "Attention Is All You Need" (arXiv 1706.03762);
    Ainslie and others, "GQA" (arXiv 2305.13245). ``ValueError`` where shapes do not fit.

    >>> x = aio.ones((2, 1, 4))
    >>> aio.nn.dot_product_attention(x, x, aio.asarray([[[1.0]], [[3.0]]]), causal=True)[:, 0, 0]
    Array([1., 2.], dtype=float32)
    """
    static = bool(causal), None if scale is None else float(scale)
    return call(_attention, (query, key, value, bias, mask), *static)
