"""Padding arrays, as NumPy does."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._array import Array, ArrayLike, call
from .._ops import padding
from .creation import asarray

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["pad"]


def pad(
    x: ArrayLike,
    /,
    pad_width: int | tuple[int, int] | Sequence[tuple[int, int]],
    mode: Literal["constant", "edge", "reflect", "symmetric", "wrap"] = "constant",
    *,
    constant_values: ArrayLike = 0,
) -> Array:
    """``x`` with more elements around: ``pad_width`` at every end, (before, after) of every axis, or a pair for each.

    They are ``constant_values``, or what ``mode`` makes of ``x`` as in NumPy: its edge, its elements mirrored at the
    last element ("reflect") or after it ("symmetric"), or started again ("wrap").

    >>> aio.pad(aio.asarray([1, 2, 3]), (1, 2))
    Array([0, 1, 2, 3, 0, 0], dtype=int32)
    >>> aio.pad(aio.asarray([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = x if isinstance(x, Array) else asarray(x)
    widths = tuple(
        (operator.index(a), operator.index(b)) for a, b in np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    )
    return call(padding.pad, (x, constant_values), widths, mode)
