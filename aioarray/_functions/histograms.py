"""NumPy's everyday histograms: bins, and which of them values belong to."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING

import numpy as np

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import integer_of
from .._ops import histograms
from .arithmetic import divide
from .comparison import less
from .creation import arange, asarray, zeros
from .data_types import astype, result_type
from .logical import logical_and
from .manipulation import flip, reshape
from .searching import searchsorted, where
from .statistical import max, min, sum
from .utility import diff

if TYPE_CHECKING:
    from .._array import Array


__all__ = ["bincount", "digitize", "histogram", "histogram_bin_edges"]

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
