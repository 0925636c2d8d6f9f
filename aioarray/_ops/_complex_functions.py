"""Elementary functions of complex numbers, with the special values of C99, Annex G.6.

Written in real operations: XLA's own lose digits near zeros, overflow early, and differ in signed zeros and NaNs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base import dtypes
from . import _elementary, _primitives, _real_functions
from ._compensated import compensated_sum, opaque, square
from ._elementary import arc_tangent2, copy_sign, cosine, hypotenuse, is_finite, is_infinite, is_nan, parts, sine
from ._primitives import (
    absolute,
    add,
    bit_and,
    bit_or,
    divide,
    equal,
    greater,
    invert,
    less,
    make_complex,
    maximum,
    minimum,
    multiply,
    negative,
    select,
    shift_right,
    subtract,
)
from ._real_functions import LARGE
from ._rules import convert, full_like

if TYPE_CHECKING:
    from .._graph import Node

# XLA's are good to 5 ulp in both parts; the zeros' signs and the non-finite values are put right here.
_acos = _primitives._unary("acos", "chlo.acos")
_asinh = _primitives._unary("asinh", "chlo.asinh")
_atanh = _primitives._unary("atanh", "chlo.atanh")


def _cis(angle: Node) -> tuple[Node, Node]:
    return cosine(angle), sine(angle)


def times_i(z: Node) -> Node:
    """``1j * z``, without arithmetic."""
    x, y = parts(z)
    return make_complex(negative(y), x)


def times_minus_i(z: Node) -> Node:
    """``-1j * z``, without arithmetic."""
    x, y = parts(z)
    return make_complex(y, negative(x))


def exp(z: Node) -> Node:
    """``e ** z``."""
    x, y = parts(z)
    cos, sin = _cis(y)
    # Where the exponential of x overflows its products may not: half the argument, twice.
    large = greater(x, LARGE[x.dtype])
    e = _primitives.exp(select(large, multiply(x, 0.5), x))
    real, imaginary = multiply(e, cos), multiply(e, sin)
    real = select(large, multiply(real, e), real)
    imaginary = select(large, multiply(imaginary, e), imaginary)
    undirected = bit_and(is_infinite(x), invert(is_finite(y)))
    real = select(undirected, e, real)
    imaginary = select(undirected, select(less(x, 0), copy_sign(full_like(y, 0), y), math.nan), imaginary)
    on_axis = equal(y, 0)
    return make_complex(select(on_axis, _primitives.exp(x), real), select(on_axis, y, imaginary))


def expm1(z: Node) -> Node:
    """``e ** z - 1``, accurate near 0."""
    x, y = parts(z)
    sin_half = sine(multiply(y, 0.5))
    small = _elementary.expm1(x)
    real = subtract(multiply(small, cosine(y)), multiply(multiply(sin_half, 2), sin_half))
    # Of -0 + 0j the standard wants 0.
    real = select(equal(y, 0), select(equal(x, 0), 0, small), real)
    exp_real, exp_imaginary = parts(exp(z))
    real = select(greater(x, LARGE[x.dtype]), exp_real, real)
    real = select(equal(x, -math.inf), -1, real)
    return make_complex(real, exp_imaginary)


def _logarithm_of_large_modulus(x: Node, y: Node) -> Node:
    """``log(hypot(x, y))``, accurate where that is not near 0."""
    a, b = maximum(absolute(x), absolute(y)), minimum(absolute(x), absolute(y))
    ratio = divide(b, select(equal(a, 0), 1, a))
    result = add(_primitives.log(a), multiply(_real_functions.log1p(multiply(ratio, ratio)), 0.5))
    return select(bit_or(is_infinite(x), is_infinite(y)), math.inf, result)


def _near_one(squared: Node) -> Node:
    return bit_and(greater(squared, 0.5), less(squared, 3))


def log_modulus(x: Node, y: Node) -> Node:
    """``log(hypot(x, y))``."""
    a, b = maximum(absolute(x), absolute(y)), minimum(absolute(x), absolute(y))
    (a1, a2, a3), (b1, b2, b3) = square(a), square(b)
    excess = compensated_sum([a1, opaque(-1, a), b1, a2, b2, a3, b3])
    near = multiply(_real_functions.log1p(excess), 0.5)
    squared = add(multiply(a, a), multiply(b, b))
    return select(_near_one(squared), near, _logarithm_of_large_modulus(x, y))


def log(z: Node) -> Node:
    """Natural logarithm, the cut along the negative real axis."""
    x, y = parts(z)
    return make_complex(log_modulus(x, y), arc_tangent2(y, x))


def log1p(z: Node) -> Node:
    """``log(1 + z)``, accurate near 0."""
    x, y = parts(z)
    (x1, x2, x3), (y1, y2, y3) = square(x), square(y)
    excess = compensated_sum([multiply(x, 2), x1, y1, x2, y2, x3, y3])
    shifted = add(x, 1)
    squared = add(multiply(shifted, shifted), multiply(y, y))
    near = multiply(_real_functions.log1p(excess), 0.5)
    real = select(_near_one(squared), near, _logarithm_of_large_modulus(shifted, y))
    return make_complex(real, arc_tangent2(y, shifted))


# Above the first a sum of two may overflow, below the second a half may vanish.
_SQRT_RANGE = {dtypes.float32: (2.0**125, 2.0**-100), dtypes.float64: (2.0**1021, 2.0**-1000)}


def sqrt(z: Node) -> Node:
    """Square root in the right half plane, the cut along the negative real axis."""
    x, y = parts(z)
    a, b = absolute(x), absolute(y)
    high, low = _SQRT_RANGE[x.dtype]
    one = full_like(x, 1)
    is_high, is_low = greater(maximum(a, b), high), less(maximum(a, b), low)
    scale = select(is_high, 2.0**-4, select(is_low, 2.0**24, one))
    root_of_scale = select(is_high, 2.0**2, select(is_low, 2.0**-12, one))
    scaled = multiply(a, scale)
    scaled = multiply(add(scaled, hypotenuse(scaled, multiply(b, scale))), 0.5)
    larger = multiply(_primitives.sqrt(scaled), root_of_scale)
    smaller = divide(b, select(equal(larger, 0), 1, multiply(larger, 2)))
    left = less(x, 0)
    real = select(left, smaller, larger)
    imaginary = select(left, larger, smaller)
    upright = is_infinite(y)
    real = select(upright, math.inf, real)
    return make_complex(real, copy_sign(select(upright, math.inf, imaginary), y))


def _hyperbolic(z: Node) -> tuple[Node, Node, Node, Node]:
    """``cosh x cos y``, ``sinh x sin y``, ``sinh x cos y``, ``cosh x sin y`` for finite ``y``."""
    x, y = parts(z)
    cos, sin = cosine(y), sine(y)
    large = greater(absolute(x), LARGE[x.dtype])
    root = _primitives.exp(multiply(absolute(x), 0.5))
    # Where the exponential of x overflows its products may not: multiply by its root, twice.
    scale = select(large, root, full_like(x, 1))
    cosh = select(large, multiply(root, 0.5), _real_functions.cosh(x))
    sinh = select(large, copy_sign(multiply(root, 0.5), x), _real_functions.sinh(x))
    return (
        multiply(multiply(cosh, cos), scale),
        multiply(multiply(sinh, sin), scale),
        multiply(multiply(sinh, cos), scale),
        multiply(multiply(cosh, sin), scale),
    )


def cosh(z: Node) -> Node:
    """Hyperbolic cosine."""
    x, y = parts(z)
    real, imaginary, _, _ = _hyperbolic(z)
    undirected = bit_and(is_infinite(x), invert(is_finite(y)))
    real = select(undirected, math.inf, real)
    real = select(equal(y, 0), _real_functions.cosh(x), real)
    # On the axes the imaginary part is a zero, even times infinity or NaN.
    beyond = bit_or(invert(is_finite(x)), invert(is_finite(y)))
    on_axis = bit_and(bit_or(equal(x, 0), equal(y, 0)), beyond)
    zero = multiply(copy_sign(full_like(x, 0), x), copy_sign(full_like(y, 1), y))
    return make_complex(real, select(on_axis, zero, imaginary))


def sinh(z: Node) -> Node:
    """Hyperbolic sine."""
    x, y = parts(z)
    _, _, real, imaginary = _hyperbolic(z)
    undirected = bit_and(is_infinite(x), invert(is_finite(y)))
    real = select(undirected, x, real)
    real = select(equal(y, 0), _real_functions.sinh(x), real)
    real = select(bit_and(equal(x, 0), invert(is_finite(y))), x, real)
    return make_complex(real, select(equal(y, 0), y, imaginary))


# Where tanh is 1 to the last digit, and squares of sinh times squares of tan are still finite.
_TANH_LARGE = {dtypes.float32: 11.0, dtypes.float64: 22.0}


def tanh(z: Node) -> Node:
    """Hyperbolic tangent (Kahan, "Branch cuts for complex elementary functions")."""
    x, y = parts(z)
    tan = _elementary.tangent(y)
    sinh = _real_functions.sinh(x)
    sinh_squared = multiply(sinh, sinh)
    beta = add(multiply(tan, tan), 1)
    rho = _primitives.sqrt(add(sinh_squared, 1))
    below = add(multiply(beta, sinh_squared), 1)
    real = divide(multiply(multiply(beta, rho), sinh), below)
    imaginary = divide(tan, below)

    large = greater(absolute(x), _TANH_LARGE[x.dtype])
    decay = _primitives.exp(negative(absolute(x)))
    turn = multiply(multiply(sine(y), cosine(y)), 4)
    directed = bit_and(large, bit_or(is_finite(y), is_infinite(x)))
    real = select(directed, copy_sign(full_like(x, 1), x), real)
    imaginary = select(large, multiply(multiply(turn, decay), decay), imaginary)

    # C99 gives this zero the sign of sin(2y), the array API standard that of y.
    imaginary = select(is_infinite(x), copy_sign(full_like(y, 0), y), imaginary)
    # On the axes the other part is a zero, even beside infinity or NaN.
    imaginary = select(equal(y, 0), y, imaginary)
    real = select(equal(x, 0), x, real)
    return make_complex(real, imaginary)


def sin(z: Node) -> Node:
    """Sine."""
    return times_minus_i(sinh(times_i(z)))


def cos(z: Node) -> Node:
    """Cosine."""
    return cosh(times_i(z))


def tan(z: Node) -> Node:
    """Tangent."""
    return times_minus_i(tanh(times_i(z)))


def _first_quadrant(z: Node) -> Node:
    x, y = parts(z)
    return make_complex(absolute(x), absolute(y))


def asinh(z: Node) -> Node:
    """Inverse hyperbolic sine, the cuts along the imaginary axis outside [-1j, 1j]."""
    x, y = parts(z)
    real, imaginary = parts(_asinh(_first_quadrant(z)))
    infinite = bit_or(is_infinite(x), is_infinite(y))
    beyond = bit_or(infinite, bit_or(is_nan(x), is_nan(y)))
    direction = select(equal(y, 0), 0, arc_tangent2(absolute(y), absolute(x)))
    real = select(beyond, select(infinite, math.inf, full_like(x, math.nan)), real)
    imaginary = select(beyond, direction, imaginary)
    return make_complex(copy_sign(real, x), copy_sign(imaginary, y))


def acos(z: Node) -> Node:
    """Inverse cosine, the cuts along the real axis outside [-1, 1]."""
    x, y = parts(z)
    real, imaginary = parts(_acos(make_complex(x, absolute(y))))
    infinite = bit_or(is_infinite(x), is_infinite(y))
    beyond = bit_or(infinite, bit_or(is_nan(x), is_nan(y)))
    direction = select(equal(x, 0), math.pi / 2, arc_tangent2(absolute(y), x))
    real = select(beyond, direction, real)
    imaginary = select(beyond, select(infinite, math.inf, full_like(x, math.nan)), imaginary)
    return make_complex(real, copy_sign(imaginary, negative(y)))


def acosh(z: Node) -> Node:
    """Inverse hyperbolic cosine, the cut along the real axis below 1."""
    _, y = parts(z)
    real, imaginary = parts(acos(z))
    return make_complex(absolute(imaginary), copy_sign(real, y))


def atanh(z: Node) -> Node:
    """Inverse hyperbolic tangent, the cuts along the real axis outside [-1, 1]."""
    x, y = parts(z)
    a, b = absolute(x), absolute(y)
    real, imaginary = parts(_atanh(make_complex(a, b)))
    # Near the poles XLA's squares vanish.
    above_pole = multiply(subtract(log_modulus(full_like(x, 2), b), _primitives.log(b)), 0.5)
    real = select(equal(a, 1), above_pole, real)
    infinite = bit_or(is_infinite(x), is_infinite(y))
    beyond = bit_or(infinite, bit_or(is_nan(x), is_nan(y)))
    nan = full_like(x, math.nan)
    real = select(beyond, select(bit_or(infinite, equal(x, 0)), 0, nan), real)
    right_angle = bit_or(is_infinite(y), bit_and(is_infinite(x), invert(is_nan(y))))
    imaginary = select(beyond, select(right_angle, math.pi / 2, nan), imaginary)
    return make_complex(copy_sign(real, x), copy_sign(imaginary, y))


def asin(z: Node) -> Node:
    """Inverse sine, the cuts along the real axis outside [-1, 1]."""
    return times_minus_i(asinh(times_i(z)))


def atan(z: Node) -> Node:
    """Inverse tangent, the cuts along the imaginary axis outside [-1j, 1j]."""
    return times_minus_i(atanh(times_i(z)))


def sign(z: Node) -> Node:
    """``z / abs(z)``, and 0 for 0."""
    x, y = parts(z)
    # Infinite numbers: the direction of the infinite part, as in NumPy; none where both parts are.
    x_infinite, y_infinite = is_infinite(x), is_infinite(y)
    nan = full_like(x, math.nan)
    one = full_like(x, 1)
    x, y = (
        select(x_infinite, select(y_infinite, nan, copy_sign(one, x)), select(y_infinite, 0, x)),
        select(y_infinite, select(x_infinite, nan, copy_sign(one, y)), select(x_infinite, 0, y)),
    )
    # Divided by the larger part first, so that the modulus neither overflows nor vanishes.
    largest = maximum(absolute(x), absolute(y))
    zero = equal(largest, 0)
    largest = select(zero, 1, largest)
    x, y = divide(x, largest), divide(y, largest)
    length = hypotenuse(x, y)
    return make_complex(select(zero, 0, divide(x, length)), select(zero, 0, divide(y, length)))


# Complex powers to integers below 2**_BITS_BY_MULTIPLICATION are products, so that (1j)**2 is -1 and nothing else.
_BITS_BY_MULTIPLICATION = 7


def _power_by_multiplication(z: Node, exponent: Node) -> Node:
    count = convert(absolute(exponent), dtypes.int32)
    result, square = full_like(z, 1), z
    for bit in range(_BITS_BY_MULTIPLICATION):
        # The first factor is taken as it is: 1 * z would lose signs of zeros, and be NaN for infinite z.
        is_first = equal(bit_and(count, (1 << bit) - 1), 0)
        product = select(is_first, square, multiply(result, square))
        is_set = equal(bit_and(shift_right(count, bit), 1), 1)
        result = select(is_set, product, result)
        square = multiply(square, square)
    return select(less(exponent, 0), divide(1, result), result)


def power(z: Node, w: Node) -> Node:
    """``z ** w``, the principal value."""
    x, y = parts(z)
    c, d = parts(w)
    angle = arc_tangent2(y, x)
    length = multiply(_primitives.power(_elementary.modulus(z), c), _primitives.exp(negative(multiply(d, angle))))
    turn = multiply(c, angle)
    turn = select(equal(d, 0), turn, add(turn, multiply(d, log_modulus(x, y))))
    result = make_complex(multiply(length, cosine(turn)), multiply(length, sine(turn)))
    is_real = equal(d, 0)
    whole = bit_and(is_real, equal(c, _primitives.floor(c)))
    small = bit_and(whole, less(absolute(c), 2**_BITS_BY_MULTIPLICATION))
    result = select(small, _power_by_multiplication(z, c), result)
    # As NumPy: 0 to a power with positive real part is 0, otherwise undefined; anything to the power 0 is 1.
    nan = full_like(result, complex(math.nan, math.nan))
    of_zero = select(greater(c, 0), full_like(z, 0), nan)
    result = select(bit_and(equal(x, 0), equal(y, 0)), of_zero, result)
    return select(bit_and(is_real, equal(c, 0)), 1, result)
