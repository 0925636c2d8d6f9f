"""NumPy's everyday sums of products of one vector and another that is moved along it."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import DTypeLike, dtype_of
from .._ops import correlation
from .arithmetic import divide, multiply, sqrt
from .comparison import clip
from .complex import conj, imag, real
from .data_types import astype, result_type
from .manipulation import concat, reshape
from .matrices import diag
from .products import matmul
from .searching import where
from .stacking import atleast_2d
from .statistical import mean, sum

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["convolve", "corrcoef", "correlate", "cov"]


def convolve(x1: ArrayLike, x2: ArrayLike, /, mode: Literal["full", "same", "valid"] = "full") -> Array:
    """The convolution of two vectors: at every overlap, at as many as the longer has elements, or at whole overlaps.

    ``ValueError`` for vectors without elements and arrays of more than one axis.

    >>> aio.convolve(aio.asarray([1, 2, 3]), aio.asarray([0, 1]))
    Array([0, 1, 2, 3], dtype=int32)
    """
    return call(correlation.convolve, (x1, x2), mode)


def correlate(x1: ArrayLike, x2: ArrayLike, /, mode: Literal["full", "same", "valid"] = "valid") -> Array:
    """The correlation of two vectors: the sums of ``x1[n + k] * conj(x2[n])``; ``mode`` as for ``convolve``.

    ``ValueError`` for vectors without elements and arrays of more than one axis.

    >>> aio.correlate(aio.asarray([1, 2, 3]), aio.asarray([1, 1]))
    Array([3, 5], dtype=int32)
    """
    return call(correlation.correlate, (x1, x2), mode)


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
    integers as real numbers. ``ValueError`` for more than two axes, and for weights of another shape.

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
    target = dtypes.real_for(dtype or result_type(*variables))
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
