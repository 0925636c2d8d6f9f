"""Softmax and what is made of it: log-softmax, logsumexp, cross-entropy; and one-hot vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import Axes, DTypeLike, axes_of, axis_of, dtype_of
from .._functions.exponential import exp, log
from .._functions.floating_point import isfinite
from .._functions.indexing import take_along_axis
from .._functions.manipulation import expand_dims, squeeze
from .._functions.searching import where
from .._functions.statistical import mean, sum
from .._graph import Node, definition
from .._ops import _primitives
from .._ops import statistical as reductions
from .._ops._rules import broadcast_to, convert, normalize_axis
from ._precision import cast, widen

if TYPE_CHECKING:
    from .._base.dtypes import DType

__all__ = ["cross_entropy", "log_softmax", "logsumexp", "one_hot", "softmax"]


@fused
def softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] = -1) -> Array:
    """``exp(x)`` divided by its sum along ``axis``, without overflow; NaN where all are minus infinity.

    >>> aio.nn.softmax(aio.asarray([0.0, 0.0, float("-inf")]))
    Array([0.5, 0.5, 0. ], dtype=float32)
    """
    wide, dtype = widen("softmax", x)
    powers = exp(wide - _greatest(wide, axis))
    # One quotient for each sum: by each power it would take a third longer.
    return cast(powers * (1 / sum(powers, axis=axis, keepdims=True)), dtype)


@fused
def log_softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] = -1) -> Array:
    """The logarithm of ``softmax``, without underflow.

    >>> [round(y, 3) for y in aio.nn.log_softmax(aio.asarray([0.0, 0.0, -1000.0])).tolist()]
    [-0.693, -0.693, -1000.693]
    """
    wide, dtype = widen("log_softmax", x)
    return cast(_log_softmax(wide, axis), dtype)


def _greatest(x: Array, axis: Axes) -> Array:
    return call(reductions.greatest, (x,), axes_of("max", axis), True)


def _log_softmax(x: Array, axis: int | tuple[int, ...]) -> Array:
    shifted = x - _greatest(x, axis)
    return shifted - log(sum(exp(shifted), axis=axis, keepdims=True))


@fused
def logsumexp(x: ArrayLike, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """``log(sum(exp(x)))`` along ``axis`` (one, several, None for all), without overflow.

    Minus infinity where there is nothing else.

    >>> round(float(aio.nn.logsumexp(aio.asarray([1000.0, 1000.0]))), 3)
    1000.693
    """
    wide, dtype = widen("logsumexp", x)
    greatest = _greatest(wide, axis)
    # An infinity is not subtracted from itself, which would be NaN.
    shift = where(isfinite(greatest), greatest, 0)
    result = log(sum(exp(wide - shift), axis=axis, keepdims=True)) + shift
    if not keepdims:
        result = squeeze(result, axis=tuple(range(result.ndim)) if axis is None else axis)
    return cast(result, dtype)


@definition
def _one_hot(indices: Node, classes: int, axis: int, dtype: DType) -> Node:
    if indices.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"one_hot: indices of dtype {indices.dtype.name}; it takes integers")
    if classes < 0:
        raise ValueError(f"one_hot: {classes} classes; there must be 0 or more")
    k = normalize_axis("one_hot", axis, indices.ndim + 1)
    shape = (*indices.shape[:k], classes, *indices.shape[k:])
    wide = broadcast_to(_primitives.reshape(indices, (*indices.shape[:k], 1, *indices.shape[k:])), shape)
    number = dtypes.int64 if indices.dtype.itemsize == 8 or indices.dtype == dtypes.uint32 else dtypes.int32
    return convert(_primitives.equal(convert(wide, number), _primitives.iota(shape, number, k)), dtype)


def one_hot(indices: ArrayLike, classes: int, /, *, axis: int = -1, dtype: DTypeLike = "float32") -> Array:
    """1 at the position that an index names, 0 elsewhere, along a new ``axis`` of length ``classes``.

    Indices that are negative or too large name none: all are 0. ``TypeError`` for indices that are no integers.

    >>> aio.nn.one_hot(aio.asarray([1, 0, 7]), 3)
    Array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return call(_one_hot, (indices,), int(classes), axis_of("one_hot", axis), dtype_of(dtype))


@fused
def cross_entropy(
    logits: ArrayLike,
    labels: ArrayLike,
    /,
    *,
    axis: int = -1,
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Array:
    """Cross-entropy of ``softmax(logits)`` along ``axis`` with ``labels``: class numbers, or probabilities.

    Class numbers are integers of the shape of ``logits`` without ``axis``; probabilities have its shape. Labels equal
    to ``ignore_index`` count as nothing, nor in the mean. ``label_smoothing`` mixes in so much of all classes alike.
    ``ValueError`` where shapes do not fit.

    >>> losses = aio.nn.cross_entropy(aio.asarray([[2.0, 0.0], [0.0, 0.0]]), aio.asarray([0, 1]), reduction="none")
    >>> [round(loss, 4) for loss in losses.tolist()]
    [0.1269, 0.6931]
    """
    wide, dtype = widen("cross_entropy", logits)
    labels = as_array("cross_entropy", labels)
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"cross_entropy: reduction {reduction!r} is not known; use 'mean', 'sum' or 'none'")
    log_probabilities = _log_softmax(wide, axis)
    k = normalize_axis("cross_entropy", axis, wide.ndim)
    classes = wide.shape[k]
    counted: Array | None = None
    if labels.dtype in dtypes.INTEGRAL:
        if labels.shape != wide.shape[:k] + wide.shape[k + 1 :]:
            raise ValueError(
                f"cross_entropy: class numbers of shape {labels.shape} for logits of shape {wide.shape}; they must "
                f"have that shape without axis {k}"
            )
        places = labels
        if ignore_index is not None:
            counted = labels != ignore_index
            places = where(counted, labels, 0)
        chosen = squeeze(take_along_axis(log_probabilities, expand_dims(places, axis=k), axis=k), axis=k)
        losses = -chosen
        if label_smoothing:
            losses = (1 - label_smoothing) * losses - label_smoothing * mean(log_probabilities, axis=k)
        if counted is not None:
            losses = where(counted, losses, 0)
    else:
        if labels.shape != wide.shape or ignore_index is not None:
            raise ValueError(
                f"cross_entropy: probabilities of shape {labels.shape} for logits of shape {wide.shape}; they must "
                "agree, and ignore_index goes with class numbers only"
            )
        target = cast(labels, wide.dtype)
        if label_smoothing:
            target = (1 - label_smoothing) * target + label_smoothing / classes
        losses = -sum(target * log_probabilities, axis=k)
    if reduction == "none":
        return cast(losses, dtype)
    total = sum(losses)
    if reduction == "mean":
        total = total / (losses.size if counted is None else sum(cast(counted, wide.dtype)))
    return cast(total, dtype)
