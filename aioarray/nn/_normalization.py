"""Normalisation layers. Statistics are computed in float32 at least."""

from __future__ import annotations

import math

from .._array import Array, ArrayLike, as_array, fused
from .._functions.arithmetic import sqrt
from .._functions.manipulation import reshape
from .._functions.statistical import sum
from .._ops._rules import normalize_axes, normalize_axis
from ._precision import cast, widen

__all__ = ["batch_norm", "group_norm", "layer_norm", "rms_norm"]


def _mean(x: Array, axes: tuple[int, ...]) -> Array:
    # Times the reciprocal: the last digit that a division would save is not worth what it takes here.
    return sum(x, axis=axes, keepdims=True) * (1 / max(1, math.prod(x.shape[k] for k in axes)))


def _along(function: str, name: str, given: ArrayLike, x: Array, axes: tuple[int, ...]) -> Array:
    """``given``, for ``axes`` of ``x``, in such a shape that it broadcasts."""
    value = as_array(function, given)
    expected = tuple(x.shape[k] for k in axes)
    if value.shape != expected:
        raise ValueError(
            f"{function}: {name} has shape {value.shape}, x of shape {x.shape} takes {expected} along axes {axes}"
        )
    shape = tuple(n if k in axes else 1 for k, n in enumerate(x.shape))
    return cast(reshape(value, shape), x.dtype)


def _scaled(
    function: str, x: Array, weight: ArrayLike | None, bias: ArrayLike | None, source: Array, axes: tuple[int, ...]
) -> Array:
    if weight is not None:
        x = x * _along(function, "weight", weight, source, axes)
    if bias is not None:
        x = x + _along(function, "bias", bias, source, axes)
    return x


@fused
def layer_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    /,
    *,
    axis: int | tuple[int, ...] = -1,
    eps: float = 1e-5,
) -> Array:
    """``(x - mean) / sqrt(variance + eps)`` along ``axis``, times ``weight`` plus ``bias``, of the shape of those axes.

    Ba and others, "Layer Normalization" (arXiv 1607.06450). ``ValueError`` where weight or bias do not fit.

    >>> y = aio.nn.layer_norm(aio.asarray([1.0, 2.0, 3.0]), aio.asarray([1.0, 1.0, 2.0]))
    >>> [round(value, 3) for value in y.tolist()]
    [-1.225, 0.0, 2.449]
    """
    wide, dtype = widen("layer_norm", x)
    axes = tuple(sorted(normalize_axes("layer_norm", axis, wide.ndim)))
    centred = wide - _mean(wide, axes)
    variance = _mean(centred * centred, axes)
    return cast(_scaled("layer_norm", centred / sqrt(variance + eps), weight, bias, wide, axes), dtype)


@fused
def rms_norm(
    x: ArrayLike, weight: ArrayLike | None = None, /, *, axis: int | tuple[int, ...] = -1, eps: float = 1e-6
) -> Array:
    """``x / sqrt(mean(x**2) + eps)`` along ``axis``, times ``weight``, of the shape of those axes.

    Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv 1910.07467). ``ValueError`` where it does not fit.

    >>> [round(y, 3) for y in aio.nn.rms_norm(aio.asarray([3.0, 4.0]), aio.asarray([1.0, 10.0])).tolist()]
    [0.849, 11.314]
    """
    wide, dtype = widen("rms_norm", x)
    axes = tuple(sorted(normalize_axes("rms_norm", axis, wide.ndim)))
    normalised = wide / sqrt(_mean(wide * wide, axes) + eps)
    return cast(_scaled("rms_norm", normalised, weight, None, wide, axes), dtype)


@fused
def batch_norm(
    x: ArrayLike,
    running_mean: ArrayLike,
    running_var: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    /,
    *,
    axis: int = 1,
    eps: float = 1e-5,
) -> Array:
    """Batch normalisation for inference: by the running statistics, one of each for every channel along ``axis``.

    Ioffe and Szegedy, "Batch Normalization" (arXiv 1502.03167). ``ValueError`` where a vector does not fit.

    >>> x = aio.asarray([[1.0, 10.0], [3.0, 30.0]])
    >>> aio.nn.batch_norm(x, aio.asarray([2.0, 20.0]), aio.asarray([1.0, 100.0]), eps=0.0)
    Array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    """
    wide, dtype = widen("batch_norm", x)
    axes = (normalize_axis("batch_norm", axis, wide.ndim),)
    # One factor and one term for each channel: x is read once.
    factor = 1 / sqrt(_along("batch_norm", "running_var", running_var, wide, axes) + eps)
    if weight is not None:
        factor = factor * _along("batch_norm", "weight", weight, wide, axes)
    result = (wide - _along("batch_norm", "running_mean", running_mean, wide, axes)) * factor
    return cast(_scaled("batch_norm", result, None, bias, wide, axes), dtype)


@fused
def group_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    /,
    *,
    groups: int,
    axis: int = 1,
    eps: float = 1e-5,
) -> Array:
    """Groups of channels along ``axis`` normalised, each with all axes but the first; then scaled by channel.

    Wu and He, "Group Normalization" (arXiv 1803.08494). ``ValueError`` where channels do not divide, or weights do
    not fit.

    >>> aio.nn.group_norm(aio.asarray([[1.0, 3.0, 10.0, 30.0]]), groups=2, eps=0.0)
    Array([[-1.,  1., -1.,  1.]], dtype=float32)
    """
    wide, dtype = widen("group_norm", x)
    k = normalize_axis("group_norm", axis, wide.ndim)
    if k == 0 or groups < 1 or wide.shape[k] % groups:
        raise ValueError(
            f"group_norm: axis {k} of shape {wide.shape} into {groups} groups; it must divide, and not be the batch's"
        )
    split = reshape(wide, (*wide.shape[:k], groups, wide.shape[k] // groups, *wide.shape[k + 1 :]))
    axes = tuple(i for i in range(1, split.ndim) if i != k)
    centred = split - _mean(split, axes)
    normalised = reshape(centred / sqrt(_mean(centred * centred, axes) + eps), wide.shape)
    return cast(_scaled("group_norm", normalised, weight, bias, wide, (k,)), dtype)
