"""Operations on the bits of integers and booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _dtypes
from . import _elementary, _primitives
from ._builders import binary, unary

if TYPE_CHECKING:
    from .._graph import Node


def _shift_right(x: Node, y: Node) -> Node:
    """By the width or more, or by a negative number: nothing but the sign is left, as in NumPy."""
    if x.dtype in _dtypes.SIGNED:
        return _elementary.shift_right_arithmetic(x, y)
    return _primitives.shift_right(x, y)


bitwise_and = binary("bitwise_and", _primitives.bit_and, _dtypes.INTEGRAL_OR_BOOLEAN)
bitwise_or = binary("bitwise_or", _primitives.bit_or, _dtypes.INTEGRAL_OR_BOOLEAN)
bitwise_xor = binary("bitwise_xor", _primitives.bit_xor, _dtypes.INTEGRAL_OR_BOOLEAN)
bitwise_invert = unary("bitwise_invert", _primitives.invert, _dtypes.INTEGRAL_OR_BOOLEAN)
# StableHLO reads the amount as unsigned and shifts everything out where it is the width or more.
bitwise_left_shift = binary("bitwise_left_shift", _primitives.shift_left, _dtypes.INTEGRAL)
bitwise_right_shift = binary("bitwise_right_shift", _shift_right, _dtypes.INTEGRAL)
