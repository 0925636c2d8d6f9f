"""NumPy's indices of diagonals, triangles and open grids, for ``x[...]`` and ``x.at[...]``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from .._array import Array, ArrayLike, as_array, from_host
from .._base.host_values import host_array
from .._ops._rules import index_dtype
from .manipulation import reshape
from .matrices import diag

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "ix_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]


def _arrays(places: Sequence[np.ndarray], length: int) -> tuple[Array, ...]:
    return tuple(from_host(place.astype(index_dtype(length))) for place in places)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Where the elements on and below diagonal ``k`` of an ``n`` by ``m`` (None: square) matrix are: rows, columns.

    >>> aio.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = operator.index(n), operator.index(n if m is None else m)
    first, second = _arrays(np.tril_indices(rows, operator.index(k), columns), max(rows, columns))
    return first, second


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Where the elements on and above diagonal ``k`` of an ``n`` by ``m`` (None: square) matrix are: rows, columns.

    >>> aio.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = operator.index(n), operator.index(n if m is None else m)
    first, second = _arrays(np.triu_indices(rows, operator.index(k), columns), max(rows, columns))
    return first, second


def tril_indices_from(x: ArrayLike, /, k: int = 0) -> tuple[Array, Array]:
    """``tril_indices`` of a matrix of this shape. ``ValueError`` for other numbers of axes.

    >>> aio.tril_indices_from(aio.ones((2, 2)), -1)
    (Array([1], dtype=int32), Array([0], dtype=int32))
    """
    rows, columns = _matrix("tril_indices_from", x)
    return tril_indices(rows, k, columns)


def triu_indices_from(x: ArrayLike, /, k: int = 0) -> tuple[Array, Array]:
    """``triu_indices`` of a matrix of this shape. ``ValueError`` for other numbers of axes.

    >>> aio.triu_indices_from(aio.ones((2, 2)), 1)
    (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    rows, columns = _matrix("triu_indices_from", x)
    return triu_indices(rows, k, columns)


def _matrix(function: str, x: ArrayLike) -> tuple[int, int]:
    shape = as_array(function, x).shape
    if len(shape) != 2:
        raise ValueError(f"{function}: shape {shape}; it takes a matrix")
    return shape[0], shape[1]


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Where the main diagonal of an array of ``ndim`` axes of length ``n`` is: the same positions along each.

    >>> aio.diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    length = operator.index(n)
    return _arrays([np.arange(length)] * operator.index(ndim), length)


def diag_indices_from(x: ArrayLike, /) -> tuple[Array, ...]:
    """``diag_indices`` of this array, whose axes are of one length. ``ValueError`` for others, and below two axes.

    >>> aio.diag_indices_from(aio.ones((2, 2)))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    shape = as_array("diag_indices_from", x).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise ValueError(f"diag_indices_from: shape {shape}; it takes at least two axes, all of one length")
    return diag_indices(shape[0], len(shape))


def diagflat(x: ArrayLike, /, k: int = 0) -> Array:
    """A square matrix with the elements of ``x``, flattened, on diagonal ``k`` and zeros elsewhere. Any dtype, kept.

    >>> aio.diagflat(aio.asarray([[1, 2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return diag(reshape(x, (-1,)), operator.index(k))


def ix_(*vectors: ArrayLike) -> tuple[Array, ...]:
    """Each vector along an axis of its own, so that ``x[ix_(rows, columns)]`` are all the crossings.

    Integers; a vector of bools stands for the positions where it is true, for which an Array is read: await it before.
    ``ValueError`` for what is no vector.

    >>> x = aio.arange(12).reshape(3, 4)
    >>> x[aio.ix_([0, 2], [1, 3])]
    Array([[ 1,  3],
           [ 9, 11]], dtype=int32)
    """
    result: list[Array] = []
    for k, vector in enumerate(vectors):
        array = vector if isinstance(vector, Array) else None
        dtype = array.dtype if array is not None else host_array("ix_", vector).dtype
        if dtype == np.bool_:
            (places,) = np.nonzero(np.asarray(vector))
            array = _arrays([places], np.size(places))[0]
        elif array is None:
            host = host_array("ix_", vector)
            array = from_host(host if host.size else host.astype(index_dtype(0)))
        if array.ndim != 1:
            raise ValueError(f"ix_: an argument of shape {array.shape}; it takes vectors")
        result.append(reshape(array, tuple(-1 if j == k else 1 for j in range(len(vectors)))))
    return tuple(result)
