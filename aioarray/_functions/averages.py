"""NumPy's everyday statistics: weighted averages, covariances, ranges, running sums of the flattened array."""

from __future__ import annotations

import operator
from typing import Literal, overload

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._ops import cumulative
from .._ops._rules import normalize_axes
from ._arguments import Axes, DTypeLike, axes_of, axis_of, dtype_of
from .arithmetic import divide, multiply, sqrt, subtract
from .comparison import clip, where
from .creation import full
from .data_types import astype, result_type
from .floating_point import conj, imag, real
from .linear_algebra_basics import matmul
from .manipulation import broadcast_to, concat, expand_dims, reshape
from .matrices import diag
from .stacking import atleast_2d
from .statistical import max, mean, min, sum

__all__ = ["average", "corrcoef", "cov", "cumprod", "cumsum", "ptp"]


def cumsum(x: ArrayLike, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Running sums along ``axis``; of the flattened array if that is None. Dtypes as for ``sum``.

    >>> aio.cumsum(aio.asarray([[1, 2], [3, 4]]))
    Array([ 1,  3,  6, 10], dtype=int32)
    """
    place = None if axis is None else axis_of("cumsum", axis)
    return call(cumulative.cumsum, (x,), place, dtype_of(dtype))


def cumprod(x: ArrayLike, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Running products along ``axis``; of the flattened array if that is None. Dtypes as for ``sum``.

    >>> aio.cumprod(aio.asarray([[1, 2], [3, 4]]))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    place = None if axis is None else axis_of("cumprod", axis)
    return call(cumulative.cumprod, (x,), place, dtype_of(dtype))


@fused
def ptp(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The greatest less the least along ``axis`` (one, several, None for all). ``ValueError`` for no elements.

    >>> aio.ptp(aio.asarray([[1, 5], [7, 3]]), axis=1)
    Array([4, 4], dtype=int32)
    """
    place = axes_of("ptp", axis)
    return subtract(max(x, axis=place, keepdims=keepdims), min(x, axis=place, keepdims=keepdims))


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

    ``weights`` have the shape of ``x``, or of its axes ``axis``. Of integers in the default real dtype; inf or NaN
    where the weights sum to 0. ``returned`` asks for the sums of weights too. ``ValueError`` for other shapes.

    >>> aio.average(aio.asarray([1.0, 2.0]), weights=aio.asarray([3.0, 1.0]))
    Array(1.25, dtype=float32)
    """
    place = axes_of("average", axis)
    result, total = _average(x, weights, axis=place, keepdims=bool(keepdims))
    return (result, total) if returned else result


@fused
def _average(x: ArrayLike, weights: ArrayLike | None, /, *, axis: Axes, keepdims: bool) -> tuple[Array, Array]:
    array = as_array("average", x)
    if weights is None:
        result = mean(array, axis=axis, keepdims=keepdims)
        axes = normalize_axes("average", axis, array.ndim)
        count = 1
        for k in axes:
            count *= array.shape[k]
        return result, full(result.shape, count, dtype=result.dtype)
    factors = as_array("average", weights)
    dtype = result_type(array, factors)
    if dtype in dtypes.INTEGRAL_OR_BOOLEAN:
        dtype = dtypes.default_for_rank(2)
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


@fused(arrays=("y", "fweights", "aweights"))
def cov(
    x: ArrayLike,
    /,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """The covariances of the variables in the rows (without ``rowvar``, the columns) of ``x`` and of ``y``.

    Sums of products are divided by the number of observations less ``ddof``, by default 1, or 0 with ``bias``.
    ``fweights`` are how often each observation counts, ``aweights`` how much; they are not checked for signs. Of
    integers in the default real dtype. ``ValueError`` for more than two axes, and for weights of another shape.

    >>> aio.cov(aio.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    return _covariance("cov", x, y, rowvar, bias, ddof, fweights, aweights, dtype_of(dtype))


@fused(arrays=("y",))
def corrcoef(
    x: ArrayLike, /, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    """The correlations of the variables in the rows (without ``rowvar``, the columns) of ``x`` and of ``y``.

    ``cov`` divided by both variables' standard deviations, within -1..1; NaN for a variable that does not vary.

    >>> aio.corrcoef(aio.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    covariance = _covariance("corrcoef", x, y, rowvar, False, None, None, None, dtype_of(dtype))
    if covariance.ndim == 0:
        return divide(covariance, covariance)
    deviation = sqrt(real(diag(covariance)))
    result = divide(divide(covariance, deviation[:, None]), deviation[None, :])
    if result.dtype in dtypes.COMPLEX:
        limited = clip(real(result), -1, 1) + clip(imag(result), -1, 1) * 1j
        return astype(limited, result.dtype)
    return clip(result, -1, 1)


def _covariance(
    function: str,
    x: ArrayLike,
    y: ArrayLike | None,
    rowvar: bool,
    bias: bool,
    ddof: int | None,
    fweights: ArrayLike | None,
    aweights: ArrayLike | None,
    dtype: dtypes.DType | None,
) -> Array:
    variables = [_variables(function, x, rowvar)]
    if y is not None:
        variables.append(_variables(function, y, rowvar))
    target = dtype or result_type(*variables)
    if target in dtypes.INTEGRAL_OR_BOOLEAN:
        target = dtypes.default_for_rank(2)
    rows = concat([astype(v, target) for v in variables], axis=0)
    freedom = operator.index(ddof) if ddof is not None else 0 if bias else 1
    count = rows.shape[1]
    weights: Array | None = None
    for given, name in ((fweights, "fweights"), (aweights, "aweights")):
        if given is None:
            continue
        weight = as_array(function, given)
        if weight.shape != (count,):
            raise ValueError(f"{function}: {name} have shape {weight.shape}; it takes ({count},), one per observation")
        weight = astype(weight, dtypes.real_of(target))
        weights = weight if weights is None else multiply(weights, weight)
    if weights is None:
        center = mean(rows, axis=1, keepdims=True)
        scale: Array | float = float(count - freedom if count > freedom else 0)
        weighted = rows = rows - center
    else:
        total = sum(weights)
        center = divide(sum(rows * weights, axis=1, keepdims=True), total)
        rows = rows - center
        weighted = rows * weights
        scale = total
        if freedom and aweights is None:
            scale = total - freedom
        elif freedom and aweights is not None:
            scale = total - divide(freedom * sum(weights * astype(as_array(function, aweights), weights.dtype)), total)
        scale = where(scale <= 0, 0, scale)
    product = matmul(rows, conj(weighted.T) if target in dtypes.COMPLEX else weighted.T)
    covariance = divide(product, scale)
    return reshape(covariance, ()) if covariance.size == 1 else covariance


def _variables(function: str, x: ArrayLike, rowvar: bool) -> Array:
    array = as_array(function, x)
    if array.ndim > 2:
        raise ValueError(f"{function}: shape {array.shape} has more than 2 axes; it takes variables by observations")
    rows = atleast_2d(array)
    return rows if rowvar or array.ndim != 2 else rows.T
