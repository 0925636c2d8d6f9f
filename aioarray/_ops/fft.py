"""Discrete Fourier transforms along any axes: standard, "Fourier transform Functions".

float16, bfloat16 and integers are computed in float32 (integers as real numbers).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from .._graph import ArraySpec, Node, Op, array_spec, definition
from . import _primitives as p
from . import complex as complex_functions
from . import manipulation
from ._rules import broadcast_to, check_dtype, convert, int_array, normalize_axes, normalize_axis, scalar, stablehlo

if TYPE_CHECKING:
    from .._base.dtypes import DType

Axes = tuple[int, ...]

# How many axes XLA transforms at once.
_AT_ONCE = 3


def _transformed(x: ArraySpec, *, kind: str, lengths: Axes) -> ArraySpec:
    if kind == "RFFT":
        return array_spec((*x.shape[:-1], lengths[-1] // 2 + 1), dtypes.complex_of(x.dtype))
    if kind == "IRFFT":
        return array_spec((*x.shape[:-1], lengths[-1]), dtypes.real_of(x.dtype))
    return x


# Along the last len(lengths) axes; the inverse ones divide by the product of ``lengths``.
FFT = Op(
    "fft",
    _transformed,
    stablehlo(
        "stablehlo.fft",
        lambda node: {
            "fft_type": f"#stablehlo<fft_type {node.params['kind']}>",
            "fft_length": int_array(node.params["lengths"]),
        },
    ),
)


# ---- Arguments


def _check_norm(function: str, norm: str) -> None:
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f"{function}: norm {norm!r} is not known; use 'backward', 'ortho' or 'forward'")


def _check_length(function: str, length: int) -> int:
    if length < 1:
        raise ValueError(f"{function}: a transform of length {length} is not possible; lengths must be 1 or more")
    return length


def _lengths(function: str, x: Node, s: Axes | None, axes: Axes | None) -> tuple[Axes, Axes]:
    """The axes, and the lengths to transform along them; -1 in ``s`` is the length of the axis."""
    if axes is None:
        if s is not None and len(s) > x.ndim:
            raise ValueError(f"{function}: s={s} has {len(s)} lengths for {x.ndim} axes")
        axes = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
    else:
        axes = normalize_axes(function, axes, x.ndim)
    if not axes:
        raise ValueError(f"{function}: there is no axis to transform; it takes at least one")
    if s is None:
        return axes, tuple(x.shape[axis] for axis in axes)
    if len(s) != len(axes):
        raise ValueError(f"{function}: s={s} has {len(s)} lengths for {len(axes)} axes; it takes one for each")
    return axes, tuple(x.shape[axis] if n == -1 else n for axis, n in zip(axes, s, strict=True))


def _real(function: str, x: Node) -> Node:
    x = convert(x, dtypes.real_for(x.dtype))
    check_dtype(function, x, dtypes.REAL_FLOATING)
    return x if x.dtype == dtypes.float64 else convert(x, dtypes.float32)


def _complex(function: str, x: Node) -> Node:
    if x.dtype in dtypes.COMPLEX:
        return x
    x = _real(function, x)
    return convert(x, dtypes.complex_of(x.dtype))


def _resized(x: Node, axis: int, length: int) -> Node:
    """``x`` cut, or continued with zeros, to ``length`` along ``axis``."""
    if x.shape[axis] >= length:
        return p.slice_axis(x, axis, 0, length)
    missing = (*x.shape[:axis], length - x.shape[axis], *x.shape[axis + 1 :])
    return p.concatenate((x, broadcast_to(scalar(0, x.dtype), missing)), axis)


# ---- Transforms


def _apply(x: Node, kind: str, axes: Axes, lengths: Axes) -> Node:
    """One transform along up to three axes, which have the right lengths already."""
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    order = (*others, *axes)
    moved = p.transpose(x, order)
    if 0 in moved.shape:
        spec = _transformed(moved.spec, kind=kind, lengths=lengths)
        result = broadcast_to(scalar(0, spec.dtype), spec.shape)
    else:
        result = FFT(moved, kind=kind, lengths=lengths)
    return p.transpose(result, tuple(int(k) for k in np.argsort(order)))


def _scaled(x: Node, count: int, norm: str, inverse: bool) -> Node:
    # XLA divides the inverse transforms by the count and leaves the others, which is "backward".
    factor = {"backward": 1.0, "ortho": 1 / math.sqrt(count), "forward": 1 / count}[norm]
    if inverse:
        factor = {"backward": 1.0, "ortho": math.sqrt(count), "forward": float(count)}[norm]
    return x if factor == 1 else p.multiply(x, factor)


def _check_transform(function: str, lengths: Axes, norm: str) -> None:
    _check_norm(function, norm)
    for length in lengths:
        _check_length(function, length)


def _groups(axes: Axes, lengths: Axes) -> list[tuple[Axes, Axes]]:
    return [(axes[i : i + _AT_ONCE], lengths[i : i + _AT_ONCE]) for i in range(0, len(axes), _AT_ONCE)]


def _complex_to_complex(function: str, x: Node, axes: Axes, lengths: Axes, norm: str, inverse: bool) -> Node:
    _check_transform(function, lengths, norm)
    x = _complex(function, x)
    for axis, length in zip(axes, lengths, strict=True):
        x = _resized(x, axis, length)
    for some_axes, some_lengths in _groups(axes, lengths):
        x = _apply(x, "IFFT" if inverse else "FFT", some_axes, some_lengths)
    return _scaled(x, math.prod(lengths), norm, inverse)


def _real_to_complex(function: str, x: Node, axes: Axes, lengths: Axes, norm: str) -> Node:
    _check_transform(function, lengths, norm)
    x = _real(function, x)
    for axis, length in zip(axes, lengths, strict=True):
        x = _resized(x, axis, length)
    *others, last = _groups(axes[::-1], lengths[::-1])[::-1]
    # The group with the last axis goes first, since it makes the complex numbers.
    x = _apply(x, "RFFT", last[0][::-1], last[1][::-1])
    for some_axes, some_lengths in others:
        x = _apply(x, "FFT", some_axes[::-1], some_lengths[::-1])
    return _scaled(x, math.prod(lengths), norm, False)


def _complex_to_real(function: str, x: Node, axes: Axes, lengths: Axes, norm: str) -> Node:
    _check_transform(function, lengths, norm)
    x = _complex(function, x)
    for axis, length in zip(axes[:-1], lengths[:-1], strict=True):
        x = _resized(x, axis, length)
    x = _resized(x, axes[-1], lengths[-1] // 2 + 1)
    *others, last = _groups(axes[::-1], lengths[::-1])[::-1]
    for some_axes, some_lengths in others:
        x = _apply(x, "IFFT", some_axes[::-1], some_lengths[::-1])
    x = _apply(x, "IRFFT", last[0][::-1], last[1][::-1])
    return _scaled(x, math.prod(lengths), norm, True)


def _one_axis(function: str, x: Node, n: int | None, axis: int) -> tuple[Axes, Axes]:
    k = normalize_axis(function, axis, x.ndim)
    return (k,), (x.shape[k] if n is None else n,)


@definition
def fft(x: Node, n: int | None, axis: int, norm: str) -> Node:
    """The transform along one axis, cut or continued with zeros to length ``n``."""
    return _complex_to_complex("fft", x, *_one_axis("fft", x, n, axis), norm, False)


@definition
def ifft(x: Node, n: int | None, axis: int, norm: str) -> Node:
    """The inverse of ``fft``."""
    return _complex_to_complex("ifft", x, *_one_axis("ifft", x, n, axis), norm, True)


@definition
def fftn(x: Node, s: Axes | None, axes: Axes | None, norm: str) -> Node:
    """The transform along several axes; None: all."""
    return _complex_to_complex("fftn", x, *_lengths("fftn", x, s, axes), norm, False)


@definition
def ifftn(x: Node, s: Axes | None, axes: Axes | None, norm: str) -> Node:
    """The inverse of ``fftn``."""
    return _complex_to_complex("ifftn", x, *_lengths("ifftn", x, s, axes), norm, True)


@definition
def rfft(x: Node, n: int | None, axis: int, norm: str) -> Node:
    """The first ``n // 2 + 1`` values of the transform of real numbers: the others are their conjugates."""
    return _real_to_complex("rfft", x, *_one_axis("rfft", x, n, axis), norm)


