"""Statistical functions of the array API standard: sums, means, extremes, cumulative sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import Axes, DTypeLike, axes_of, dtype_of
from .._ops import statistical
from .._ops._rules import normalize_axes
from .arithmetic import divide, multiply
from .creation import full
from .data_types import astype, result_type
from .manipulation import broadcast_to, expand_dims

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["average", "max", "mean", "min", "prod", "std", "sum", "var"]


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
    """Means along ``axis`` (one, several, None for all); of nothing, NaN.

    Of int64 and uint64 in float64, of narrower integers and booleans in the default real dtype.

    >>> aio.mean(aio.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    Array([1.5, 3.5], dtype=float32)
    """
    return call(statistical.mean, (x,), axes_of("mean", axis), dtype_of(dtype), bool(keepdims))


def var(
    x: ArrayLike, /, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False, ddof: float | None = None
) -> Array:
    """Variances along ``axis``: squared distances from the mean, summed, divided by their number less ``correction``.

    ``ddof`` is NumPy's name of ``correction``; ``ValueError`` for both. NaN where the divisor is not positive. Of
    integers, as real numbers; of complex numbers, real.

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


def max(
    x: ArrayLike,
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """The greatest along ``axis`` (one, several, None for all); NaN where there is one. ``ValueError`` for none.

    ``initial`` is a number that takes part, and the result of nothing; ``where``, a mask of what takes part, needs it.

    >>> aio.max(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([5, 7], dtype=int32)
    """
    if initial is not None or where is not None:
        return call(statistical.max_from, (x, initial, where), axes_of("max", axis), bool(keepdims))
    return call(statistical.max, (x,), axes_of("max", axis), bool(keepdims))


def min(
    x: ArrayLike,
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """The least along ``axis`` (one, several, None for all); NaN where there is one. ``ValueError`` for none.

    ``initial`` is a number that takes part, and the result of nothing; ``where``, a mask of what takes part, needs it.

    >>> aio.min(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([1, 3], dtype=int32)
    """
    if initial is not None or where is not None:
        return call(statistical.min_from, (x, initial, where), axes_of("min", axis), bool(keepdims))
    return call(statistical.min, (x,), axes_of("min", axis), bool(keepdims))


@overload
def average(
    x: ArrayLike,
    /,
    axis: Axes = None,
    weights: ArrayLike | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> Array: ...


@overload
def average(
    x: ArrayLike,
    /,
    axis: Axes = None,
    weights: ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Array, Array]: ...


@overload
def average(
    x: ArrayLike,
    /,
    axis: Axes = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Array | tuple[Array, Array]: ...


def average(
    x: ArrayLike,
    /,
    axis: Axes = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Array | tuple[Array, Array]:
    """Means along ``axis`` (one, several, None for all), each element counting ``weights`` times; with their sums.

    ``weights`` have the shape of ``x``, or of its axes ``axis``. Of integers as real numbers; inf or NaN
    where the weights sum to 0. ``returned`` asks for the sums of weights too. ``ValueError`` for other shapes.

    >>> aio.average(aio.asarray([1.0, 2.0]), weights=aio.asarray([3.0, 1.0]))
    Array(1.25, dtype=float32)
    """
    place = axes_of("average", axis)
    if returned:
        return _average_and_sum(x, weights, axis=place, keepdims=bool(keepdims))
    return _average(x, weights, axis=place, keepdims=bool(keepdims))


@fused
def _average(x: ArrayLike, weights: ArrayLike | None, /, *, axis: Axes, keepdims: bool) -> Array:
    return _average_and_sum(x, weights, axis=axis, keepdims=keepdims)[0]


@fused
def _average_and_sum(x: ArrayLike, weights: ArrayLike | None, /, *, axis: Axes, keepdims: bool) -> tuple[Array, Array]:
    array = as_array("average", x)
    if weights is None:
        result = mean(array, axis=axis, keepdims=keepdims)
        axes = normalize_axes("average", axis, array.ndim)
        count = 1
        for k in axes:
            count *= array.shape[k]
        return result, full(result.shape, count, dtype=result.dtype)
    factors = as_array("average", weights)
    dtype = dtypes.real_for(result_type(array, factors))
    array, factors = astype(array, dtype), astype(factors, dtype)
    if factors.shape != array.shape:
        axes = normalize_axes("average", axis, array.ndim)
        if axis is None or factors.shape != tuple(array.shape[k] for k in axes):
            raise ValueError(
                f"average: weights of shape {factors.shape}, x of shape {array.shape}; they must have its shape, or "
                "that of its axes named in axis="
            )
        # The weights' axes go in the order in which `axis` names them.
        order = sorted(range(len(axes)), key=axes.__getitem__)
        factors = factors.transpose(order)
        others = tuple(k for k in range(array.ndim) if k not in axes)
        factors = broadcast_to(expand_dims(factors, others), array.shape)
    total = sum(factors, axis=axis, keepdims=keepdims)
    return divide(sum(multiply(array, factors), axis=axis, keepdims=keepdims), total), total
