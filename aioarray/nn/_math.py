"""Functions of the definitions that have no public name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import unary
from .._ops import special

if TYPE_CHECKING:
    from .._array import Array, ArrayLike


def erfc(x: ArrayLike) -> Array:
    """``1 - erf(x)``, without cancellation."""
    return unary(special.erfc, x)


def logistic(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``."""
    return unary(special.logistic, x)
