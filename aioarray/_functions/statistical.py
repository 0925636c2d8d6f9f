"""Statistical functions of the array API standard: sums, means, extremes, cumulative sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, call
from .._ops import cumulative, statistical
from ._arguments import Axes, DTypeLike, axes_of, axis_of, dtype_of

if TYPE_CHECKING:
    from .._array import Array

__all__ = [
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


def sum(x: ArrayLike, /, axis: Axes = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Sums along ``axis`` (one, several, None for all); of nothing, 0.

    Integers narrower than the default integral dtype are added in that one, or in the unsigned one of its width.

    >>> aio.sum(aio.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    Array([4., 6.], dtype=float32)
    """
    return call(statistical.sum, (x,), axes_of("sum", axis), dtype_of(dtype), bool(keepdims))


def prod(x: ArrayLike, /, axis: Axes = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Products along ``axis`` (one, several, None for all); of nothing, 1. Dtypes as for ``sum``.

    >>> aio.prod(aio.asarray([2, 3, 4]))
    Array(24, dtype=int32)
    """
    return call(statistical.prod, (x,), axes_of("prod", axis), dtype_of(dtype), bool(keepdims))


def mean(x: ArrayLike, /, axis: Axes = None, dtype: DTypeLike | None = None, *, keepdims: bool = False) -> Array:
    """Means along ``axis`` (one, several, None for all); of nothing, NaN. Of integers, in the default real dtype.

    >>> aio.mean(aio.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    Array([1.5, 3.5], dtype=float32)
    """
    return call(statistical.mean, (x,), axes_of("mean", axis), dtype_of(dtype), bool(keepdims))


def var(
    x: ArrayLike, /, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False, ddof: float | None = None
) -> Array:
    """Variances along ``axis``: squared distances from the mean, summed, divided by their number less ``correction``.

    ``ddof`` is NumPy's name of ``correction``; ``ValueError`` for both. NaN where the divisor is not positive. Of
    integers, in the default real dtype; of complex numbers, real.

    >>> aio.var(aio.asarray([1.0, 2.0, 3.0, 4.0]))
    Array(1.25, dtype=float32)
    """
    less = statistical.correction_of("var", correction, ddof)
    return call(statistical.var, (x,), axes_of("var", axis), less, bool(keepdims))


def std(
    x: ArrayLike, /, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False, ddof: float | None = None
) -> Array:
    """Standard deviations along ``axis``: the square roots of ``var``.

    >>> aio.std(aio.asarray([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    less = statistical.correction_of("std", correction, ddof)
    return call(statistical.std, (x,), axes_of("std", axis), less, bool(keepdims))


def max(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The greatest along ``axis`` (one, several, None for all); NaN where there is one. ``ValueError`` for none.

    >>> aio.max(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([5, 7], dtype=int32)
    """
    return call(statistical.max, (x,), axes_of("max", axis), bool(keepdims))


def min(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The least along ``axis`` (one, several, None for all); NaN where there is one. ``ValueError`` for none.

    >>> aio.min(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([1, 3], dtype=int32)
    """
    return call(statistical.min, (x,), axes_of("min", axis), bool(keepdims))


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Running sums along ``axis``, which may be left out for vectors; with ``include_initial``, 0 comes first.

    Dtypes as for ``sum``. ``ValueError`` if ``axis`` is needed and not given.

    >>> aio.cumulative_sum(aio.asarray([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    place = None if axis is None else axis_of("cumulative_sum", axis)
    return call(cumulative.cumulative_sum, (x,), place, dtype_of(dtype), bool(include_initial))


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Running products along ``axis``, which may be left out for vectors; with ``include_initial``, 1 comes first.

    Dtypes as for ``sum``. ``ValueError`` if ``axis`` is needed and not given.

    >>> aio.cumulative_prod(aio.asarray([1, 2, 3]), include_initial=True)
    Array([1, 1, 2, 6], dtype=int32)
    """
    place = None if axis is None else axis_of("cumulative_prod", axis)
    return call(cumulative.cumulative_prod, (x,), place, dtype_of(dtype), bool(include_initial))
