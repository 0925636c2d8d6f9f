"""Functions of whole matrices: powers, exponentials, cross products, diagonals and their sums."""

from __future__ import annotations

import math

from .._base import dtypes
from .._graph import Node, definition
from . import _elementary, linalg, statistical
from . import _primitives as p
from ._loops import while_loop
from ._rules import broadcast_to, check_dtype, convert, scalar


@definition
def matrix_power(x: Node, n: int) -> Node:
    """``x`` multiplied with itself ``n`` times; negative: the inverse."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrix_power: shape {x.shape}; it takes square matrices, or stacks of them")
    check_dtype("matrix_power", x, dtypes.NUMERIC)
    if n == 0:
        return linalg.identity(x.shape, x.dtype)
    if n < 0:
        x, n = linalg.inv(x), -n
    result: Node | None = None
    while True:
        if n % 2:
            result = x if result is None else linalg.product(result, x)
        n //= 2
        if not n:
            assert result is not None
            return result
        x = linalg.product(x, x)


# Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26(4),
# 2005: degree of the Padé approximant, and the 1-norm up to which it is exact to the rounding error (table 2.3).
_PADE = {dtypes.float32: (7, 3.925724783138660), dtypes.float64: (13, 5.371920351148152)}


def _pade_coefficients(degree: int) -> list[float]:
    # Of the numerator; the denominator's are the same with alternating signs. Divided by the first, so they are <= 1.
    f = math.factorial
    return [f(2 * degree - k) * f(degree) / (f(2 * degree) * f(k) * f(degree - k)) for k in range(degree + 1)]


def _pade(a: Node, degree: int) -> Node:
    # exp(a) for small a: with U the odd and V the even terms of the numerator, (V - U)^-1 (V + U).
    coefficients = _pade_coefficients(degree)
    square = linalg.product(a, a)
    odd, even = (_polynomial(square, coefficients[start::2]) for start in (1, 0))
    odd = linalg.product(a, odd)
    return linalg.solve_matrix(p.subtract(even, odd), p.add(even, odd))


def _polynomial(x: Node, coefficients: list[float]) -> Node:
    one = linalg.identity(x.shape, x.dtype)
    result = p.multiply(one, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = p.add(linalg.product(result, x), p.multiply(one, coefficient))
    return result


@definition
def expm(x: Node) -> Node:
    """Matrix exponentials, by scaling and squaring."""
    dtype = linalg.target_dtype("expm", x)
    (a,) = linalg.matrices("expm", x, square=True)
    if not a.size:
        return linalg.zeros(x.shape, dtype)
    real = dtypes.real_of(a.dtype)
    degree, radius = _PADE[real]
    sums = statistical.sum(linalg.magnitude(a), a.ndim - 2, None, False)
    norm: Node = statistical.max(sums, sums.ndim - 1, False)
    # Each matrix is halved so often that its norm is within the radius, and squared as often. One that is not finite
    # is not: it would never end.
    doublings = _elementary.ceil(p.divide(p.log(p.divide(p.maximum(norm, radius), radius)), math.log(2)))
    finite = p.less(norm, math.inf)
    count = convert(p.select(finite, doublings, 0), dtypes.int32)
    scale = p.power(broadcast_to(scalar(0.5, real), norm.shape), convert(count, real))
    small = p.multiply(a, linalg.stretch(convert(scale, a.dtype), a.shape))

    def going(done: Node, count: Node, value: Node) -> Node:
        highest: Node = statistical.max(p.reshape(count, (count.size,)), 0, False)
        return p.less(done, highest)

    def body(done: Node, count: Node, value: Node) -> tuple[Node, ...]:
        wanted = linalg.stretch(p.less(broadcast_to(done, count.shape), count), value.shape)
        return p.add(done, 1), count, p.select(wanted, linalg.product(value, value), value)

    value = while_loop(going, body, (scalar(0, dtypes.int32), count, _pade(small, degree)))[2]
    nan = p.multiply(value, math.nan)
    return convert(p.select(linalg.stretch(finite, value.shape), value, nan), dtype)
