"""Set functions of the array API standard: distinct values, membership.

How many distinct values there are depends on the values, so an Array is read: await it before. With ``size`` nothing is
read, and the functions work inside jit.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._array import Array, ArrayLike, as_array, call, from_host
from .._base.host_values import host_array
from .._ops import sets
from .._ops._rules import index_dtype

if TYPE_CHECKING:
    from .._base.dtypes import Scalar

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """What ``unique_all`` gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What ``unique_counts`` gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What ``unique_inverse`` gives."""

    values: Array
    inverse_indices: Array


def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: Scalar | None = None) -> UniqueAll:
    """The distinct values of ``x``, sorted; where each occurs first; which one each element is; how often each occurs.

    Positions are in the flattened array; NaN are all distinct. With ``size``, the least so many: where there are
    fewer, ``fill_value`` follows, or else the least again, with a count of 0; where there are more, the elements that
    are none of them have ``size`` or more in ``inverse_indices``.

    >>> values, indices, inverse, counts = aio.unique_all(aio.asarray([3, 1, 3]))
    >>> values, indices
    (Array([1, 3], dtype=int32), Array([1, 0], dtype=int32))
    >>> inverse, counts
    (Array([1, 0, 1], dtype=int32), Array([1, 2], dtype=int32))
    """
    if size is not None:
        return UniqueAll(*unique_of_size("unique_all", x, size, False, fill_value))
    value = np.asarray(x)
    found = np.unique(value, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    values, indices, inverse, counts = found
    dtype = index_dtype(value.size)
    device = x.device if isinstance(x, Array) else None
    positions = (indices, inverse.reshape(value.shape), counts)
    return UniqueAll(from_host(values, device), *(from_host(part.astype(dtype), device) for part in positions))


def unique_of_size(
    function: str, x: ArrayLike, size: int, equal_nan: bool, fill_value: Scalar | None
) -> tuple[Array, ...]:
    """Values, indices, inverse and counts, of a length that does not depend on values."""
    array = as_array(function, x)
    if fill_value is not None:
        fill_value = host_array(function, fill_value, array.dtype).astype(array.dtype).item()
    return call(sets.unique, (array,), operator.index(size), equal_nan, fill_value)


def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: Scalar | None = None) -> UniqueCounts:
    """The distinct values of ``x``, sorted, and how often each occurs.

    ``size`` and ``fill_value`` as for ``unique_all``.

    >>> aio.unique_counts(aio.asarray([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    found = unique_all(x, size=size, fill_value=fill_value)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: ArrayLike, /, *, size: int | None = None, fill_value: Scalar | None = None) -> UniqueInverse:
    """The distinct values of ``x``, sorted, and which one each element is.

    ``size`` and ``fill_value`` as for ``unique_all``.

    >>> aio.unique_inverse(aio.asarray([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    found = unique_all(x, size=size, fill_value=fill_value)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: Scalar | None = None) -> Array:
    """The distinct values of ``x``, sorted. ``size`` and ``fill_value`` as for ``unique_all``.

    >>> aio.unique_values(aio.asarray([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique_all(x, size=size, fill_value=fill_value).values


def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: bool = False) -> Array:
    """Whether each element of ``x1`` equals an element of ``x2``; with ``invert``, whether it equals none.

    >>> aio.isin(aio.asarray([1, 2, 3]), aio.asarray([3, 1]))
    Array([ True, False,  True], dtype=bool)
    """
    return call(sets.isin, (x1, x2), bool(invert))
