"""Data type functions of the array API standard: casting, promotion, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from .._array import Array, ArrayLike, call
from .._base import dtypes
from .._dispatch.arguments import DeviceLike, DTypeLike, device_of
from .._ops import data_types

if TYPE_CHECKING:
    from .._base.dtypes import DType, Scalar

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike | None = None) -> Array:
    """``x`` in ``dtype``, on ``device`` if one is named; ``x`` itself if nothing changes and ``copy`` is False.

    Floating-point numbers lose their fraction in an integer dtype; out of its range they become its nearest bound, and
    NaN becomes 0. ``TypeError`` for complex to real: take ``real(x)`` first.

    >>> aio.astype(aio.asarray([1.7, -1.7]), "int8")
    Array([ 1, -1], dtype=int8)
    """
    target, place = dtypes.as_dtype(dtype), device_of(device)
    if isinstance(x, Array) and not copy and x.dtype == target and place in (None, x.device):
        return x
    result: Array = call(data_types.astype, (x,), target)
    return result if place is None else result.to_device(place)


def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> bool:
    """Whether promotion takes ``from_`` to ``to``.

    ``TypeError`` for what is no dtype.

    >>> aio.can_cast("int8", "int16"), aio.can_cast("float64", "float32")
    (True, False)
    """
    source = from_.dtype if isinstance(from_, Array) else dtypes.as_dtype(from_)
    target = dtypes.as_dtype(to)
    try:
        return bool(dtypes.promote(source, target) == target)
    except TypeError:
        return False


@dataclass(frozen=True, slots=True)
class finfo_object:
    """Limits of a floating-point dtype, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class iinfo_object:
    """Limits of an integer dtype, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: DTypeLike | Array, /) -> finfo_object:
    """Limits of a floating-point dtype, or of an Array's; of a complex one, those of its parts.

    ``TypeError`` for other dtypes.

    >>> aio.finfo("float32").bits, aio.finfo("float32").eps
    (32, 1.1920928955078125e-07)
    """
    dtype = type.dtype if isinstance(type, Array) else dtypes.as_dtype(type)
    if dtype not in dtypes.FLOATING:
        raise TypeError(f"finfo: dtype {dtype.name} is not allowed; it takes floating-point dtypes, use iinfo()")
    real = dtypes.real_of(dtype)
    limits = ml_dtypes.finfo(real)
    return finfo_object(
        bits=8 * real.itemsize,
        eps=float(limits.eps),
        max=float(limits.max),
        min=float(limits.min),
        smallest_normal=float(limits.smallest_normal),
        dtype=real,
    )


def iinfo(type: DTypeLike | Array, /) -> iinfo_object:
    """Limits of an integer dtype, or of an Array's. ``TypeError`` for other dtypes.

    >>> aio.iinfo("int8").min, aio.iinfo("int8").max
    (-128, 127)
    """
    dtype = type.dtype if isinstance(type, Array) else dtypes.as_dtype(type)
    if dtype not in dtypes.INTEGRAL:
        raise TypeError(f"iinfo: dtype {dtype.name} is not allowed; it takes integer dtypes, use finfo()")
    limits = dtypes.iinfo(dtype)
    return iinfo_object(bits=int(limits.bits), max=int(limits.max), min=int(limits.min), dtype=dtype)


_KINDS: dict[str, frozenset[DType]] = {
    "bool": dtypes.BOOLEAN,
    "signed integer": dtypes.SIGNED,
    "unsigned integer": dtypes.UNSIGNED,
    "integral": dtypes.INTEGRAL,
    "real floating": dtypes.REAL_FLOATING,
    "complex floating": dtypes.COMPLEX,
    "numeric": dtypes.NUMERIC,
}


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Whether ``dtype`` is of a kind, or is another dtype, or one of several of these.

    Kinds are "bool", "signed integer", "unsigned integer", "integral", "real floating" (with float16, bfloat16 and the
    8-bit ones), "complex floating" and "numeric". ``ValueError`` for other names.

    >>> aio.isdtype(aio.ones(2).dtype, "real floating"), aio.isdtype("int8", ("bool", "integral"))
    (True, True)
    """
    source = dtypes.as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(source, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: kind {kind!r} is not known; use {', '.join(map(repr, _KINDS))}, or a dtype")
        return source in _KINDS[kind]
    return bool(source == dtypes.as_dtype(kind))


def result_type(*arrays_and_dtypes: Array | np.ndarray | np.generic | Scalar | DTypeLike) -> DType:
    """The dtype that the arguments promote to; Python numbers take part with their kind only.

    Where a real number is needed, beside a Python float as in ``divide``, ``mean`` and functions of reals, int64 and
    uint64 become float64, narrower integers and booleans the default real dtype.

    ``ValueError`` if there are only Python numbers, ``TypeError`` where there is no common dtype.

    >>> aio.result_type("int8", "uint8")
    dtype('int16')
    >>> aio.result_type(aio.ones(2), 1)
    dtype('float32')
    >>> aio.result_type("int64", 1.0), aio.result_type("int16", 1.0)
    (dtype('float64'), dtype('float32'))
    """
    strong: list[DType] = []
    ranks: list[int] = []
    for x in arrays_and_dtypes:
        if isinstance(x, (Array, np.ndarray, np.generic)):
            strong.append(dtypes.as_dtype(x.dtype))
        elif isinstance(x, (bool, int, float, complex)):
            ranks.append(dtypes.scalar_rank(x))
        else:
            strong.append(dtypes.as_dtype(x))
    if not strong:
        raise ValueError("result_type: needs at least one array or dtype")
    result = strong[0]
    for dtype in strong[1:]:
        result = dtypes.promote(result, dtype)
    return dtypes.weak_dtype(max(ranks), result) if ranks else result
