"""Small ranges made on the host, as ``_ops.creation.arange`` makes large ones: each element exact, rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._base import dtypes

if TYPE_CHECKING:
    from .._base.dtypes import DType

# Below 2**26 products of an index and half of a double are exact.
_HIGH_BITS = np.int64(-1 << 27)


def exact_range(start: float, step: float, length: int, dtype: DType) -> np.ndarray:
    """``start + i * step`` for i below ``length``, which is less than 2**26."""
    places = np.arange(length)
    whole = start == start // 1 and step == step // 1
    if whole and max(abs(start), abs(start + step * length)) < 2**53:
        # What fits a double without loss, and any integer dtype that holds it.
        return _rounded_once(start + float(step) * places, np.zeros(length), dtype)
    with np.errstate(all="ignore"):
        first, delta = np.float64(start), np.asarray(float(step))
        high = (delta.view(np.int64) & _HIGH_BITS).view(np.float64)
        total, error = _two_sum(places * high, places * (delta - high))
        total, more = _two_sum(total, first)
        rest, lost = _two_sum(error, more)
        total, rest = _two_sum(total, rest)
        return _rounded_once(total, rest + lost, dtype)


def _two_sum(x: np.ndarray, y: np.ndarray | np.float64) -> tuple[np.ndarray, np.ndarray]:
    total = x + y
    y_part = total - x
    return total, (x - (total - y_part)) + (y - y_part)


def _rounded_once(near: np.ndarray, rest: np.ndarray, dtype: DType) -> np.ndarray:
    if dtype == dtypes.float64:
        return near
    odd = _to_odd(near, rest)
    if dtype not in dtypes.REAL_FLOATING or dtype == dtypes.float32:
        return odd.astype(dtype)
    single = odd.astype(np.float32)
    return _to_odd(single, odd - single).astype(dtype)


def _to_odd(near: np.ndarray, rest: np.ndarray) -> np.ndarray:
    bits: np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
    bits = near.view(np.int64) if near.dtype == np.float64 else near.view(np.int32)
    moved = np.where((rest < 0) == (near < 0), bits + 1, bits - 1).astype(bits.dtype).view(near.dtype)
    moves = (rest != 0) & np.isfinite(near) & ~np.isnan(rest) & (bits & 1 == 0)
    return np.where(moves, moved, near)
