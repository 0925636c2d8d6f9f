"""Arrays in other dtypes: their values, and their bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from .._graph import Node, definition
from ._primitives import (
    bit_or,
    bitcast,
    imaginary_part,
    make_complex,
    not_equal,
    shift_left,
    take_index,
)
from ._primitives import reshape as _reshape
from ._primitives import stack as _stack
from ._rules import (
    CONVERT,
    REAL_PART,
    convert,
    digits,
)

if TYPE_CHECKING:
    from .._base.dtypes import DType


@definition
def astype(x: Node, dtype: DType) -> Node:
    """``x`` in ``dtype``; complex to real is refused (standard, "astype")."""
    if x.dtype in dtypes.COMPLEX and dtype not in dtypes.COMPLEX | dtypes.BOOLEAN:
        raise TypeError(
            f"astype: {x.dtype.name} does not become {dtype.name}, which would drop the imaginary part; "
            "take real(x) first"
        )
    if dtype == dtypes.bool_:
        return nonzero_mask(x)
    return CONVERT(digits(x), dtype=dtype) if x.weak else convert(x, dtype)  # what is given a dtype is weak no more


@definition
def view(x: Node, dtype: DType) -> Node:
    """The bytes of ``x`` as elements of ``dtype``; the last axis takes the difference in width."""
    if x.dtype == dtype:
        return x
    for one in (x.dtype, dtype):
        if one in _HALF_BYTES:
            raise TypeError(
                f"view: from {x.dtype.name} to {dtype.name}, but elements of {one.name} have no whole bytes"
            )
    before, after = x.dtype.itemsize, dtype.itemsize
    lead, length = x.shape[:-1], x.shape[-1] if x.ndim else 1
    if before != after and not x.ndim:
        raise ValueError(
            f"view: from {x.dtype.name} to {dtype.name}, of another width, needs an axis; reshape the array to (1,)"
        )
    if length * before % after:
        raise ValueError(
            f"view: {length} elements of {x.dtype.name} along the last axis are {length * before} bytes, "
            f"which is no multiple of the {after} of {dtype.name}"
        )
    total = length * before // after
    return _reshape(_of_words(_words(x), dtype, lead), (*lead, total) if x.ndim else ())


_HALF_BYTES = frozenset({dtypes.int4, dtypes.uint4})


def _words(x: Node) -> Node:
    """The elements as numbers whose bits XLA gives, in one axis behind the leading ones."""
    lead = x.shape[:-1]
    if x.dtype in dtypes.COMPLEX:
        return _reshape(_stack((REAL_PART(x), imaginary_part(x)), -1), (*lead, 2 * math.prod(x.shape[-1:])))
    x = convert(x, dtypes.uint8) if x.dtype == dtypes.bool_ else x
    return _reshape(x, (*lead, math.prod(x.shape[-1:])))


def _of_words(words: Node, dtype: DType, lead: tuple[int, ...]) -> Node:
    piece = dtypes.real_of(dtype) if dtype in dtypes.COMPLEX else dtypes.uint8 if dtype == dtypes.bool_ else dtype
    before, after = words.dtype.itemsize, piece.itemsize
    total = words.shape[-1] * before // after
    if after > before:
        words = _reshape(words, (*lead, total, after // before))
    if piece != words.dtype:
        words = bitcast(words, piece)
    words = _reshape(words, (*lead, total))
    if dtype in dtypes.COMPLEX:
        pairs = _reshape(words, (*lead, total // 2, 2))
        return make_complex(take_index(pairs, -1, 0), take_index(pairs, -1, 1))
    return not_equal(words, 0) if dtype == dtypes.bool_ else words


def nonzero_mask(x: Node) -> Node:
    """Where ``x`` is not zero. Floating-point numbers by their bits: XLA compares subnormal ones as zero."""
    if x.dtype == dtypes.bool_:
        return x
    if x.dtype in dtypes.COMPLEX:
        return bit_or(nonzero_mask(REAL_PART(x)), nonzero_mask(imaginary_part(x)))
    if x.dtype in dtypes.REAL_FLOATING:
        bits = bitcast(x, np.dtype(f"uint{8 * x.dtype.itemsize}"))
        x = shift_left(bits, 1)  # the sign goes
    return not_equal(x, 0)
