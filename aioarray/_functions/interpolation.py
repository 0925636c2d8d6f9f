"""NumPy's everyday interpolation, differences and integrals of sampled functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import Array, ArrayLike, as_array, fused
from .._base import dtypes
from .._dispatch.arguments import Axes, axes_of, axis_of
from .._ops._rules import normalize_axes, normalize_axis
from .arithmetic import divide, multiply, remainder
from .comparison import clip
from .cumulative import cumsum
from .data_types import astype, result_type
from .floating_point import isnan
from .indexing import take
from .manipulation import concat, moveaxis, reshape
from .searching import searchsorted, where
from .sorting import argsort
from .statistical import sum
from .utility import diff

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ediff1d", "gradient", "interp", "trapezoid", "unwrap"]


@fused(arrays=("left", "right", "period"))
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    /,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Array:
    """The piecewise linear function with the values ``fp`` at the increasing positions ``xp``, at ``x``.

    Outside it is ``left`` and ``right``, by default the first and the last value. With ``period``, positions are taken
    modulo it, and sorted. In the arrays' common floating-point dtype. ``ValueError`` unless ``xp`` and ``fp`` are
    vectors of one length, at least 1; ``TypeError`` for complex positions.

    >>> aio.interp(aio.asarray([0.5, 1.5, 9.0]), aio.asarray([0.0, 1.0, 2.0]), aio.asarray([0.0, 10.0, 30.0]))
    Array([ 5., 20., 30.], dtype=float32)
    """
    at, places, values = as_array("interp", x), as_array("interp", xp), as_array("interp", fp)
    if places.ndim != 1 or places.shape != values.shape or places.size == 0:
        raise ValueError(
            f"interp: xp of shape {places.shape} and fp of shape {values.shape}; both are vectors of one length, at "
            "least 1"
        )
    positions = result_type(at, places)
    if positions in dtypes.COMPLEX:
        raise TypeError(f"interp: positions of dtype {positions.name}; they are real")
    results = _floating(result_type(at, places, values))
    positions = dtypes.real_of(results)
    at, places, values = astype(at, positions), astype(places, positions), astype(values, results)
    if period is not None:
        length = astype(as_array("interp", period), positions)
        length = where(length < 0, -length, length)
        at, places = remainder(at, length), remainder(places, length)
        order = argsort(places)
        places, values = take(places, order, axis=0), take(values, order, axis=0)
        places = concat([places[-1:] - length, places, places[:1] + length])
        values = concat([values[-1:], values, values[:1]])
        left = right = None
    n = places.size
    before = values[0] if left is None else astype(as_array("interp", left), results)
    after = values[-1] if right is None else astype(as_array("interp", right), results)
    low = clip(searchsorted(places, at, side="right") - 1, 0, n - 1)
    high = clip(low + 1, 0, n - 1)
    x0, x1 = (
        take(places, low.reshape(-1), axis=0).reshape(low.shape),
        take(places, high.reshape(-1), axis=0).reshape(low.shape),
    )
    y0, y1 = (
        take(values, low.reshape(-1), axis=0).reshape(low.shape),
        take(values, high.reshape(-1), axis=0).reshape(low.shape),
    )
    slope = divide(y1 - y0, x1 - x0)
    result = y0 + slope * (at - x0)
    # An infinite slope times 0 is no number; the other end may do, and equal ends need no slope.
    result = where(isnan(result), y1 + slope * (at - x1), result)
    result = where(isnan(result), where(y0 == y1, y0, result), result)
    result = where(at == x0, y0, result)
    result = where(at < places[0], before, where(at > places[-1], after, result))
    result = where(at == places[-1], values[-1], result)
    return where(isnan(at), at, result)


def _floating(dtype: dtypes.DType) -> dtypes.DType:
    return dtypes.real_for(dtype)


@fused(arrays=("to_end", "to_begin"))
def ediff1d(x: ArrayLike, /, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Differences of neighbours in the flattened ``x``, in its dtype, between ``to_begin`` and ``to_end``.

    >>> aio.ediff1d(aio.asarray([1, 4, 9]), to_begin=0)
    Array([0, 3, 5], dtype=int32)
    """
    array = reshape(x, (-1,))
    pieces = [diff(array)]
    if to_begin is not None:
        pieces.insert(0, astype(reshape(to_begin, (-1,)), array.dtype))
    if to_end is not None:
        pieces.append(astype(reshape(to_end, (-1,)), array.dtype))
    return concat(pieces)


