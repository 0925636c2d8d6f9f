"""NumPy's everyday polynomials, as vectors of coefficients, that of the highest power first."""

from __future__ import annotations

import operator

import numpy as np

from .._array import Array, ArrayLike, as_array, call, from_host, fused
from .._base import dtypes
from .._base.host_values import host_array
from .._ops import linalg as decompositions
from .arithmetic import divide, multiply
from .correlation import convolve
from .creation import arange, eye, zeros
from .data_types import astype, finfo, result_type
from .manipulation import concat, reshape, stack
from .padding import pad
from .stacking import vstack
from .statistical import sum

__all__ = [
    "polyadd",
    "polyder",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
    "vander",
]


def _coefficients(function: str, p: ArrayLike) -> Array:
    array = as_array(function, p)
    if array.ndim > 1:
        raise ValueError(f"{function}: coefficients of shape {array.shape}; they are a vector")
    return reshape(array, (array.size,))


@fused
def polyval(p: ArrayLike, x: ArrayLike, /) -> Array:
    """The value of the polynomial ``p`` at each ``x``, by Horner's rule. Dtypes promote. ``ValueError`` for no vector.

    >>> aio.polyval(aio.asarray([1, 0, 2]), aio.asarray([0, 1, 3]))
    Array([ 2,  3, 11], dtype=int32)
    """
    coefficients, place = _coefficients("polyval", p), as_array("polyval", x)
    dtype = result_type(coefficients, place)
    place, coefficients = astype(place, dtype), astype(coefficients, dtype)
    value = zeros(place.shape, dtype=dtype)
    for k in range(coefficients.size):
        value = value * place + coefficients[k]
    return value


def _same_length(function: str, p1: ArrayLike, p2: ArrayLike) -> tuple[Array, Array]:
    first, second = _coefficients(function, p1), _coefficients(function, p2)
    size = max(first.size, second.size)
    return pad(first, (size - first.size, 0)), pad(second, (size - second.size, 0))


@fused
def polyadd(p1: ArrayLike, p2: ArrayLike, /) -> Array:
    """The sum of two polynomials. Dtypes promote. ``ValueError`` for coefficients that are no vector.

    >>> aio.polyadd(aio.asarray([1, 2]), aio.asarray([9, 5, 4]))
    Array([9, 6, 6], dtype=int32)
    """
    first, second = _same_length("polyadd", p1, p2)
    return first + second


@fused
def polysub(p1: ArrayLike, p2: ArrayLike, /) -> Array:
    """The difference of two polynomials. Dtypes promote. ``ValueError`` for coefficients that are no vector.

    >>> aio.polysub(aio.asarray([2, 10, -2]), aio.asarray([3, 10, -4]))
    Array([-1,  0,  2], dtype=int32)
    """
    first, second = _same_length("polysub", p1, p2)
    return first - second


@fused
def polymul(p1: ArrayLike, p2: ArrayLike, /) -> Array:
    """The product of two polynomials. Dtypes promote. ``ValueError`` for coefficients that are no vector.

    Leading zeros stay, which NumPy drops: their number depends on the values.

    >>> aio.polymul(aio.asarray([1, 2, 3]), aio.asarray([9, 5, 1]))
    Array([ 9, 23, 38, 17,  3], dtype=int32)
    """
    return convolve(_coefficients("polymul", p1), _coefficients("polymul", p2))


@fused
def polyder(p: ArrayLike, /, m: int = 1) -> Array:
    """The ``m``-th derivative of a polynomial, in its dtype. ``ValueError`` for a negative ``m``.

    >>> aio.polyder(aio.asarray([1, 1, 1, 1]))
    Array([3, 2, 1], dtype=int32)
    """
    array = _coefficients("polyder", p)
    if m < 0:
        raise ValueError(f"polyder: m={m} must not be negative; polyint integrates")
    for _ in range(m):
        powers = astype(arange(max(array.size - 1, 0), 0, -1), array.dtype)
        array = array[: max(array.size - 1, 0)] * powers
    return array


@fused
def polyint(p: ArrayLike, /, m: int = 1, k: float = 0) -> Array:
    """The ``m``-th antiderivative of a polynomial, each with the constant ``k``. ``ValueError`` for a negative ``m``.

    Floating-point dtypes; integers become real numbers.

    >>> aio.polyint(aio.asarray([3.0, 2.0, 1.0]))
    Array([1., 1., 1., 0.], dtype=float32)
    """
    array = divide(_coefficients("polyint", p), 1)
    if m < 0:
        raise ValueError(f"polyint: m={m} must not be negative; polyder differentiates")
    for _ in range(m):
        powers = astype(arange(array.size, 0, -1), array.dtype)
        array = pad(divide(array, powers), (0, 1), constant_values=k)
    return array


