"""Comparisons of two arrays, and what is chosen by comparing."""

from __future__ import annotations

import math

from .._base import dtypes
from .._graph import Node, definition
from . import _primitives
from ._builders import NARROW, Binary, as_floating_2, binary, by_kind_2, comparison
from ._elementary import is_nan, modulus, parts
from ._primitives import bit_and, bit_or, invert, select
from ._rules import broadcast_shapes, broadcast_to, check_dtype, convert, promote, result_dtype


def _lexicographic(strict: Binary, compare: Binary) -> Binary:
    """Complex numbers ordered by real part, then imaginary part, as NumPy does (the standard has no such order)."""

    def compared(x: Node, y: Node) -> Node:
        x_real, x_imaginary = parts(x)
        y_real, y_imaginary = parts(y)
        comparable = invert(bit_or(is_nan(x_imaginary), is_nan(y_imaginary)))
        tied = bit_and(_primitives.equal(x_real, y_real), compare(x_imaginary, y_imaginary))
        return bit_or(bit_and(strict(x_real, y_real), comparable), tied)

    return compared


def _ordering(strict: Binary, compare: Binary) -> Binary:
    return by_kind_2(boolean=compare, integral=compare, real=compare, complex=_lexicographic(strict, compare))


_less = _ordering(_primitives.less, _primitives.less)
_less_equal = _ordering(_primitives.less, _primitives.less_equal)
_greater = _ordering(_primitives.greater, _primitives.greater)
_greater_equal = _ordering(_primitives.greater, _primitives.greater_equal)

equal = comparison("equal", _primitives.equal)
not_equal = comparison("not_equal", _primitives.not_equal)
less = comparison("less", _less)
less_equal = comparison("less_equal", _less_equal)
greater = comparison("greater", _greater)
greater_equal = comparison("greater_equal", _greater_equal)


def _larger(x: Node, y: Node) -> Node:
    return select(bit_or(_greater_equal(x, y), is_nan(x)), x, y)


def _smaller(x: Node, y: Node) -> Node:
    return select(bit_or(_less_equal(x, y), is_nan(x)), x, y)


# NaN where either is. Complex numbers in the order of ``less``.
_maximum = by_kind_2(boolean=bit_or, integral=_primitives.maximum, real=_primitives.maximum, complex=_larger)
_minimum = by_kind_2(boolean=bit_and, integral=_primitives.minimum, real=_primitives.minimum, complex=_smaller)


def _ignoring_nan(rule: Binary) -> Binary:
    def computed(x: Node, y: Node) -> Node:
        return select(is_nan(x), y, select(is_nan(y), x, rule(x, y)))

    return computed


maximum = binary("maximum", _maximum, dtypes.ALL)
minimum = binary("minimum", _minimum, dtypes.ALL)
fmax = binary("fmax", _ignoring_nan(_maximum), dtypes.ALL)
fmin = binary("fmin", _ignoring_nan(_minimum), dtypes.ALL)


@definition
def clip(x: Node, minimum: Node | None, maximum: Node | None) -> Node:
    bounds = [bound for bound in (minimum, maximum) if bound is not None]
    dtype = result_dtype("clip", x, *bounds)
    shape = broadcast_shapes("clip", x.shape, *[bound.shape for bound in bounds])
    x = broadcast_to(convert(x, dtype), shape)
    check_dtype("clip", x, dtypes.REAL)
    if minimum is not None:
        x = _maximum(x, broadcast_to(convert(minimum, dtype), shape))
    if maximum is not None:
        x = _minimum(x, broadcast_to(convert(maximum, dtype), shape))
    return x


@definition
def isclose(x1: Node, x2: Node, rtol: float, atol: float, equal_nan: bool) -> Node:
    x1, x2 = promote("isclose", x1, x2)
    x1, x2 = as_floating_2(x1, x2)
    if x1.dtype in NARROW:
        x1, x2 = convert(x1, dtypes.float32), convert(x2, dtypes.float32)
    size = modulus if x1.dtype in dtypes.COMPLEX else _primitives.absolute
    bound = _primitives.add(_primitives.multiply(size(x2), rtol), atol)
    close = _primitives.less_equal(size(_primitives.subtract(x1, x2)), bound)
    # An infinite bound is no reason to call everything close; equal infinities differ by NaN.
    finite = _primitives.less(size(x2), math.inf)
    result = bit_or(bit_and(close, finite), _primitives.equal(x1, x2))
    return bit_or(result, bit_and(is_nan(x1), is_nan(x2))) if equal_nan else result
