"""Sorting functions of the array API standard."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import axis_of, integer_of
from .._ops import sorting
from .._ops._rules import normalize_axis
from .complex import imag, real
from .data_types import astype
from .indexing import take_along_axis
from .manipulation import broadcast_arrays, reshape, unstack

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex", "top_k"]


def sort(x: ArrayLike, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """``x`` sorted along ``axis`` (None: flattened); NaN goes last in both directions.

    With ``stable``, zeros keep their order whatever their signs. Complex numbers go by real, then by imaginary part.

    >>> aio.sort(aio.asarray([3, 1, 2]), descending=True)
    Array([3, 2, 1], dtype=int32)
    """
    place = None if axis is None else axis_of("sort", axis)
    return call(sorting.sort, (x,), place, bool(descending), bool(stable))


def argsort(x: ArrayLike, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The positions that sort ``x`` along ``axis``, as ``sort`` does.

    With ``stable``, equal elements keep their order.

    >>> aio.argsort(aio.asarray([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    place = None if axis is None else axis_of("argsort", axis)
    return call(sorting.argsort, (x,), place, bool(descending), bool(stable))


def top_k(x: ArrayLike, k: int, /, *, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The ``k`` greatest (or least) along ``axis``, in order, and where they are; NaN counts as neither.

    ``ValueError`` for more than there are, ``TypeError`` for complex numbers.

    >>> aio.top_k(aio.asarray([4, 9, 1, 7]), 2)
    (Array([9, 7], dtype=int32), Array([1, 3], dtype=int32))
    """
    return call(sorting.top_k, (x,), integer_of("top_k", "k", k), axis_of("top_k", axis), bool(largest))


def partition(x: ArrayLike, kth: int | Sequence[int], /, axis: int | None = -1) -> Array:
    """``x`` along ``axis`` (None: flattened) with the elements ``kth`` where sorting puts them, lesser ones before.

    XLA has no faster way than to sort it all. ``ValueError`` for a ``kth`` out of range.

    >>> aio.partition(aio.asarray([3, 1, 2]), 1)
    Array([1, 2, 3], dtype=int32)
    """
    array, k = _partitioned("partition", x, kth, axis)
    return sort(array, axis=k, stable=False)


def argpartition(x: ArrayLike, kth: int | Sequence[int], /, axis: int | None = -1) -> Array:
    """The positions that ``partition`` takes its elements from.

    >>> aio.argpartition(aio.asarray([3, 1, 2]), 1)
    Array([1, 2, 0], dtype=int32)
    """
    array, k = _partitioned("argpartition", x, kth, axis)
    return argsort(array, axis=k, stable=False)


def _partitioned(function: str, x: ArrayLike, kth: int | Sequence[int], axis: int | None) -> tuple[Array, int]:
    array = as_array(function, x)
    if axis is None:
        array, axis = reshape(array, (array.size,)), 0
    k = normalize_axis(function, axis_of(function, axis), array.ndim)
    length = array.shape[k]
    for n in (kth,) if isinstance(kth, SupportsIndex) else kth:
        if not -length <= operator.index(n) < length:
            raise ValueError(f"{function}: kth={n} of axis {axis} with length {length}; use {-length}..{length - 1}")
    return array, k


@fused(sequences=("keys",))
def lexsort(keys: Sequence[ArrayLike] | ArrayLike, /, axis: int = -1) -> Array:
    """The positions that sort by several keys along ``axis``: by the last one, equal ones by the one before, and so on.

    ``keys`` are arrays that broadcast, or those along the first axis of one. ``ValueError`` for none.

    >>> aio.lexsort((aio.asarray([1, 0, 2]), aio.asarray([5, 5, 4])))
    Array([2, 1, 0], dtype=int32)
    """
    several = list(keys) if isinstance(keys, (list, tuple)) else list(unstack(as_array("lexsort", keys)))
    if not several:
        raise ValueError("lexsort: no keys given; it takes at least one")
    first, *others = [broadcast_arrays(key, *several)[0] for key in several]
    k = normalize_axis("lexsort", axis_of("lexsort", axis), first.ndim)
    order = argsort(first, axis=k)
    for key in others:
        order = take_along_axis(order, argsort(take_along_axis(key, order, axis=k), axis=k), axis=k)
    return order


@fused
def sort_complex(x: ArrayLike, /) -> Array:
    """The elements along the last axis in order, by their real and then their imaginary parts, as complex numbers.

    Numeric dtypes; ``ValueError`` for no axes.

    >>> aio.sort_complex(aio.asarray([2 + 1j, 1 + 0j, 2 - 1j]))
    Array([1.+0.j, 2.-1.j, 2.+1.j], dtype=complex64)
    """
    array = as_array("sort_complex", x)
    if array.ndim == 0:
        raise ValueError("sort_complex: an array without axes has no order; use reshape(x, (1,))")
    if array.dtype not in dtypes.COMPLEX:
        target = dtypes.complex128 if array.dtype.itemsize > 4 else dtypes.complex64
        return astype(sort(array, axis=-1), target)
    return take_along_axis(array, lexsort((imag(array), real(array)), axis=-1), axis=-1)
