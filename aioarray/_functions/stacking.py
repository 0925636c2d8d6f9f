"""NumPy's everyday ways of putting arrays side by side, and of giving them more axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array import Array, ArrayLike, as_array, fused
from .manipulation import concat, reshape, unstack

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "block", "column_stack", "dstack", "hstack", "vstack"]


def atleast_1d(x: ArrayLike, /) -> Array:
    """``x``; a number as a vector of one element.

    >>> aio.atleast_1d(3)
    Array([3], dtype=int32)
    """
    array = as_array("atleast_1d", x)
    return array if array.ndim else reshape(array, (1,))


def atleast_2d(x: ArrayLike, /) -> Array:
    """``x``; a vector as a matrix of one row, a number as a matrix of one element.

    >>> aio.atleast_2d(aio.arange(3)).shape
    (1, 3)
    """
    array = as_array("atleast_2d", x)
    return array if array.ndim >= 2 else reshape(array, (1, array.size))


def atleast_3d(x: ArrayLike, /) -> Array:
    """``x``; with an axis before and one after for a vector, with one after for a matrix.

    >>> aio.atleast_3d(aio.arange(3)).shape, aio.atleast_3d(aio.ones((2, 3))).shape
    ((1, 3, 1), (2, 3, 1))
    """
    array = as_array("atleast_3d", x)
    if array.ndim >= 3:
        return array
    return reshape(array, (*array.shape, 1) if array.ndim == 2 else (1, array.size, 1))


def _items(function: str, arrays: Sequence[ArrayLike] | ArrayLike) -> list[Array]:
    """The arrays; those along the first axis if one array is given."""
    if not isinstance(arrays, (list, tuple)):
        arrays = unstack(as_array(function, arrays))
    if not arrays:
        raise ValueError(f"{function}: no arrays given; it takes at least one")
    return [as_array(function, x) for x in arrays]


@fused(sequences=("arrays",))
def hstack(arrays: Sequence[ArrayLike], /) -> Array:
    """The arrays one after another along the second axis; vectors along their only one.

    ``ValueError`` where they differ in another axis.

    >>> aio.hstack([aio.asarray([1, 2]), aio.asarray([3])])
    Array([1, 2, 3], dtype=int32)
    """
    items = [atleast_1d(x) for x in _items("hstack", arrays)]
    return concat(items, axis=0 if items[0].ndim == 1 else 1)


@fused(sequences=("arrays",))
def vstack(arrays: Sequence[ArrayLike], /) -> Array:
    """The arrays one below another, vectors as rows. ``ValueError`` where they differ in another axis than the first.

    >>> aio.vstack([aio.asarray([1, 2]), aio.asarray([3, 4])])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return concat([atleast_2d(x) for x in _items("vstack", arrays)], axis=0)


@fused(sequences=("arrays",))
def dstack(arrays: Sequence[ArrayLike], /) -> Array:
    """The arrays one behind another along the third axis, as ``atleast_3d`` makes them.

    >>> aio.dstack([aio.asarray([1, 2]), aio.asarray([3, 4])])
    Array([[[1, 3],
            [2, 4]]], dtype=int32)
    """
    return concat([atleast_3d(x) for x in _items("dstack", arrays)], axis=2)


@fused(sequences=("arrays",))
def column_stack(arrays: Sequence[ArrayLike], /) -> Array:
    """The arrays side by side, vectors as columns. ``ValueError`` where they differ in another axis than the second.

    >>> aio.column_stack([aio.asarray([1, 2]), aio.asarray([3, 4])])
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    items = _items("column_stack", arrays)
    return concat([x if x.ndim >= 2 else reshape(x, (x.size, 1)) for x in items], axis=1)


def block(arrays: Any, /) -> Array:
    """One array of nested lists of blocks: those of the innermost lists side by side along the last axis, and so on.

    Dtypes promote. ``ValueError`` for blocks whose shapes do not fit, for an empty list and for unequal nesting.

    >>> aio.block([[aio.eye(2), aio.zeros((2, 1))], [aio.ones((1, 3))]])
    Array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    depth = _depth(arrays)
    leaves: list[Array] = []
    structure = _flattened(arrays, depth, leaves)
    if depth == 0:
        return leaves[0].copy()
    return _block(leaves, depth=depth, structure=structure)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) and arrays else 0


def _flattened(arrays: Any, depth: int, leaves: list[Array]) -> Any:
    """The blocks into ``leaves``, and how they were nested."""
    if isinstance(arrays, list) != (depth > 0) or (depth and not arrays):
        raise ValueError("block: the lists are empty or nested unequally; nest all blocks equally deep")
    if depth == 0:
        leaves.append(as_array("block", arrays))
        return None
    return tuple(_flattened(x, depth - 1, leaves) for x in arrays)


@fused(sequences=("leaves",))
def _block(leaves: Sequence[ArrayLike], /, *, depth: int, structure: Any) -> Array:
    arrays = [as_array("block", x) for x in leaves]
    axes = max(depth, *(x.ndim for x in arrays))
    rest = iter([reshape(x, (*(1,) * (axes - x.ndim), *x.shape)) for x in arrays])

    def joined(part: Any, level: int) -> Array:
        if part is None:
            return next(rest)
        return concat([joined(x, level - 1) for x in part], axis=axes - level)

    return joined(structure, depth)
