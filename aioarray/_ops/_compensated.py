"""Sums and squares with the rounding errors kept, for results that are small differences of large numbers.

LLVM may fuse a product and a sum into one rounding; nothing here depends on it, since every product is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from . import _elementary
from ._primitives import add, bit_and, bitcast, multiply, not_equal, select, subtract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._graph import Node

# The lower half of the significand's bits.
_LOW_BITS = {dtypes.float32: (1 << 12) - 1, dtypes.float64: (1 << 27) - 1}


def opaque(value: float, x: Node) -> Node:
    """``value`` like ``x``, but not as a constant (it is NaN where ``x`` is).

    jaxlib 0.10's simplifier rewrites ``(x + c) - c`` to ``x`` when ``c`` is a constant.
    """
    return select(not_equal(x, x), x, value)


def two_sum(x: Node, y: Node) -> tuple[Node, Node]:
    """The rounded sum and its rounding error (Knuth, TAOCP 2, 4.2.2)."""
    total = add(x, y)
    y_part = subtract(total, x)
    x_part = subtract(total, y_part)
    return total, add(subtract(x, x_part), subtract(y, y_part))


def square(x: Node) -> tuple[Node, Node, Node]:
    """Three numbers whose exact sum is ``x * x`` (the last rounded), the largest first."""
    mask = (1 << (8 * x.dtype.itemsize)) - 1 - _LOW_BITS[x.dtype]
    high = bitcast(bit_and(_elementary.bits(x), mask), x.dtype)
    low = subtract(x, high)
    return multiply(high, high), multiply(multiply(high, 2), low), multiply(low, low)


def compensated_sum(terms: Sequence[Node]) -> Node:
    """The sum as if in twice the precision (Ogita, Rump, Oishi, "Accurate sum and dot product", Sum2)."""
    total, error = terms[0], None
    for term in terms[1:]:
        total, lost = two_sum(total, term)
        error = lost if error is None else add(error, lost)
    return total if error is None else add(total, error)
