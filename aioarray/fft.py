"""Discrete Fourier transforms: the array API standard's extension, with NumPy's two-dimensional shorthands.

Lengths ``n`` and ``s`` cut an axis, or continue it with zeros. ``norm`` says which direction is divided by the number
of values: "backward" the inverse one, "forward" the other, "ortho" each by the square root. float32 gives complex64,
float64 complex128; float16 and bfloat16 are transformed in float32, integers as real numbers. Wrong lengths,
axes and norms raise ``ValueError`` (axes that do not exist: also an ``IndexError``), wrong dtypes ``TypeError``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeAlias

from ._array import ArrayLike, call
from ._base import config, dtypes
from ._dispatch.arguments import DeviceLike, DTypeLike, axes_of, axis_of, device_of, dtype_of
from ._ops import fft as transforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._array import Array
    from ._base.dtypes import DType
    from ._graph import Definition, Node

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

# None stands for "backward", as in NumPy.
Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None


def _one_axis(
    definition: Definition[Node], x: ArrayLike, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm
) -> Array:
    length = None if n is None else operator.index(n)
    return call(definition, (x,), length, axis_of(definition.name, axis), norm or "backward")


def _axes(
    definition: Definition[Node],
    x: ArrayLike,
    s: Sequence[SupportsIndex] | None,
    axes: Sequence[SupportsIndex] | None,
    norm: Norm,
) -> Array:
    lengths = None if s is None else tuple(map(operator.index, s))
    chosen = None if axes is None else tuple(map(operator.index, axes))
    return call(definition, (x,), lengths, chosen, norm or "backward")


def fft(x: ArrayLike, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """The transform along one axis: ``sum(x[k] * exp(-2j * pi * k * m / n))`` for each ``m``.

    >>> aio.fft.fft(aio.asarray([1.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one_axis(transforms.fft, x, n, axis, norm)


def ifft(x: ArrayLike, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """The inverse of ``fft``.

    >>> aio.fft.ifft(aio.ones(4))
    Array([1.+0.j, 0.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    return _one_axis(transforms.ifft, x, n, axis, norm)


def fftn(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """The transform along several axes: ``axes``, else the last ``len(s)``, else all. In ``s``, -1 keeps a length.

    >>> aio.fft.fftn(aio.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _axes(transforms.fftn, x, s, axes, norm)


def ifftn(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """The inverse of ``fftn``.

    >>> aio.fft.ifftn(aio.ones((2, 2)))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _axes(transforms.ifftn, x, s, axes, norm)


def rfft(x: ArrayLike, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """The first ``n // 2 + 1`` values of the transform of real numbers; the others are their conjugates.

    >>> aio.fft.rfft(aio.ones(4))
    Array([4.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    return _one_axis(transforms.rfft, x, n, axis, norm)


def irfft(x: ArrayLike, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """The inverse of ``rfft``: real, of length ``n``, by default ``2 * (length - 1)``.

    >>> aio.fft.irfft(aio.asarray([4.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _one_axis(transforms.irfft, x, n, axis, norm)


def rfftn(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """``rfft`` along the last of ``axes`` (by default all), then ``fft`` along the others.

    >>> aio.fft.rfftn(aio.ones((2, 4))).shape
    (2, 3)
    """
    return _axes(transforms.rfftn, x, s, axes, norm)


def irfftn(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """The inverse of ``rfftn``; ``s`` tells an odd length of the last axis, which is even by default.

    >>> aio.fft.irfftn(aio.fft.rfftn(aio.ones((2, 3))), s=(2, 3)).shape
    (2, 3)
    """
    return _axes(transforms.irfftn, x, s, axes, norm)


def hfft(x: ArrayLike, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """The real transform, of length ``n``, of what is its own conjugate reversed and of which the first half is given.

    >>> aio.fft.hfft(aio.asarray([1.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _one_axis(transforms.hfft, x, n, axis, norm)


def ihfft(x: ArrayLike, /, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """The inverse of ``hfft``, of real numbers.

    >>> aio.fft.ihfft(aio.ones(4)).shape
    (3,)
    """
    return _one_axis(transforms.ihfft, x, n, axis, norm)


def fft2(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] = (-2, -1),
    norm: Norm = "backward",
) -> Array:
    """``fftn`` along two axes.

    >>> aio.fft.fft2(aio.ones((3, 2, 2)))[0]
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _axes(transforms.fftn, x, s, axes, norm)


def ifft2(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] = (-2, -1),
    norm: Norm = "backward",
) -> Array:
    """``ifftn`` along two axes.

    >>> aio.fft.ifft2(aio.ones((3, 2, 2))).shape
    (3, 2, 2)
    """
    return _axes(transforms.ifftn, x, s, axes, norm)


def rfft2(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] = (-2, -1),
    norm: Norm = "backward",
) -> Array:
    """``rfftn`` along two axes.

    >>> aio.fft.rfft2(aio.ones((3, 2, 4))).shape
    (3, 2, 3)
    """
    return _axes(transforms.rfftn, x, s, axes, norm)


def irfft2(
    x: ArrayLike,
    /,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] = (-2, -1),
    norm: Norm = "backward",
) -> Array:
    """``irfftn`` along two axes.

    >>> aio.fft.irfft2(aio.ones((3, 2, 3))).shape
    (3, 2, 4)
    """
    return _axes(transforms.irfftn, x, s, axes, norm)


def _frequency_dtype(function: str, dtype: DTypeLike | None) -> DType:
    chosen = dtype_of(dtype) or config.current().real
    if chosen not in dtypes.REAL_FLOATING:
        raise TypeError(f"{function}: dtype {chosen.name} is not allowed; it takes real floating-point dtypes")
    return chosen


def _frequencies(
    definition: Definition[Node], n: SupportsIndex, d: float, dtype: DTypeLike | None, device: DeviceLike | None
) -> Array:
    chosen = _frequency_dtype(definition.name, dtype)
    static = (operator.index(n), float(d), chosen)
    return call(definition, (), *static, device=device_of(device))


def fftfreq(
    n: SupportsIndex,
    /,
    d: float = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """The frequency of each value of ``fft`` of ``n`` samples at distance ``d``: 0, positive, then negative ones.

    >>> aio.fft.fftfreq(4, d=0.5)
    Array([ 0. ,  0.5, -1. , -0.5], dtype=float32)
    """
    return _frequencies(transforms.fftfreq, n, d, dtype, device)


def rfftfreq(
    n: SupportsIndex,
    /,
    d: float = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """The frequency of each value of ``rfft`` of ``n`` samples at distance ``d``.

    >>> aio.fft.rfftfreq(4, d=0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _frequencies(transforms.rfftfreq, n, d, dtype, device)


def fftshift(x: ArrayLike, /, axes: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """``x`` with the value of frequency 0 in the middle of ``axes`` (by default all).

    >>> aio.fft.fftshift(aio.fft.fftfreq(5, d=0.2))
    Array([-2., -1.,  0.,  1.,  2.], dtype=float32)
    """
    return call(transforms.fftshift, (x,), axes_of("fftshift", axes))


def ifftshift(x: ArrayLike, /, axes: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """The inverse of ``fftshift``.

    >>> aio.fft.ifftshift(aio.asarray([-2, -1, 0, 1, 2]))
    Array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return call(transforms.ifftshift, (x,), axes_of("ifftshift", axes))
