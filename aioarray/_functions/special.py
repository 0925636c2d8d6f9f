"""Special functions that NumPy has at top level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, unary
from .._ops import special

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["i0"]


def i0(x: ArrayLike, /) -> Array:
    """The modified Bessel function of the first kind of order 0, of each element.

    Real dtypes; integers become real numbers. ``TypeError`` for complex numbers.

    >>> aio.i0(aio.asarray([0.0, 1.0]))
    Array([1.       , 1.2660658], dtype=float32)
    """
    return unary(special.i0, x)
