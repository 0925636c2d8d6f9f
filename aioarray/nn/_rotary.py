"""Rotary position embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._array import call
from .._base import dtypes
from .._graph import Node, constant, definition
from .._ops import _primitives as p
from .._ops import statistical, trigonometric
from .._ops._rules import broadcast_to, check_dtype, convert
from ._attention import stretches

if TYPE_CHECKING:
    from .._array import Array, ArrayLike

__all__ = ["rotary_embedding"]


@definition
def _rotary(x: Node, positions: Node, base: float, interleaved: bool) -> Node:
    if x.ndim < 3 or x.shape[-1] % 2:
        raise ValueError(f"rotary_embedding: x has shape {x.shape}; it takes (…, length, heads, width), width even")
    lead = x.shape[:-2]
    if not stretches(positions.shape, lead):
        raise ValueError(f"rotary_embedding: positions of shape {positions.shape} do not broadcast to {lead}")
    check_dtype("rotary_embedding", x, dtypes.REAL_FLOATING)
    half = x.shape[-1] // 2
    wide = statistical.widened(x)
    dtype = wide.dtype
    frequencies = constant((float(base) ** (-np.arange(half) / half)).astype(dtype))
    shape = (*lead, 1, half)
    places = p.reshape(broadcast_to(convert(positions, dtype), lead), (*lead, 1, 1))
    angles = p.multiply(broadcast_to(places, shape), broadcast_to(frequencies, shape))
    target = (*x.shape[:-1], half)
    cos = broadcast_to(trigonometric.cos(angles), target)
    sin = broadcast_to(trigonometric.sin(angles), target)
    last = x.ndim - 1
    if interleaved:
        pairs = p.reshape(wide, (*target, 2))
        first, second = p.take_index(pairs, last + 1, 0), p.take_index(pairs, last + 1, 1)
    else:
        first, second = p.slice_axis(wide, last, 0, half), p.slice_axis(wide, last, half, 2 * half)
    turned = (
        p.subtract(p.multiply(first, cos), p.multiply(second, sin)),
        p.add(p.multiply(second, cos), p.multiply(first, sin)),
    )
    if interleaved:
        result = p.reshape(p.stack(turned, last + 1), x.shape)
    else:
        result = p.concatenate(turned, last)
    return convert(result, x.dtype)


def rotary_embedding(
    x: ArrayLike, positions: ArrayLike, /, *, base: float = 10000.0, interleaved: bool = False
) -> Array:
    """Pairs of features of queries or keys (…, length, heads, width) turned by angles that grow with their position.

    Pair i turns by ``position * base**(-2 * i / width)``; it is made of features i and i + width / 2 or,
    ``interleaved``, of 2 i and 2 i + 1. ``positions`` broadcast to (…, length).

    Su and others, "RoFormer" (arXiv 2104.09864). ``ValueError`` where shapes do not fit.

    >>> x = aio.asarray([[[1.0, 0.0]], [[1.0, 0.0]]])
    >>> [[round(y, 4) for y in row] for row in aio.nn.rotary_embedding(x, aio.asarray([0, 1]))[:, 0].tolist()]
    [[1.0, 0.0], [0.5403, 0.8415]]
    """
    return call(_rotary, (x, positions), float(base), bool(interleaved))
