"""NumPy's everyday sums of products of one vector and another that is moved along it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._array import ArrayLike, call
from .._ops import correlation

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["convolve", "correlate"]


def convolve(x1: ArrayLike, x2: ArrayLike, /, mode: Literal["full", "same", "valid"] = "full") -> Array:
    """The convolution of two vectors: at every overlap, at as many as the longer has elements, or at whole overlaps.

    ``ValueError`` for vectors without elements and arrays of more than one axis.

    >>> aio.convolve(aio.asarray([1, 2, 3]), aio.asarray([0, 1]))
    Array([0, 1, 2, 3], dtype=int32)
    """
    return call(correlation.convolve, (x1, x2), mode)


def correlate(x1: ArrayLike, x2: ArrayLike, /, mode: Literal["full", "same", "valid"] = "valid") -> Array:
    """The correlation of two vectors: the sums of ``x1[n + k] * conj(x2[n])``; ``mode`` as for ``convolve``.

    ``ValueError`` for vectors without elements and arrays of more than one axis.

    >>> aio.correlate(aio.asarray([1, 2, 3]), aio.asarray([1, 1]))
    Array([3, 5], dtype=int32)
    """
    return call(correlation.correlate, (x1, x2), mode)
