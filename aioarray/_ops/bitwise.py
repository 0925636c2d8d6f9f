"""Operations on the bits of integers and booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from . import _elementary, _primitives, statistical
from ._builders import binary, unary
from ._loops import while_loop
from ._primitives import select
from ._rules import CONVERT, convert

if TYPE_CHECKING:
    from .._graph import Node


def _shift_right(x: Node, y: Node) -> Node:
    """By the width or more, or by a negative number: nothing but the sign is left, as in NumPy."""
    if x.dtype in dtypes.SIGNED:
        return _elementary.shift_right_arithmetic(x, y)
    return _primitives.shift_right(x, y)


def _magnitude(x: Node) -> Node:
    # Not weak, so that it may be what a loop carries.
    x = CONVERT(x, dtype=x.dtype) if x.weak else x
    return _primitives.absolute(x) if x.dtype in dtypes.SIGNED else x


def _count_bits(x: Node) -> Node:
    return convert(_elementary.population_count(_magnitude(x)), dtypes.uint8)


def _greatest_common_divisor(x: Node, y: Node) -> Node:
    def going(a: Node, b: Node) -> Node:
        return statistical.any(_primitives.not_equal(b, 0), None, False)

    def step(a: Node, b: Node) -> tuple[Node, Node]:
        done = _primitives.equal(b, 0)
        rest = _primitives.remainder(a, select(done, 1, b))
        return select(done, a, b), select(done, b, rest)

    # Of the least integer, whose magnitude is no number of the dtype, a remainder may be negative.
    return _magnitude(while_loop(going, step, (_magnitude(x), _magnitude(y)))[0])


def _least_common_multiple(x: Node, y: Node) -> Node:
    divisor = _greatest_common_divisor(x, y)
    divisor = select(_primitives.equal(divisor, 0), 1, divisor)
    return _primitives.multiply(_primitives.divide(_magnitude(x), divisor), _magnitude(y))


bitwise_and = binary("bitwise_and", _primitives.bit_and, dtypes.INTEGRAL_OR_BOOLEAN)
bitwise_or = binary("bitwise_or", _primitives.bit_or, dtypes.INTEGRAL_OR_BOOLEAN)
bitwise_xor = binary("bitwise_xor", _primitives.bit_xor, dtypes.INTEGRAL_OR_BOOLEAN)
bitwise_invert = unary("bitwise_invert", _primitives.invert, dtypes.INTEGRAL_OR_BOOLEAN)
# StableHLO reads the amount as unsigned and shifts everything out where it is the width or more.
bitwise_left_shift = binary("bitwise_left_shift", _primitives.shift_left, dtypes.INTEGRAL)
bitwise_right_shift = binary("bitwise_right_shift", _shift_right, dtypes.INTEGRAL)
bitwise_count = unary("bitwise_count", _count_bits, dtypes.INTEGRAL)
gcd = binary("gcd", _greatest_common_divisor, dtypes.INTEGRAL)
lcm = binary("lcm", _least_common_multiple, dtypes.INTEGRAL)