def _half_axis(function: str, x: Node, n: int | None, axis: int) -> tuple[Axes, Axes]:
    # The axis of a result whose transform's first half is given.
    k = normalize_axis(function, axis, x.ndim)
    return (k,), (2 * (x.shape[k] - 1) if n is None else n,)


@definition
def irfft(x: Node, n: int | None, axis: int, norm: str) -> Node:
    """The inverse of ``rfft``, of length ``n``; None: even."""
    return _complex_to_real("irfft", x, *_half_axis("irfft", x, n, axis), norm)


@definition
def rfftn(x: Node, s: Axes | None, axes: Axes | None, norm: str) -> Node:
    """``rfft`` along the last of ``axes``, ``fft`` along the others."""
    return _real_to_complex("rfftn", x, *_lengths("rfftn", x, s, axes), norm)


@definition
def irfftn(x: Node, s: Axes | None, axes: Axes | None, norm: str) -> Node:
    """The inverse of ``rfftn``."""
    chosen, lengths = _lengths("irfftn", x, s, axes)
    if s is None:
        lengths = (*lengths[:-1], 2 * (x.shape[chosen[-1]] - 1))
    return _complex_to_real("irfftn", x, chosen, lengths, norm)


def _swapped(function: str, norm: str) -> str:
    _check_norm(function, norm)
    return {"backward": "forward", "ortho": "ortho", "forward": "backward"}[norm]


