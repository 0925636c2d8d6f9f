"""NumPy's everyday statistics that leave out NaN; where nothing is left, sums are 0 and all others NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._array import Array, ArrayLike, as_array, fused
from .._base import dtypes
from .._dispatch.arguments import Axes, DTypeLike, axes_of
from .._ops import statistical
from .arithmetic import divide, multiply, sqrt, subtract
from .complex import conj, real
from .cumulative import cumprod, cumsum
from .data_types import astype
from .floating_point import isnan
from .logical import logical_not
from .searching import argmax, argmin, count_nonzero, where
from .statistical import max, mean, min, prod, sum, var
from .utility import all

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import DType

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


@fused
def nansum(x: ArrayLike, /, axis: Axes = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Sums along ``axis`` (one, several, None for all) of what is not NaN. Dtypes as for ``sum``.

    >>> aio.nansum(aio.asarray([1.0, aio.nan, 2.0]))
    Array(3., dtype=float32)
    """
    return sum(_replaced("nansum", x, 0), axis=axes_of("nansum", axis), dtype=dtype, keepdims=keepdims)


@fused
def nanprod(x: ArrayLike, /, axis: Axes = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Products along ``axis`` (one, several, None for all) of what is not NaN. Dtypes as for ``sum``.

    >>> aio.nanprod(aio.asarray([3.0, aio.nan, 2.0]))
    Array(6., dtype=float32)
    """
    return prod(_replaced("nanprod", x, 1), axis=axes_of("nanprod", axis), dtype=dtype, keepdims=keepdims)


@fused
def nanmax(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The greatest along ``axis`` (one, several, None for all) that is not NaN. ``ValueError`` for no elements.

    >>> aio.nanmax(aio.asarray([1.0, aio.nan, 2.0]))
    Array(2., dtype=float32)
    """
    return _extreme("nanmax", x, axis, keepdims, max, statistical.lowest)


@fused
def nanmin(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The least along ``axis`` (one, several, None for all) that is not NaN. ``ValueError`` for no elements.

    >>> aio.nanmin(aio.asarray([1.0, aio.nan, 2.0]))
    Array(1., dtype=float32)
    """
    return _extreme("nanmin", x, axis, keepdims, min, statistical.highest)


@fused
def nanmean(x: ArrayLike, /, axis: Axes = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Means along ``axis`` (one, several, None for all) of what is not NaN. Of integers, as real numbers.

    >>> aio.nanmean(aio.asarray([1.0, aio.nan, 2.0]))
    Array(1.5, dtype=float32)
    """
    array = as_array("nanmean", x)
    if array.dtype not in dtypes.FLOATING:
        return mean(array, axis=axes_of("nanmean", axis), dtype=dtype, keepdims=keepdims)
    if dtype is not None:
        array = astype(array, dtype)
    target, array = array.dtype, _widened(array)
    total, count = _sum_and_count("nanmean", array, axes_of("nanmean", axis), keepdims)
    return astype(divide(total, count), target)


@fused
def nanvar(
    x: ArrayLike, /, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
) -> Array:
    """Variances along ``axis`` (one, several, None for all) of what is not NaN.

    Their number less ``ddof`` (or ``correction``, its name in the standard) divides the squared distances from the
    mean; NaN where that is not positive.

    >>> aio.nanvar(aio.asarray([1.0, aio.nan, 3.0]))
    Array(1., dtype=float32)
    """
    return _nanvar("nanvar", x, axes_of("nanvar", axis), ddof if correction is None else correction, keepdims)


@fused
def nanstd(
    x: ArrayLike, /, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
) -> Array:
    """Standard deviations along ``axis``: the square roots of ``nanvar``.

    >>> aio.nanstd(aio.asarray([1.0, aio.nan, 3.0]))
    Array(1., dtype=float32)
    """
    return sqrt(_nanvar("nanstd", x, axes_of("nanstd", axis), ddof if correction is None else correction, keepdims))


def _extreme(
    function: str,
    x: ArrayLike,
    axis: Axes,
    keepdims: bool,
    extreme: Callable[..., Array],
    neutral: Callable[[DType], Any],
) -> Array:
    """``extreme`` (max or min) of what is not NaN; ``neutral`` gives the value of a dtype that does not change it."""
    array, axes = as_array(function, x), axes_of(function, axis)
    if array.dtype not in dtypes.REAL_FLOATING:
        return extreme(array, axis=axes, keepdims=keepdims)
    found = extreme(_replaced(function, array, neutral(array.dtype)), axis=axes, keepdims=keepdims)
    return where(all(isnan(array), axis=axes, keepdims=keepdims), math.nan, found)


def _nanvar(function: str, x: ArrayLike, axis: Axes, correction: float, keepdims: bool) -> Array:
    array = as_array(function, x)
    if array.dtype not in dtypes.FLOATING:
        return var(array, axis=axis, correction=correction, keepdims=keepdims)
    target, array = dtypes.real_of(array.dtype), _widened(array)
    total, count = _sum_and_count(function, array, axis, True)
    deviation = where(isnan(array), 0, subtract(array, divide(total, count)))
    squares = real(multiply(deviation, conj(deviation))) if array.dtype in dtypes.COMPLEX else deviation * deviation
    count = astype(count_nonzero(logical_not(isnan(array)), axis=axis, keepdims=keepdims), count.dtype)
    freedom = subtract(count, correction)
    total = sum(squares, axis=axis, keepdims=keepdims)
    return astype(divide(total, where(freedom > 0, freedom, math.nan)), target)


def _replaced(function: str, x: ArrayLike, value: ArrayLike) -> Array:
    array = as_array(function, x)
    if array.dtype not in dtypes.FLOATING:
        return array
    return where(isnan(array), value, array)


def _widened(x: Array) -> Array:
    narrow = x.dtype in dtypes.REAL_FLOATING and x.dtype.itemsize < 4
    return astype(x, dtypes.float32) if narrow else x


def _sum_and_count(function: str, x: Array, axis: Axes, keepdims: bool) -> tuple[Array, Array]:
    total = sum(_replaced(function, x, 0), axis=axis, keepdims=keepdims)
    count = count_nonzero(logical_not(isnan(x)), axis=axis, keepdims=keepdims)
    count = astype(count, dtypes.real_of(x.dtype))
    return total, count


@fused
def nancumsum(x: ArrayLike, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Running sums along ``axis`` (None: of the flattened array), to which NaN add nothing. Dtypes as for ``sum``.

    >>> aio.nancumsum(aio.asarray([1.0, aio.nan, 2.0]))
    Array([1., 1., 3.], dtype=float32)
    """
    return cumsum(_replaced("nancumsum", x, 0), axis=axis, dtype=dtype)


@fused
def nancumprod(x: ArrayLike, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Running products along ``axis`` (None: of the flattened array), which NaN do not change. Dtypes as for ``sum``.

    >>> aio.nancumprod(aio.asarray([2.0, aio.nan, 3.0]))
    Array([2., 2., 6.], dtype=float32)
    """
    return cumprod(_replaced("nancumprod", x, 1), axis=axis, dtype=dtype)


@fused
def nanargmax(x: ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Where the greatest that is not NaN is along ``axis`` (None: in the flattened array); -1 where all are NaN.

    ``ValueError`` for no elements, ``TypeError`` for complex ones.

    >>> aio.nanargmax(aio.asarray([1.0, aio.nan, 2.0]))
    Array(2, dtype=int32)
    """
    return _position("nanargmax", x, axis, keepdims, argmax, statistical.lowest)


@fused
def nanargmin(x: ArrayLike, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Where the least that is not NaN is along ``axis`` (None: in the flattened array); -1 where all are NaN.

    ``ValueError`` for no elements, ``TypeError`` for complex ones.

    >>> aio.nanargmin(aio.asarray([1.0, aio.nan, 2.0]))
    Array(0, dtype=int32)
    """
    return _position("nanargmin", x, axis, keepdims, argmin, statistical.highest)


def _position(
    function: str,
    x: ArrayLike,
    axis: int | None,
    keepdims: bool,
    position: Callable[..., Array],
    neutral: Callable[[DType], Any],
) -> Array:
    """``position`` (argmax or argmin) among what is not NaN."""
    array = as_array(function, x)
    if array.dtype not in dtypes.REAL_FLOATING:
        return position(array, axis=axis, keepdims=keepdims)
    missing = isnan(array)
    # An infinity that is there comes before one that stands for NaN.
    value = _replaced(function, array, neutral(array.dtype))
    found = position(value, axis=axis, keepdims=keepdims)
    real_one = argmax(where(missing, False, value == neutral(array.dtype)), axis=axis, keepdims=keepdims)
    best = (max if position is argmax else min)(value, axis=axis, keepdims=keepdims)
    found = where(best == neutral(array.dtype), real_one, found)
    return where(all(missing, axis=axis, keepdims=keepdims), -1, found)
