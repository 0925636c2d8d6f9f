"""Operators that order elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._registry import operator
from .._values import Tensor, as_array, axes_in_range, cast, is_known

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("TopK")
def top_k_by_attribute(call: Call, x: Tensor) -> tuple[Tensor, ...]:
    return _top_k(call, x, call.integer("k"))


@operator("TopK", since=10)
def top_k(call: Call, x: Tensor, k: Tensor) -> tuple[Tensor, ...]:
    return _top_k(call, x, int(call.scalar(k, "how many elements to give")))


def _top_k(call: Call, x: Tensor, k: int) -> tuple[Tensor, ...]:
    values, places = aio.top_k(x, k, axis=call.integer("axis", -1), largest=bool(call.integer("largest", 1)))
    return values, cast(places, np.int64)


@operator("Unique")
def unique(call: Call, x: Tensor) -> tuple[Tensor, ...]:
    axis = call.get("axis")
    if axis is not None:
        return _unique_slices(call, x, _axis_of(x, axis))
    return _unique_slices(call, _one_axis(x), 0)


def _axis_of(x: Tensor, axis: int) -> int:
    """``axis`` counted from the front."""
    return axes_in_range([axis], x.ndim)[0]


def _one_axis(x: Tensor) -> Tensor:
    """``x`` as one axis."""
    return x.reshape(-1) if is_known(x) else aio.reshape(x, (x.size,))


def _unique_slices(call: Call, x: Tensor, axis: int) -> tuple[Tensor, ...]:
    value = call.host(x, "how many elements are distinct")
    # NumPy compares slices as a whole, also those of dtypes that it does not sort itself.
    wide = value if value.dtype.kind in "biufc" else value.astype(np.float64)
    found, first, inverse, counts = np.unique(
        wide, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    order: Any = np.arange(first.size)
    if not call.integer("sorted", 1):
        order = np.argsort(first, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        inverse = place[inverse]
    values = np.take(found, order, axis=axis).astype(value.dtype)
    results = values, first[order].astype(np.int64), inverse.astype(np.int64), counts[order].astype(np.int64)
    return results if is_known(x) else tuple(map(as_array, results))
