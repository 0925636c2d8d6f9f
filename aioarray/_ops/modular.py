"""Powers of integers modulo a number, exact for all of them: nothing wraps around on the way."""

from __future__ import annotations

from .._base import dtypes
from .._graph import Node, definition
from . import _primitives as p
from ._loops import while_loop
from ._rules import broadcast_shapes, broadcast_to, check_dtype, convert, full_like, result_dtype, scalar
from .statistical import any as _any


@definition
def modular_power(x1: Node, x2: Node | None, modulus: Node, exponent: int = 0) -> Node:
    """``x1`` to the power of ``x2`` modulo ``modulus``, whose sign the result has; 0 modulo 0.

    Exponents are not negative; for None all are ``exponent``.
    """
    x2 = scalar(exponent, dtypes.uint64) if x2 is None else x2
    for x in (x1, x2, modulus):
        check_dtype("pow", x, dtypes.INTEGRAL)
    dtype = result_dtype("pow", x1, modulus)
    shape = broadcast_shapes("pow", x1.shape, x2.shape, modulus.shape)
    x1, x2, modulus = (broadcast_to(x, shape) for x in (x1, x2, modulus))
    size, below = _magnitude(modulus)
    empty = p.equal(size, 0)
    size = p.select(empty, 1, size)
    base, negative = _magnitude(x1)
    base = p.remainder(base, size)
    base = p.select(p.bit_and(negative, p.not_equal(base, 0)), p.subtract(size, base), base)
    multiply = _multiply_narrow if modulus.dtype.itemsize <= 4 else _multiply_wide

    def going(result: Node, base: Node, exponent: Node, size: Node) -> Node:
        return _any(p.not_equal(exponent, 0), None, False)

    def step(result: Node, base: Node, exponent: Node, size: Node) -> tuple[Node, ...]:
        odd = p.equal(p.bit_and(exponent, 1), 1)
        return (
            p.select(odd, multiply(result, base, size), result),
            multiply(base, base, size),
            p.shift_right(exponent, 1),
            size,
        )

    one = p.remainder(full_like(size, 1), size)
    result = while_loop(going, step, (one, base, convert(x2, dtypes.uint64), size))[0]
    turned = p.subtract(result, size)  # wraps around in unsigned numbers; right again in signed ones
    result = p.select(p.bit_and(below, p.not_equal(result, 0)), turned, result)
    return convert(p.select(empty, 0, result), dtype)


def _magnitude(x: Node) -> tuple[Node, Node]:
    """The absolute value as uint64, and where ``x`` is negative."""
    if x.dtype in dtypes.UNSIGNED:
        return convert(x, dtypes.uint64), broadcast_to(scalar(False, dtypes.bool_), x.shape)
    wide = convert(x, dtypes.int64)
    return convert(p.absolute(wide), dtypes.uint64), p.less(wide, 0)


def _multiply_narrow(x: Node, y: Node, size: Node) -> Node:
    """``x * y`` modulo ``size``, below 2**32."""
    return p.remainder(p.multiply(x, y), size)


def _multiply_wide(x: Node, y: Node, size: Node) -> Node:
    """``x * y`` modulo ``size``, by doubling and adding, which stay below ``size``."""

    def going(left: Node, *_: Node) -> Node:
        return p.greater(left, 0)

    def step(left: Node, total: Node, x: Node, y: Node, size: Node) -> tuple[Node, ...]:
        odd = p.equal(p.bit_and(y, 1), 1)
        total = p.select(odd, _add(total, x, size), total)
        return p.subtract(left, 1), total, _add(x, x, size), p.shift_right(y, 1), size

    initial = (scalar(64, dtypes.int32), full_like(x, 0), x, y, size)
    return while_loop(going, step, initial, counted=True)[1]


def _add(x: Node, y: Node, size: Node) -> Node:
    rest = p.subtract(size, y)
    return p.select(p.greater_equal(x, rest), p.subtract(x, rest), p.add(x, y))
