"""Comparisons: an array of booleans for two arrays."""

from __future__ import annotations

from .. import _dtypes
from .._graph import Node
from . import _primitives
from ._builders import Binary, binary, by_kind_2
from ._primitives import bit_and, bit_or, imaginary_part
from ._rules import REAL_PART


def _lexicographic(strict: Binary, compare: Binary) -> Binary:
    """Complex numbers ordered by real part, then imaginary part, as NumPy does (the standard has no such order)."""

    def compared(x: Node, y: Node) -> Node:
        first = strict(REAL_PART(x), REAL_PART(y))
        tied = _primitives.equal(REAL_PART(x), REAL_PART(y))
        return bit_or(first, bit_and(tied, compare(imaginary_part(x), imaginary_part(y))))

    return compared


def _ordering(strict: Binary, compare: Binary) -> Binary:
    return by_kind_2(boolean=compare, integral=compare, real=compare, complex=_lexicographic(strict, compare))


_less = _ordering(_primitives.less, _primitives.less)
_less_equal = _ordering(_primitives.less, _primitives.less_equal)
_greater = _ordering(_primitives.greater, _primitives.greater)
_greater_equal = _ordering(_primitives.greater, _primitives.greater_equal)

equal = binary("equal", _primitives.equal, _dtypes.ALL)
not_equal = binary("not_equal", _primitives.not_equal, _dtypes.ALL)
less = binary("less", _less, _dtypes.ALL)
less_equal = binary("less_equal", _less_equal, _dtypes.ALL)
greater = binary("greater", _greater, _dtypes.ALL)
greater_equal = binary("greater_equal", _greater_equal, _dtypes.ALL)
