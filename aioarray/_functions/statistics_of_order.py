"""NumPy's everyday statistics of order: medians, quantiles and percentiles.

The values along an axis are sorted and read at a position that the quantile and a method give, between two of them by a
weighted mean. Positions are computed in float64, whatever the dtype of the values.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from .._array import Array, ArrayLike, as_array, fused
from .._base import dtypes
from .._base.host_values import host_array
from .._dispatch.arguments import Axes, axes_of
from .._ops._rules import normalize_axes
from .arithmetic import divide, subtract
from .comparison import clip
from .creation import asarray
from .data_types import astype
from .floating_point import isnan
from .indexing import take_along_axis
from .logical import logical_and, logical_not
from .manipulation import broadcast_to, moveaxis, reshape
from .rounding import floor
from .searching import count_nonzero, where
from .sorting import sort
from .statistical import max, min
from .utility import any

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "ptp", "quantile"]

Method: TypeAlias = Literal[
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]

# Of the continuous methods, (α, β) of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996): the position
# of quantile q among n values, the first of which is at 0, is n q + α + q (1 - α - β) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _position(method: str, n: Array, q: Array) -> Array:
    """Where quantile ``q`` of ``n`` values is, as a real number."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        if alpha == beta == 1:
            return (n - 1) * q
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation"):
        position = n * q - (1.5 if method == "closest_observation" else 1.0)
        whole = floor(position)
        exact = position == whole
        if method == "inverted_cdf":
            return where(exact, whole, whole + 1)
        if method == "averaged_inverted_cdf":
            return where(exact, whole + 0.5, whole + 1)
        even = whole == 2 * floor(whole / 2)
        return where(logical_and(exact, even), whole, whole + 1)
    position = (n - 1) * q
    whole = floor(position)
    fraction = position - whole
    if method == "lower":
        return whole
    if method == "higher":
        return where(fraction > 0, whole + 1, whole)
    if method == "midpoint":
        return where(fraction > 0, whole + 0.5, whole)
    odd = whole != 2 * floor(whole / 2)
    up = where(fraction == 0.5, odd, fraction > 0.5)  # "nearest" rounds halves to the even position
    return where(up, whole + 1, whole)


def _checked(function: str, method: str, q: ArrayLike, greatest: int) -> ArrayLike:
    if method not in _METHODS:
        raise ValueError(f"{function}: method={method!r} is not known; use {', '.join(map(repr, _METHODS))}")
    if isinstance(q, Array):
        if q.dtype in dtypes.COMPLEX:
            raise TypeError(f"{function}: q has dtype {q.dtype.name}; it takes real numbers")
        return q
    # A host value keeps all its digits, whatever the default dtype, and its range can be checked.
    value = np.asarray(q) if isinstance(q, (int, float)) else host_array(function, q, dtypes.float64)
    value = value.astype(np.float64)
    if not ((value >= 0) & (value <= greatest)).all():
        raise ValueError(f"{function}: q={q} is out of range; use 0..{greatest}")
    return value


_METHODS = (
    *_CONTINUOUS,
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "lower",
    "higher",
    "midpoint",
    "nearest",
)


@fused
def _quantile(
    x: ArrayLike,
    q: ArrayLike,
    /,
    *,
    function: str,
    scale: int,
    axis: Axes,
    method: str,
    keepdims: bool,
    without_nan: bool,
) -> Array:
    array, places = as_array(function, x), astype(as_array(function, q), dtypes.float64)
    values, dtype, kept = _rows(function, array, axis)
    places = places / scale if scale != 1 else places
    flat = reshape(places, (places.size,))
    ordered, count, spoiled = _ordered(values, without_nan)
    n = astype(count, dtypes.float64) if without_nan else asarray(float(values.shape[-1]), dtype=dtypes.float64)
    position = _position(method, n[..., None] if without_nan else n, flat)
    position = broadcast_to(clip(position, 0, where(n > 0, n - 1, 0)[..., None]), (*values.shape[:-1], flat.size))
    low = floor(position)
    result = _between(ordered, astype(low, dtypes.int64), position - low, n)
    result = where(spoiled[..., None], math.nan, result)
    result = where(logical_and(flat >= 0, flat <= 1), result, math.nan)
    # The quantiles' axes go first.
    result = reshape(moveaxis(astype(result, dtype), -1, 0), (*places.shape, *values.shape[:-1]))
    return reshape(result, (*places.shape, *kept)) if keepdims else result


def _rows(function: str, x: Array, axis: Axes) -> tuple[Array, dtypes.DType, tuple[int, ...]]:
    """``x`` in floating point with ``axis`` as the last one; the result's dtype; the shape with lengths of 1 kept."""
    if x.dtype in dtypes.COMPLEX:
        raise TypeError(f"{function}: dtype {x.dtype.name} is not allowed; it takes real numeric dtypes")
    if x.dtype in dtypes.INTEGRAL_OR_BOOLEAN:
        # Integers too wide for float32 are sorted and read in float64, as NumPy does.
        dtype = dtypes.real_for(x.dtype)
        x = astype(x, dtypes.float64 if x.dtype.itemsize > 2 else dtype)
    else:
        dtype = x.dtype
        x = astype(x, dtypes.float32) if dtype.itemsize < 4 else x
    axes = normalize_axes(function, axis, x.ndim)
    others = tuple(k for k in range(x.ndim) if k not in axes)
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    moved = x.transpose((*others, *axes)) if x.ndim else x
    length = math.prod(x.shape[k] for k in axes)
    return reshape(moved, (*(x.shape[k] for k in others), length)), dtype, kept


