"""Keys: integers in the order of the values they stand for, so that sorting and searching compare integers only.

The order is that of ``sort``: by value, -0.0 equal to 0.0, subnormal numbers exact (XLA's own comparisons take them for
zero), NaN after everything else. Complex numbers have two keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from ._primitives import bit_and, bit_xor, bitcast, equal, greater, invert, less, select
from ._rules import convert

if TYPE_CHECKING:
    from .._graph import Node


def sort_key(x: Node, *, signed_zeros: bool = False, descending: bool = False) -> Node:
    """Signed integers that are ordered as the real numbers ``x``; NaN has the greatest, in both directions.

    ``signed_zeros`` puts -0.0 before 0.0 instead of making them equal; then, and of integers always,
    ``from_sort_key`` gives the values back.
    """
    if x.dtype == dtypes.bool_ or x.dtype in (dtypes.int4, dtypes.uint4):
        x = convert(x, dtypes.int8)
    if x.dtype in dtypes.INTEGRAL:
        key = x
        if x.dtype in dtypes.UNSIGNED:
            signed = _signed(x)
            key = bit_xor(bitcast(x, signed), int(np.iinfo(signed).min))
        return invert(key) if descending else key
    x = _with_integer_width(x)
    signed = _signed(x)
    magnitude, infinity = int(np.iinfo(signed).max), _infinity_bits(x)
    bits = bitcast(x, signed)
    absolute = bit_and(bits, magnitude)
    # Of negative numbers the greater magnitude comes first.
    key = select(less(bits, 0), bit_xor(bits, magnitude), bits)
    if descending:
        key = invert(key)
    if not signed_zeros:
        key = select(equal(absolute, 0), -1 if descending else 0, key)
    return select(greater(absolute, infinity), magnitude, key)


def from_sort_key(key: Node, dtype: np.dtype, *, descending: bool = False) -> Node:
    """The values that ``sort_key`` (with ``signed_zeros``) made ``key`` of; NaN loses sign and payload."""
    if dtype == dtypes.bool_ or dtype in (dtypes.int4, dtypes.uint4):
        return convert(invert(key) if descending else key, dtype)
    if dtype in dtypes.INTEGRAL:
        key = invert(key) if descending else key
        if dtype in dtypes.UNSIGNED:
            key = bitcast(bit_xor(key, int(np.iinfo(key.dtype).min)), dtype)
        return key
    wide = _float_of_width(dtype)
    magnitude = int(np.iinfo(key.dtype).max)
    bits = invert(key) if descending else key
    bits = select(less(bits, 0), bit_xor(bits, magnitude), bits)
    # The greatest key is NaN's, a quiet one: all bits but the sign.
    bits = select(equal(key, magnitude), magnitude, bits)
    return convert(bitcast(bits, wide), dtype)


def is_negative(x: Node) -> Node:
    """The sign bits of floating-point numbers."""
    x = _with_integer_width(x)
    return less(bitcast(x, _signed(x)), 0)


def _float_of_width(dtype: np.dtype) -> np.dtype:
    # The 8-bit dtypes differ in what infinity is, and float32 holds them all.
    return dtypes.float32 if dtype.itemsize == 1 else dtype


def _with_integer_width(x: Node) -> Node:
    return convert(x, _float_of_width(x.dtype))


def _signed(x: Node) -> np.dtype:
    return np.dtype(f"int{8 * x.dtype.itemsize}")


def _infinity_bits(x: Node) -> int:
    return int(np.asarray(np.inf).astype(x.dtype).view(_signed(x)))