@fused(arrays=("x", "dx"))
def trapezoid(y: ArrayLike, /, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The integral of the samples ``y`` along ``axis`` by the trapezoidal rule, at the positions ``x`` or ``dx`` apart.

    Of integers as real numbers. ``ValueError`` where the shapes of ``x`` and ``y`` do not fit.

    >>> aio.trapezoid(aio.asarray([1.0, 2.0, 3.0]), dx=2)
    Array(8., dtype=float32)
    """
    samples = as_array("trapezoid", y)
    k = normalize_axis("trapezoid", axis_of("trapezoid", axis), samples.ndim)
    samples = astype(samples, _floating(samples.dtype))
    if x is None:
        widths: Array = as_array("trapezoid", dx)
    else:
        places = as_array("trapezoid", x)
        if places.ndim == 1:
            widths = reshape(diff(places), (places.size - 1, *(1,) * (samples.ndim - 1 - k)))
        else:
            widths = diff(places, axis=axis)
    last = moveaxis(samples, k, 0)
    pairs = moveaxis(last[1:] + last[:-1], 0, k)
    return sum(divide(multiply(widths, pairs), 2), axis=k)


def gradient(x: ArrayLike, /, *varargs: ArrayLike, axis: Axes = None, edge_order: int = 1) -> Array | tuple[Array, ...]:
    """The derivatives of the samples ``x`` along ``axis`` (one, several, None for all), by differences of neighbours.

    ``varargs`` are the distances of the samples: one number for all axes, or for each axis a number or the positions;
    1 if there are none. At the ends, differences of first order, or of second with ``edge_order=2``. One Array for one
    axis, else a tuple. Of integers as real numbers. ``ValueError`` for fewer than ``edge_order + 1`` samples.

    >>> aio.gradient(aio.asarray([1.0, 2.0, 4.0, 7.0]))
    Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    array = as_array("gradient", x)
    axes = normalize_axes("gradient", axes_of("gradient", axis), array.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes; give none, one, or one for each")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order={edge_order} is not known; use 1 or 2")
    spacing = list(varargs) * (1 if len(varargs) == len(axes) else len(axes)) or [1.0] * len(axes)
    results = _gradient(array, spacing, axes=axes, edge_order=edge_order) if axes else ()
    return results[0] if len(results) == 1 else results


@fused(sequences=("spacing",))
def _gradient(
    x: ArrayLike, spacing: Sequence[ArrayLike], /, *, axes: tuple[int, ...], edge_order: int
) -> tuple[Array, ...]:
    array = as_array("gradient", x)
    array = astype(array, _floating(array.dtype))
    results = []
    for k, distance in zip(axes, spacing, strict=True):
        moved, h = moveaxis(array, k, 0), as_array("gradient", distance)
        n = moved.shape[0]
        if n < edge_order + 1:
            raise ValueError(
                f"gradient: axis {k} of shape {array.shape} has {n} samples; edge_order={edge_order} takes at least "
                f"{edge_order + 1}"
            )
        if h.ndim > 1 or (h.ndim == 1 and h.size != n):
            raise ValueError(f"gradient: positions of shape {h.shape} for {n} samples; give a number, or one for each")
        dtype = result_type(array, h) if not h._spec.weak else array.dtype
        steps = astype(h, _floating(dtype))
        results.append(moveaxis(_along_first(moved, steps, edge_order), 0, k))
    return tuple(results)


def _along_first(y: Array, h: Array, edge_order: int) -> Array:
    def wide(x: Array) -> Array:
        return x.reshape((*x.shape, *(1,) * (y.ndim - 1))) if x.ndim else x

    if h.ndim == 0:
        inner = divide(y[2:] - y[:-2], 2 * h)
        if edge_order == 1:
            return concat([divide(y[1:2] - y[:1], h), inner, divide(y[-1:] - y[-2:-1], h)])
        first = (-1.5 / h) * y[:1] + (2.0 / h) * y[1:2] + (-0.5 / h) * y[2:3]
        final = (0.5 / h) * y[-3:-2] + (-2.0 / h) * y[-2:-1] + (1.5 / h) * y[-1:]
        return concat([first, inner, final])
    distances = diff(h)
    left, right = wide(distances[:-1]), wide(distances[1:])
    a, c = -right / (left * (left + right)), left / (right * (left + right))
    inner = a * y[:-2] + (right - left) / (left * right) * y[1:-1] + c * y[2:]
    if edge_order == 1:
        first = divide(y[1:2] - y[:1], wide(distances[:1]))
        return concat([first, inner, divide(y[-1:] - y[-2:-1], wide(distances[-1:]))])
    d1, d2 = wide(distances[:1]), wide(distances[1:2])
    first = (
        -(2.0 * d1 + d2) / (d1 * (d1 + d2)) * y[:1] + (d1 + d2) / (d1 * d2) * y[1:2] - d1 / (d2 * (d1 + d2)) * y[2:3]
    )
    d1, d2 = wide(distances[-2:-1]), wide(distances[-1:])
    final = (
        d2 / (d1 * (d1 + d2)) * y[-3:-2]
        - (d2 + d1) / (d1 * d2) * y[-2:-1]
        + (2.0 * d2 + d1) / (d2 * (d1 + d2)) * y[-1:]
    )
    return concat([first, inner, final])


@fused
def unwrap(
    x: ArrayLike, /, discont: float | None = None, axis: int = -1, *, period: float = 6.283185307179586
) -> Array:
    """``x`` with multiples of ``period`` added along ``axis`` where it jumps by more than half of it.

    ``discont`` is the least jump that counts, if it is more than half a period. Real dtypes, kept for a ``period`` of
    their kind; ``TypeError`` for complex ones.

    >>> aio.unwrap(aio.asarray([0, 3, 1, 4]), period=4)
    Array([ 0, -1, -3, -4], dtype=int32)
    """
    array = as_array("unwrap", x)
    k = normalize_axis("unwrap", axis_of("unwrap", axis), array.ndim)
    whole = type(period) is int and array.dtype in dtypes.INTEGRAL
    if not whole:
        array = divide(array, 1)
    if array.dtype in dtypes.COMPLEX:
        raise TypeError(f"unwrap: dtype {array.dtype.name} is not allowed; it takes real numeric dtypes")
    if array.shape[k] < 2:
        return array
    high = period // 2 if whole else period / 2
    low = -high
    edge = (whole and period % 2 == 0) or not whole
    steps = diff(array, axis=k)
    rest = remainder(steps - low, period) + low
    if edge:
        rest = where(rest == low, where(steps > 0, high, rest), rest)
    correction = where(abs(steps) < (high if discont is None else discont), 0, rest - steps)
    first = (slice(None),) * k
    moved = array[(*first, slice(1, None))] + astype(cumsum(correction, axis=k), array.dtype)
    return concat([array[(*first, slice(0, 1))], moved], axis=k)
