"""Parts of floating-point numbers: fractions, whole parts, powers of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import Array, ArrayLike, as_array, fused
from .._base import dtypes
from .arithmetic import divide
from .bitwise import bitwise_and, bitwise_or, bitwise_right_shift
from .comparison import clip
from .data_types import astype
from .floating_point import copysign, isinf
from .logical import logical_or
from .manipulation import broadcast_arrays
from .rounding import trunc
from .searching import where

if TYPE_CHECKING:
    from .._base.dtypes import DType

__all__ = ["frexp", "ldexp", "modf"]

# Of a floating-point dtype: the integer of its width, the bits of its fraction, the bias of its exponent.
_LAYOUTS: dict[DType, tuple[DType, int, int]] = {
    dtypes.float32: (dtypes.int32, 23, 127),
    dtypes.float64: (dtypes.int64, 52, 1023),
}


def _real(function: str, x: ArrayLike) -> Array:
    array = divide(x, 1)
    if array.dtype in dtypes.COMPLEX:
        raise TypeError(f"{function}: dtype {array.dtype.name} is not allowed; it takes real numeric dtypes")
    return array


@fused
def modf(x: ArrayLike, /) -> tuple[Array, Array]:
    """The fractional and the whole part of each element, both with its sign.

    Real floating-point dtypes; integers become real numbers first. ``TypeError`` for complex ones.

    >>> aio.modf(aio.asarray([3.5, -0.25]))
    (Array([ 0.5 , -0.25], dtype=float32), Array([ 3., -0.], dtype=float32))
    """
    array = _real("modf", x)
    whole = trunc(array)
    rest = where(isinf(array), 0.0, array - whole)
    return copysign(rest, array), whole


@fused
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Each element as a fraction from 0.5 to 1, with its sign, and the power of two that it is multiplied by.

    Zeros, infinities and NaN are their own fraction, with the power 0; subnormal numbers count as zero. Real
    floating-point dtypes; integers become real numbers first. ``TypeError`` for complex ones.

    >>> aio.frexp(aio.asarray([8.0, -0.75]))
    (Array([ 0.5 , -0.75], dtype=float32), Array([4, 0], dtype=int32))
    """
    array = _real("frexp", x)
    target = array.dtype
    wide = astype(array, dtypes.float32) if target.itemsize < 4 else array
    whole, digits, bias = _LAYOUTS[wide.dtype]
    bits = wide.view(whole)
    field = bitwise_and(bitwise_right_shift(bits, digits), 2 * bias + 1)
    plain = logical_or(field == 0, field == 2 * bias + 1)
    fraction = bitwise_or(bitwise_and(bits, ~((2 * bias + 1) << digits)), (bias - 1) << digits).view(wide.dtype)
    fraction = where(plain, where(field == 0, copysign(0.0, wide), wide), fraction)
    return astype(fraction, target), astype(where(plain, 0, field - (bias - 1)), dtypes.int32)


def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1 * 2**x2``, exact unless it overflows or is subnormal, which counts as zero.

    ``x1`` of real floating-point dtypes, kept (integers become real numbers), ``x2`` of integers. ``TypeError`` for
    others, ``ValueError`` for shapes that do not broadcast.

    >>> aio.ldexp(aio.asarray([0.5, -0.75]), aio.asarray([4, 0]))
    Array([ 8.  , -0.75], dtype=float32)
    """
    return _ldexp(x1, as_array("ldexp", x2))  # which beside real numbers would become one


@fused
def _ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    array, power = _real("ldexp", x1), as_array("ldexp", x2)
    if power.dtype not in dtypes.INTEGRAL_OR_BOOLEAN:
        raise TypeError(f"ldexp: powers of dtype {power.dtype.name}; they are integers")
    target = array.dtype
    wide = astype(array, dtypes.float32) if target.itemsize < 4 else array
    whole, digits, bias = _LAYOUTS[wide.dtype]
    # In three steps, none of which is beyond the powers that there are.
    value, rest = broadcast_arrays(wide, astype(clip(astype(power, dtypes.int64), -3 * bias, 3 * bias), whole))
    for _ in range(3):
        step = clip(rest, 1 - bias, bias)
        value = value * ((step + bias) * (1 << digits)).view(wide.dtype)
        rest = rest - step
    return astype(value, target)
