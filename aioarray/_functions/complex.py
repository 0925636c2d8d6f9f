"""Parts of complex numbers: element-wise functions of the array API standard, and NumPy's `angle`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, as_array, call, fused, unary
from .._base import dtypes
from .._ops import complex
from .creation import zeros_like

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["angle", "conj", "imag", "iscomplex", "isreal", "real"]


def angle(x: ArrayLike, /, deg: bool = False) -> Array:
    """The angle of each complex number to the positive real axis, in radians (-pi to pi) or degrees.

    Floating-point dtypes; integers and booleans become real numbers first.

    >>> aio.angle(aio.asarray([1j, -1 + 0j]), deg=True)
    Array([ 90., 180.], dtype=float32)
    """
    return call(complex.angle, (x,), bool(deg))


def conj(x: ArrayLike, /) -> Array:
    """Each element with the opposite imaginary part.

    Numeric dtypes, kept; ``TypeError`` for others.

    >>> aio.conj(aio.asarray([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    return unary(complex.conj, x)


def imag(x: ArrayLike, /) -> Array:
    """The imaginary part of each element; 0 for real numbers.

    Numeric dtypes; of complex ones the result has that of their parts. ``TypeError`` for bool.

    >>> aio.imag(aio.asarray([1 + 2j]))
    Array([2.], dtype=float32)
    """
    return unary(complex.imag, x)


def real(x: ArrayLike, /) -> Array:
    """The real part of each element.

    Numeric dtypes; of complex ones the result has that of their parts. ``TypeError`` for bool.

    >>> aio.real(aio.asarray([1 + 2j]))
    Array([1.], dtype=float32)
    """
    return unary(complex.real, x)


@fused
def iscomplex(x: ArrayLike, /) -> Array:
    """Whether the imaginary part of each element is not 0. Any dtype; the result is bool.

    >>> aio.iscomplex(aio.asarray([1 + 1j, 1 + 0j]))
    Array([ True, False], dtype=bool)
    """
    array = as_array("iscomplex", x)
    part = imag(array) if array.dtype in dtypes.COMPLEX else zeros_like(array)
    return part != 0


@fused
def isreal(x: ArrayLike, /) -> Array:
    """Whether the imaginary part of each element is 0. Any dtype; the result is bool.

    >>> aio.isreal(aio.asarray([1 + 1j, 1 + 0j]))
    Array([False,  True], dtype=bool)
    """
    return ~iscomplex(x)
