"""Padding arrays, as NumPy does."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._ops import padding
from .arithmetic import divide, multiply
from .creation import arange, asarray
from .data_types import astype
from .manipulation import broadcast_to, concat, reshape
from .rounding import floor, round
from .selection import apply_along_axis
from .statistical import max, mean, min
from .statistics_of_order import median

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Widths: TypeAlias = int | tuple[int, int] | Sequence[tuple[int, int]]
    Mode: TypeAlias = Literal[
        "constant",
        "edge",
        "empty",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
    ]

__all__ = ["pad"]

# Elements that depend on the whole axis, or on a value for each end.
_OF_AXES: dict[str, Callable[..., Array]] = {"maximum": max, "mean": mean, "median": median, "minimum": min}


@overload
def pad(
    x: ArrayLike,
    /,
    pad_width: Widths,
    mode: Mode = "constant",
    *,
    constant_values: ArrayLike = 0,
    end_values: ArrayLike = 0,
    stat_length: Widths | None = None,
) -> Array: ...
@overload
def pad(x: ArrayLike, /, pad_width: Widths, mode: Callable[..., Array | None], **kwargs: Any) -> Array: ...
def pad(
    x: ArrayLike,
    /,
    pad_width: Widths,
    mode: Mode | Callable[..., Array | None] = "constant",
    *,
    constant_values: ArrayLike = 0,
    end_values: ArrayLike = 0,
    stat_length: Widths | None = None,
    **kwargs: Any,
) -> Array:
    """``x`` with more elements around: ``pad_width`` at every end, (before, after) of every axis, or a pair for each.

    They are ``constant_values``, a number or numbers given as ``pad_width`` is; or what ``mode`` makes of ``x`` as in
    NumPy: its edge, its elements mirrored at the last element ("reflect") or after it ("symmetric"), or started again
    ("wrap"), a ramp from the edge to ``end_values``, or the extremes, the mean or the median of the ``stat_length``
    elements (None: all) nearest to each end. "empty" gives zeros. Any dtype, kept. ``ValueError`` for widths that do
    not fit, and for an axis of no elements where they are to be repeated.

    A function as ``mode`` is called as NumPy calls it, ``mode(vector, widths, axis, kwargs)``, for each vector along
    each axis of ``x`` with zeros around: it sets their elements, or returns another vector.

    >>> aio.pad(aio.asarray([1, 2, 3]), (1, 2))
    Array([0, 1, 2, 3, 0, 0], dtype=int32)
    >>> aio.pad(aio.asarray([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    >>> aio.pad(aio.asarray([1, 5, 6]), 1, mode="median")
    Array([5, 1, 5, 6, 5], dtype=int32)
    >>> aio.pad(aio.asarray([4.0, 8.0]), 2, mode="linear_ramp", end_values=0)
    Array([0., 2., 4., 8., 4., 0.], dtype=float32)
    """
    x = x if isinstance(x, Array) else asarray(x)
    widths = _pairs("pad_width", pad_width, x.ndim)
    if callable(mode):
        return _by_function(call(padding.pad, (x, 0), widths, "constant"), widths, mode, kwargs)
    if kwargs:
        raise TypeError(f"pad: {', '.join(kwargs)} is no argument of mode {mode!r}; only a function takes others")
    if mode == "linear_ramp":
        return _padded(x, _ends(end_values, x), widths=widths, mode=mode, lengths=None)
    if mode in _OF_AXES:
        lengths = None if stat_length is None else _pairs("stat_length", stat_length, x.ndim)
        return _padded(x, None, widths=widths, mode=mode, lengths=lengths)
    if mode == "empty":
        return call(padding.pad, (x, 0), widths, "constant")
    if mode == "constant" and np.ndim(constant_values) > 0:
        return _padded(x, _ends(constant_values, x), widths=widths, mode=mode, lengths=None)
    return call(padding.pad, (x, constant_values), widths, mode)


def _by_function(
    x: Array, widths: tuple[tuple[int, int], ...], function: Callable[..., Array | None], kwargs: dict[str, Any]
) -> Array:
    for axis, width in enumerate(widths):

        def padded(vector: Array, width: tuple[int, int] = width, axis: int = axis) -> Array:
            result = function(vector, width, axis, kwargs)
            return vector if result is None else result

        if x.size:
            x = apply_along_axis(padded, axis, x)
    return x


def _pairs(name: str, value: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    try:
        table = np.broadcast_to(np.asarray(value), (ndim, 2))
    except ValueError:
        raise ValueError(f"pad: {name}={value!r} is no number, pair, or pair for each of {ndim} axes") from None
    return tuple((operator.index(a), operator.index(b)) for a, b in table)


def _ends(value: ArrayLike, x: Array) -> Array:
    """A value for both ends of each axis."""
    table = as_array("pad", value)
    if table.ndim > 2:
        raise ValueError(f"pad: values of shape {table.shape}; give a number, a pair, or a pair for each axis")
    return broadcast_to(table, (x.ndim, 2))


@fused
def _padded(
    x: ArrayLike,
    ends: ArrayLike | None,
    /,
    *,
    widths: tuple[tuple[int, int], ...],
    mode: str,
    lengths: tuple[tuple[int, int], ...] | None,
) -> Array:
    array = as_array("pad", x)
    values = None if ends is None else as_array("pad", ends)
    for axis, (before, after) in enumerate(widths):
        if before < 0 or after < 0:
            raise ValueError(f"pad: width {(before, after)} must not be negative")
        if before + after == 0:
            continue
        length = array.shape[axis]
        if length == 0 and mode != "constant":
            raise ValueError(f"pad: axis {axis} has length 0; mode {mode!r} has nothing to repeat")
        pieces = []
        for place, width in enumerate((before, after)):
            kept = None if lengths is None else lengths[axis][place]
            end = None if values is None else values[axis, place]
            pieces.append(_piece(array, axis, width, last=place == 1, mode=mode, end=end, kept=kept))
        array = concat([pieces[0], array, pieces[1]], axis=axis)
    return array


def _piece(x: Array, axis: int, width: int, *, last: bool, mode: str, end: Array | None, kept: int | None) -> Array:
    shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
    length = x.shape[axis]
    before = (slice(None),) * axis
    if end is not None and mode == "constant":
        return broadcast_to(astype(end, x.dtype), shape)
    if end is not None:
        wide = dtypes.float64 if x.dtype not in dtypes.COMPLEX else dtypes.complex128
        edge = astype(x[(*before, slice(length - 1, length) if last else slice(0, 1))], wide)
        steps = reshape(arange(width, dtype=wide), (width, *(1,) * (x.ndim - axis - 1)))
        share = divide(width - 1 - steps if last else steps, builtins.max(width, 1))
        ramp = astype(end, wide) + multiply(edge - astype(end, wide), share)
        return astype(floor(ramp) if x.dtype in dtypes.INTEGRAL else ramp, x.dtype)
    count = length if kept is None else builtins.min(kept, length)
    if count < 1:
        raise ValueError(f"pad: stat_length={kept}; mode {mode!r} takes at least one element")
    part = x[(*before, slice(length - count, length) if last else slice(0, count))]
    middle = mode in ("mean", "median") and x.dtype in dtypes.INTEGRAL
    value = _OF_AXES[mode](astype(part, dtypes.float64) if middle else part, axis=axis, keepdims=True)
    if middle:
        value = round(value)
    return broadcast_to(astype(value, x.dtype), shape)