@fused
def vander(x: ArrayLike, /, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of each element of the vector ``x``, one row each: ``N`` of them (None: as many as elements).

    The highest power comes first, or last if ``increasing``. Numeric dtypes, kept. ``ValueError`` for no vector.

    >>> aio.vander(aio.asarray([1, 2, 3]), 3)
    Array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    array = as_array("vander", x)
    if array.ndim != 1:
        raise ValueError(f"vander: shape {array.shape}; it takes a vector")
    count = array.size if N is None else operator.index(N)
    if count < 0:
        raise ValueError(f"vander: N={N} must not be negative")
    columns = [astype(zeros(array.shape) + 1, array.dtype)]
    for _ in range(1, count):
        columns.append(columns[-1] * array)
    columns = columns[:count]
    if not columns:
        return zeros((array.size, 0), dtype=array.dtype)
    return stack(columns if increasing else columns[::-1], axis=1)


@fused(arrays=("w",))
def polyfit(
    x: ArrayLike, y: ArrayLike, /, deg: int, rcond: float | None = None, *, w: ArrayLike | None = None
) -> Array:
    """The coefficients of the polynomial of degree ``deg`` nearest to the points ``(x, y)``, in least squares.

    ``y`` is a vector or, with one fit for each column, a matrix; each point counts by the square of its weight ``w``.
    Floating-point dtypes, which promote; integers become real numbers. ``rcond`` as for ``linalg.lstsq``.
    ``ValueError`` for shapes that do not fit.

    >>> x = aio.asarray([0.0, 1.0, 2.0, 3.0])
    >>> aio.round(aio.polyfit(x, x * 2 + 1, 1), 3)
    Array([2., 1.], dtype=float32)
    """
    places, values = divide(as_array("polyfit", x), 1), divide(as_array("polyfit", y), 1)
    if places.ndim != 1 or values.ndim not in (1, 2) or values.shape[0] != places.size or not places.size:
        raise ValueError(
            f"polyfit: x of shape {places.shape}, y of shape {values.shape}; it takes a vector and as many y"
        )
    if deg < 0:
        raise ValueError(f"polyfit: deg={deg} must not be negative")
    dtype = result_type(places, values)
    left, right = vander(astype(places, dtype), N=deg + 1), astype(values, dtype)
    if w is not None:
        weights = astype(as_array("polyfit", w), dtype)
        if weights.shape != places.shape:
            raise ValueError(
                f"polyfit: w of shape {weights.shape}; it takes one weight for each of {places.size} points"
            )
        left = left * weights[:, None]
        right = right * (weights if right.ndim == 1 else weights[:, None])
    # Columns of one length, so that high powers do not drown the others.
    scale = sum(multiply(left, left), axis=0) ** 0.5
    small = float(finfo(dtype).eps) * places.size if rcond is None else rcond
    found = call(decompositions.lstsq, (left / scale, right, small))[0]
    return found / (scale if right.ndim == 1 else scale[:, None])


def roots(p: ArrayLike, /, *, strip_zeros: bool = True) -> Array:
    """The roots of a polynomial, as complex numbers: eigenvalues of its companion matrix.

    Zeros at both ends of ``p`` are left out, for which an Array is read: await it before. With ``strip_zeros=False``
    nothing is read, and the first coefficient must not be 0, or the roots are NaN or infinite. Integers become real
    numbers. ``ValueError`` for no vector.

    >>> aio.roots(aio.asarray([1.0, -3.0, 2.0])).dtype
    dtype('complex64')
    """
    if not strip_zeros:
        return _roots(p, zero=0)
    device = p.device if isinstance(p, Array) else None
    value = np.asarray(p) if isinstance(p, Array) else host_array("roots", p)
    if value.ndim > 1:
        raise ValueError(f"roots: coefficients of shape {value.shape}; they are a vector")
    places = np.flatnonzero(value)
    kept = value.reshape(-1)[places[0] : places[-1] + 1] if places.size else value[:0]
    zero = value.size - 1 - int(places[-1]) if places.size else 0
    return _roots(from_host(np.ascontiguousarray(kept), device), zero=zero)


@fused
def _roots(p: ArrayLike, /, *, zero: int) -> Array:
    array = divide(_coefficients("roots", p), 1)
    size = max(array.size - 1, 0)
    wide = dtypes.complex128 if array.dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
    none = zeros(zero, dtype=wide)
    if size == 0:
        return none
    first = reshape(divide(-array[1:], array[0]), (1, size))
    companion = vstack([first, eye(size - 1, size, dtype=array.dtype)]) if size > 1 else first
    values = astype(call(decompositions.eigvals, (companion,)), wide)
    return concat([values, none]) if zero else values