def _ordered(values: Array, without_nan: bool) -> tuple[Array, Array, Array]:
    """The values sorted along the last axis, how many are no NaN, and where there is no result."""
    ordered = (
        sort(values, axis=-1, stable=False)
        if values.shape[-1]
        else broadcast_to(asarray(math.nan, dtype=values.dtype), (*values.shape[:-1], 1))
    )
    missing = isnan(ordered)
    count = count_nonzero(logical_not(missing), axis=-1)
    return ordered, count, count == 0 if without_nan else any(missing, axis=-1)


def _between(ordered: Array, low: Array, fraction: Array, n: Array) -> Array:
    last = clip(astype(n, dtypes.int64) - 1, 0, ordered.shape[-1] - 1)[..., None]
    high = where(low < last, low + 1, last)
    a, b = take_along_axis(ordered, low, axis=-1), take_along_axis(ordered, high, axis=-1)
    t = astype(fraction, ordered.dtype)
    # From the nearer end, so that the end itself is met exactly; and infinities are not subtracted from themselves.
    step = b - a
    mixed = where(fraction >= 0.5, b - step * (1 - t), a + step * t)
    return where(t == 0, a, where(a == b, a, mixed))


def quantile(
    x: ArrayLike, q: ArrayLike, /, axis: Axes = None, *, method: Method = "linear", keepdims: bool = False
) -> Array:
    """Values that the fractions ``q`` (0..1) of the elements along ``axis`` (one, several, None for all) do not exceed.

    ``method`` says how a position between two elements is read, as in NumPy. The axes of ``q`` go first. NaN where an
    element is, or there is none. Of integers as real numbers. ``ValueError`` for a ``q`` on the host that is
    out of range; NaN for one on the device.

    >>> aio.quantile(aio.asarray([1.0, 2.0, 3.0, 4.0]), [0.25, 0.5])
    Array([1.75, 2.5 ], dtype=float32)
    """
    return _run("quantile", x, q, 1, axis, method, keepdims, False)


def percentile(
    x: ArrayLike, q: ArrayLike, /, axis: Axes = None, *, method: Method = "linear", keepdims: bool = False
) -> Array:
    """``quantile`` with ``q`` in percent, 0..100.

    >>> aio.percentile(aio.asarray([1.0, 2.0, 3.0, 4.0]), 50)
    Array(2.5, dtype=float32)
    """
    return _run("percentile", x, q, 100, axis, method, keepdims, False)


def nanquantile(
    x: ArrayLike, q: ArrayLike, /, axis: Axes = None, *, method: Method = "linear", keepdims: bool = False
) -> Array:
    """``quantile`` of what is not NaN; NaN where nothing is left.

    >>> aio.nanquantile(aio.asarray([1.0, aio.nan, 3.0]), 0.5)
    Array(2., dtype=float32)
    """
    return _run("nanquantile", x, q, 1, axis, method, keepdims, True)


def nanpercentile(
    x: ArrayLike, q: ArrayLike, /, axis: Axes = None, *, method: Method = "linear", keepdims: bool = False
) -> Array:
    """``percentile`` of what is not NaN; NaN where nothing is left.

    >>> aio.nanpercentile(aio.asarray([1.0, aio.nan, 3.0]), 100)
    Array(3., dtype=float32)
    """
    return _run("nanpercentile", x, q, 100, axis, method, keepdims, True)


def _run(
    function: str, x: ArrayLike, q: ArrayLike, scale: int, axis: Axes, method: str, keepdims: bool, without_nan: bool
) -> Array:
    return _quantile(
        x,
        _checked(function, method, q, scale),
        function=function,
        scale=scale,
        axis=axes_of(function, axis),
        method=method,
        keepdims=bool(keepdims),
        without_nan=without_nan,
    )


@fused
def median(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Medians along ``axis`` (one, several, None for all): the middle in order, or the mean of the middle two.

    NaN where an element is, or there is none. Of integers as real numbers. ``TypeError`` for complex numbers.

    >>> aio.median(aio.asarray([3.0, 1.0, 2.0]))
    Array(2., dtype=float32)
    """
    return _median("median", x, axes_of("median", axis), keepdims, False)


@fused
def nanmedian(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Medians along ``axis`` (one, several, None for all) of what is not NaN; NaN where nothing is left.

    >>> aio.nanmedian(aio.asarray([3.0, aio.nan, 2.0]))
    Array(2.5, dtype=float32)
    """
    return _median("nanmedian", x, axes_of("nanmedian", axis), keepdims, True)


def _median(function: str, x: ArrayLike, axis: Axes, keepdims: bool, without_nan: bool) -> Array:
    values, dtype, kept = _rows(function, as_array(function, x), axis)
    ordered, count, spoiled = _ordered(values, without_nan)
    if without_nan:
        low, high = ((clip(count - 1, 0, None) // 2)[..., None], (clip(count, 0, None) // 2)[..., None])
        low, high = clip(low, 0, ordered.shape[-1] - 1), clip(high, 0, ordered.shape[-1] - 1)
        a, b = take_along_axis(ordered, low, axis=-1)[..., 0], take_along_axis(ordered, high, axis=-1)[..., 0]
        middle = where(count % 2 == 1, b, (a + b) / 2)
    else:
        n = ordered.shape[-1]
        middle = ordered[..., n // 2] if n % 2 else divide(ordered[..., n // 2 - 1] + ordered[..., n // 2], 2)
    result = astype(where(spoiled, math.nan, middle), dtype)
    return reshape(result, kept) if keepdims else result


@fused
def ptp(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The greatest less the least along ``axis`` (one, several, None for all). ``ValueError`` for no elements.

    >>> aio.ptp(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([4, 4], dtype=int32)
    """
    place = axes_of("ptp", axis)
    return subtract(max(x, axis=place, keepdims=keepdims), min(x, axis=place, keepdims=keepdims))
