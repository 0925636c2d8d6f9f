"""NumPy's everyday histograms: bins, and which of them values belong to."""

from __future__ import annotations

import builtins
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import integer_of
from .._ops import histograms
from .arithmetic import divide
from .comparison import less
from .creation import arange, asarray, zeros
from .data_types import astype, result_type
from .logical import logical_and, logical_or
from .manipulation import flip, reshape, stack
from .searching import searchsorted, where
from .statistical import max, min, sum
from .utility import diff

if TYPE_CHECKING:
    from .._array import Array


if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

Range = tuple[float, float] | None


def histogram(
    x: ArrayLike,
    /,
    bins: int | str | ArrayLike = 10,
    range: Range = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """How many elements of ``x``, or what sum of their ``weights``, each of ``bins`` holds; and the edges of the bins.

    ``bins`` are so many of equal width from the least to the greatest element, or in ``range``; or their edges, which
    increase; or the name of one of NumPy's rules for their number, for which ``x`` is read: await it before. A bin
    holds its lower edge, the last one also its upper. With ``density``, divided by the sum and by the bins' widths. NaN
    are in no bin; where the least or the greatest is NaN or infinite, so are the edges, and there is no ``ValueError``
    as of NumPy.

    >>> aio.histogram(aio.asarray([1.0, 2.0, 2.5, 3.0]), bins=2)
    (Array([1, 3], dtype=int32), Array([1., 2., 3.], dtype=float32))
    """
    count, edges = _bins("histogram", x, bins, range, weights)
    return _histogram(x, weights, edges, count=count, bounds=_bounds("histogram", range), density=bool(density))


def histogram_bin_edges(
    x: ArrayLike,
    /,
    bins: int | str | ArrayLike = 10,
    range: Range = None,
    weights: ArrayLike | None = None,
) -> Array:
    """The edges of the bins that ``histogram`` makes of these arguments.

    >>> aio.histogram_bin_edges(aio.asarray([1.0, 3.0]), bins=2)
    Array([1., 2., 3.], dtype=float32)
    """
    count, edges = _bins("histogram_bin_edges", x, bins, range, weights)
    return (
        as_array("histogram", edges)
        if edges is not None
        else _edges(x, count=count, bounds=_bounds("histogram", range))
    )


def _bins(
    function: str, x: ArrayLike, bins: int | str | ArrayLike, range: Range, weights: ArrayLike | None
) -> tuple[int, ArrayLike | None]:
    """How many bins of equal width, or the edges of the bins."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(f"{function}: bins={bins!r} with weights; NumPy's rules take none, give the number of bins")
        return len(np.histogram_bin_edges(np.asarray(x), bins, range)) - 1, None
    if np.ndim(bins) == 0:
        count = operator.index(bins)  # type: ignore[arg-type]
        if count < 1:
            raise ValueError(f"{function}: bins={count}; there must be 1 or more")
        return count, None
    edges = as_array(function, bins)
    if edges.ndim != 1 or edges.size < 1:
        raise ValueError(f"{function}: bins of shape {edges.shape}; edges are a vector")
    return edges.size - 1, edges


def _bounds(function: str, range: Range) -> Range:
    if range is None:
        return None
    first, last = float(range[0]), float(range[1])
    if not first <= last or not np.isfinite([first, last]).all():
        raise ValueError(f"{function}: range={range}; the first number must not exceed the last, both finite")
    return first, last


@fused
def _edges(x: ArrayLike, /, *, count: int, bounds: Range) -> Array:
    array = as_array("histogram", x)
    dtype = dtypes.real_for(array.dtype)
    if dtype in dtypes.COMPLEX:
        raise TypeError(f"histogram: dtype {dtype.name} is not allowed; it takes real numeric dtypes")
    # Computed in float64 and rounded once, so that the edges are where the numbers say.
    if bounds is not None:
        first, last = (asarray(bound, dtype=dtypes.float64) for bound in bounds)
    elif array.size == 0:
        first, last = asarray(0.0, dtype=dtypes.float64), asarray(1.0, dtype=dtypes.float64)
    else:
        first, last = astype(min(array), dtypes.float64), astype(max(array), dtypes.float64)
    same = first == last
    first, last = where(same, first - 0.5, first), where(same, last + 0.5, last)
    steps = arange(count + 1, dtype=dtypes.float64)
    inner = first + steps * divide(last - first, float(count))
    return astype(where(steps == count, last, inner), dtype)


@fused
def _histogram(
    x: ArrayLike, weights: ArrayLike | None, edges: ArrayLike | None, /, *, count: int, bounds: Range, density: bool
) -> tuple[Array, Array]:
    array = reshape(as_array("histogram", x), (-1,))
    limits = _edges(array, count=count, bounds=bounds) if edges is None else as_array("histogram", edges)
    values = None
    if weights is not None:
        values = reshape(as_array("histogram", weights), (-1,))
        if values.size != array.size:
            raise ValueError(f"histogram: {values.size} weights for {array.size} elements; give one for each")
    if array.size == 0 or count == 0:
        counts = zeros(count, dtype=dtypes.default_for_rank(1) if values is None else values.dtype)
    else:
        # Values are compared with the edges that are returned, in the dtype of both.
        place = searchsorted(limits, array, side="right") - 1
        dtype = result_type(limits, array)
        last = astype(limits[-1], dtype)
        wide = astype(array, dtype)
        place = where(wide == last, count - 1, place)
        place = where(logical_and(wide <= last, place >= 0), place, count)
        counts = bincount(place, weights=values, length=count)
    if not density:
        return counts, limits
    real = dtypes.real_for(limits.dtype)
    shares = astype(counts, real) if values is None else counts
    return divide(divide(shares, astype(diff(limits), real)), sum(shares)), limits


@fused
def digitize(x: ArrayLike, bins: ArrayLike, /, right: bool = False) -> Array:
    """Which of ``bins`` each element belongs to: how many edges are not above it (``right``: are below it).

    ``bins`` increase, or decrease, which turns the count round; edges that do neither, which NumPy refuses, give no
    meaningful result. ``TypeError`` for complex numbers, ``ValueError`` for edges that are no vector.

    >>> aio.digitize(aio.asarray([0.2, 6.4, 3.0]), aio.asarray([0.0, 1.0, 2.5, 4.0]))
    Array([1, 4, 3], dtype=int32)
    """
    edges = as_array("digitize", bins)
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins of shape {edges.shape}; edges are a vector")
    if edges.size < 2:
        return searchsorted(edges, x, side="left" if right else "right")
    falling = less(edges[-1], edges[0])
    places = searchsorted(where(falling, flip(edges), edges), x, side="left" if right else "right")
    return where(falling, edges.size - places, places)


def bincount(
    x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0, *, length: int | None = None
) -> Array:
    """How often each integer from 0 on occurs in the vector ``x``, or the sum of its ``weights``.

    The result is as long as the greatest one, and ``minlength``, ask for, so an Array is read: await it before. With
    ``length`` nothing is read, and it works inside jit; then others are not counted.

    >>> aio.bincount(aio.asarray([0, 1, 1, 3]))
    Array([1, 2, 0, 1], dtype=int32)
    >>> aio.bincount(aio.asarray([0, 1, 1, 3]), length=2)
    Array([1, 2], dtype=int32)
    """
    if length is None:
        value = np.asarray(x)
        if value.size and value.min() < 0:
            raise ValueError(f"bincount: x has a negative element, {value.min()}; it takes 0 and up, or give length=")
        length = builtins.max(int(value.max()) + 1 if value.size else 0, integer_of("bincount", "minlength", minlength))
    return call(histograms.bincount, (x, weights), integer_of("bincount", "length", length))


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    /,
    bins: int | Sequence[int] | Sequence[ArrayLike] = 10,
    range: Sequence[Range] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """How many points ``(x, y)`` each cell of a grid holds, as ``histogramdd``; and the edges along both axes.

    Vectors of real dtypes, of one length; ``ValueError`` for others. ``bins`` are a number, two, or the edges of each.

    >>> aio.histogram2d(aio.asarray([0.0, 1.0, 1.0]), aio.asarray([0.0, 0.0, 1.0]), bins=2)[0]
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    counts, (first, second) = histogramdd(_points(x, y), bins, range, density, weights)
    return counts, first, second


@fused
def _points(x: ArrayLike, y: ArrayLike, /) -> Array:
    return stack([as_array("histogram2d", x), as_array("histogram2d", y)], axis=-1)


def histogramdd(
    sample: ArrayLike,
    /,
    bins: int | Sequence[int] | Sequence[ArrayLike] = 10,
    range: Sequence[Range] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, tuple[Array, ...]]:
    """How many points, the rows of ``sample``, each cell of a grid holds, or what sum of weights; and the edges.

    ``bins`` are a number for all axes, one for each, or the edges along each; ``range`` a pair, or None, for each.
    Edges and what is out of them are as for ``histogram``. Counts are in the default real dtype; with ``density``,
    divided by their sum and by the cells' volumes. ``ValueError`` for shapes that do not fit.

    >>> aio.histogramdd(aio.asarray([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), bins=2)[0]
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    points = as_array("histogramdd", sample)
    if points.ndim != 2:
        raise ValueError(f"histogramdd: sample of shape {points.shape}; its rows are points")
    axes = points.shape[1]
    several: list[Any] = list(bins) if isinstance(bins, (list, tuple)) else [bins] * axes
    ranges = [None] * axes if range is None else list(range)
    if len(several) != axes or len(ranges) != axes:
        raise ValueError(f"histogramdd: {len(several)} bins and {len(ranges)} ranges; give one for each of {axes} axes")
    found = [_bins("histogramdd", points, one, None, None) for one in several]
    counts, *edges = _grid(
        points,
        weights,
        [edge for _, edge in found if edge is not None],
        given=tuple(None if edge is None else count for count, edge in found),
        counts=tuple(count for count, _ in found),
        bounds=tuple(_bounds("histogramdd", pair) for pair in ranges),
        density=bool(density),
    )
    return counts, tuple(edges)


@fused(sequences=("edges",))
def _grid(
    points: ArrayLike,
    weights: ArrayLike | None,
    edges: Sequence[ArrayLike],
    /,
    *,
    given: tuple[int | None, ...],
    counts: tuple[int, ...],
    bounds: tuple[Range, ...],
    density: bool,
) -> tuple[Array, ...]:
    table, rest = as_array("histogramdd", points), iter(edges)
    limits: list[Array] = []
    cell: Array | None = None
    outside: Array | None = None
    for axis, count in enumerate(counts):
        column = table[:, axis]
        limit = (
            _edges(column, count=count, bounds=bounds[axis])
            if given[axis] is None
            else as_array("histogramdd", next(rest))
        )
        place = _places(column, limit, count)
        beyond = place == count
        outside = beyond if outside is None else logical_or(outside, beyond)
        cell = place if cell is None else cell * count + place
        limits.append(limit)
    total = math.prod(counts)
    assert cell is not None
    assert outside is not None
    values = None if weights is None else reshape(as_array("histogramdd", weights), (-1,))
    if values is not None and values.size != table.shape[0]:
        raise ValueError(f"histogramdd: {values.size} weights for {table.shape[0]} points; give one for each")
    sums = bincount(where(outside, total, cell), weights=values, length=total)
    real = dtypes.default_for_rank(2)
    result = reshape(astype(sums, real) if values is None or values.dtype in dtypes.INTEGRAL else sums, counts)
    if density:
        result = divide(result, sum(result))
        for axis, limit in enumerate(limits):
            widths = astype(diff(limit), result.dtype)
            result = divide(result, reshape(widths, (-1, *(1,) * (len(counts) - axis - 1))))
    return result, *limits


def _places(x: Array, limits: Array, count: int) -> Array:
    """Which bin each element is in; ``count`` for none."""
    place = searchsorted(limits, x, side="right") - 1
    dtype = result_type(limits, x)
    last, wide = astype(limits[-1], dtype), astype(x, dtype)
    place = where(wide == last, count - 1, place)
    return where(logical_and(wide <= last, place >= 0), place, count)