def _conjugate(x: Node) -> Node:
    result: Node = complex_functions.conj(x)
    return result


@definition
def hfft(x: Node, n: int | None, axis: int, norm: str) -> Node:
    """The real transform of what equals its own conjugate reversed, of which the first half is given."""
    half = _conjugate(_complex("hfft", x))
    return _complex_to_real("hfft", half, *_half_axis("hfft", x, n, axis), _swapped("hfft", norm))


@definition
def ihfft(x: Node, n: int | None, axis: int, norm: str) -> Node:
    """The inverse of ``hfft``."""
    swapped = _swapped("ihfft", norm)
    return _conjugate(_real_to_complex("ihfft", x, *_one_axis("ihfft", x, n, axis), swapped))


# ---- Helpers


@definition
def fftfreq(n: int, d: float, dtype: DType) -> Node:
    """The frequency of each value of a transform of ``n`` samples at distance ``d``."""
    positions = p.iota((_check_length("fftfreq", n),), dtypes.int64)
    positions = p.select(p.greater_equal(positions, (n + 1) // 2), p.subtract(positions, n), positions)
    return convert(p.multiply(convert(positions, dtypes.float64), 1 / (n * d)), dtype)


@definition
def rfftfreq(n: int, d: float, dtype: DType) -> Node:
    """The frequency of each value of ``rfft``."""
    positions = p.iota((_check_length("rfftfreq", n) // 2 + 1,), dtypes.int64)
    return convert(p.multiply(convert(positions, dtypes.float64), 1 / (n * d)), dtype)


def _shift(function: str, x: Node, axes: int | Axes | None, sign: int) -> Node:
    chosen = normalize_axes(function, axes, x.ndim)
    halves = tuple(sign * (x.shape[axis] // 2) for axis in chosen)
    return manipulation.roll(x, halves, chosen) if chosen else x


@definition
def fftshift(x: Node, axes: int | Axes | None) -> Node:
    """``x`` with the value of frequency zero in the middle of ``axes``."""
    return _shift("fftshift", x, axes, 1)


@definition
def ifftshift(x: Node, axes: int | Axes | None) -> Node:
    """The inverse of ``fftshift``."""
    return _shift("ifftshift", x, axes, -1)
