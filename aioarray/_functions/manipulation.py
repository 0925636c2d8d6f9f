"""Manipulation functions of the array API standard: shapes, axes, joining and repeating."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._array import Array, ArrayLike, as_array, by_columns, call
from .._base.host_values import host_array
from .._dispatch.arguments import Axes, Shape, axes_of, axis_of, integer_of, order_of, shape_of
from .._ops import manipulation, searching
from .._ops._rules import broadcast_shapes as _broadcast_shapes
from .._ops._rules import normalize_axis
from .creation import asarray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.dtypes import Scalar

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


def broadcast_arrays(*arrays: ArrayLike) -> tuple[Array, ...]:
    """The arrays stretched to their common shape. ``ValueError`` where they do not broadcast.

    >>> [x.shape for x in aio.broadcast_arrays(aio.ones((2, 1)), aio.ones(3))]
    [(2, 3), (2, 3)]
    """
    return call(manipulation.broadcast_arrays, arrays) if arrays else ()


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that the given ones broadcast to. ``ValueError`` where they do not.

    >>> aio.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return _broadcast_shapes("broadcast_shapes", *[shape_of("broadcast_shapes", shape) for shape in shapes])


def broadcast_to(x: ArrayLike, /, shape: Shape) -> Array:
    """``x`` stretched to ``shape`` by the broadcasting rules. ``ValueError`` where it does not stretch.

    >>> aio.broadcast_to(aio.asarray([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    return call(manipulation.broadcast_to, (x,), shape_of("broadcast_to", shape))


def concat(arrays: Sequence[ArrayLike], /, axis: int | None = 0) -> Array:
    """The arrays one after another along ``axis`` (None: flattened first), in their common dtype.

    ``ValueError`` where they differ in another axis.

    >>> aio.concat([aio.asarray([1, 2]), aio.asarray([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return call(manipulation.concat, tuple(arrays), None if axis is None else axis_of("concat", axis))


def expand_dims(x: ArrayLike, /, axis: int | tuple[int, ...] = 0) -> Array:
    """``x`` with axes of length 1 at the positions ``axis`` of the result. ``IndexError`` for one that it has not.

    >>> aio.expand_dims(aio.ones((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    return call(manipulation.expand_dims, (x,), _some_axes("expand_dims", axis))


def flip(x: ArrayLike, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """``x`` with the order of its elements reversed along ``axis``; None for all axes.

    >>> aio.flip(aio.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    return call(manipulation.flip, (x,), axes_of("flip", axis))


def moveaxis(x: ArrayLike, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """``x`` with the axes ``source`` at the positions ``destination``; the others keep their order.

    >>> aio.moveaxis(aio.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return call(manipulation.moveaxis, (x,), _some_axes("moveaxis", source), _some_axes("moveaxis", destination))


def _some_axes(function: str, axis: int | tuple[int, ...]) -> Axes:
    if axis is None:
        raise TypeError(f"{function}: axis None is no integer or tuple of integers")
    return axes_of(function, axis)


def permute_dims(x: ArrayLike, /, axes: tuple[int, ...]) -> Array:
    """``x`` with its axes in the order ``axes``, which names each of them once.

    >>> aio.permute_dims(aio.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return call(manipulation.permute_dims, (x,), order_of("permute_dims", axes))


def repeat(
    x: ArrayLike,
    repeats: int | ArrayLike,
    /,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array:
    """``x`` with every element along ``axis`` repeated ``repeats`` times; flattened first if that is None.

    ``repeats`` may be an array, one number for each element. The shape of the result depends on its values, so an Array
    is read: await it before. With ``size`` (the first so many, then ``fill_value``) nothing is read, and it works
    inside jit.

    >>> aio.repeat(aio.asarray([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    >>> aio.repeat(aio.asarray([1, 2]), aio.asarray([3, 0]))
    Array([1, 1, 1], dtype=int32)
    >>> aio.repeat(aio.asarray([1, 2]), aio.asarray([2, 1]), size=4, fill_value=-1)
    Array([ 1,  1,  2, -1], dtype=int32)
    """
    place = None if axis is None else axis_of("repeat", axis)
    if size is not None:
        array = as_array("repeat", x)
        filling = host_array("repeat", fill_value, array.dtype).astype(array.dtype).item()
        return call(
            searching.repeat, (array, as_array("repeat", repeats)), place, integer_of("repeat", "size", size), filling
        )
    return as_array("repeat", x).repeat(repeats, axis)


def reshape(x: ArrayLike, /, shape: Shape, order: Literal["C", "F", "A"] = "C", *, copy: bool | None = None) -> Array:
    """``x`` in ``shape``, in row-major order; one length may be -1, and is filled in.

    With ``order="F"`` elements are read and put with the first axis running fastest. ``ValueError`` where the number of
    elements differs, and for ``copy=False`` where the shape does, since XLA writes a new array.

    >>> aio.reshape(aio.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    lengths = shape_of("reshape", shape)
    if copy is False and isinstance(x, Array) and lengths != x.shape:
        raise ValueError(f"reshape: shape {x.shape} to {lengths} takes a copy, and copy=False; use copy=None")
    by_column = order != "C" and by_columns("reshape", order)
    return call(manipulation.reshape_by_columns if by_column else manipulation.reshape, (x,), lengths)


def roll(x: ArrayLike, /, shift: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None) -> Array:
    """``x`` with elements moved ``shift`` places along ``axis``, those that leave re-entering; None: flattened.

    >>> aio.roll(aio.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    places = axes_of("roll", shift)
    return call(manipulation.roll, (x,), places, axes_of("roll", axis))


def squeeze(x: ArrayLike, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """``x`` without the axes ``axis``, which must have length 1; None for all that have. ``ValueError`` for others.

    >>> aio.squeeze(aio.ones((1, 3, 1)), 0).shape
    (3, 1)
    """
    return call(manipulation.squeeze, (x,), axes_of("squeeze", axis))


def stack(arrays: Sequence[ArrayLike], /, axis: int = 0) -> Array:
    """Arrays of one shape along a new axis, in their common dtype. ``ValueError`` where shapes differ.

    >>> aio.stack([aio.asarray([1, 2]), aio.asarray([3, 4])], axis=1)
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return call(manipulation.stack, tuple(arrays), axis_of("stack", axis))


def tile(x: ArrayLike, repetitions: Shape, /) -> Array:
    """``x`` repeated as a whole, ``repetitions`` times along each axis.

    >>> aio.tile(aio.asarray([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    return call(manipulation.tile, (x,), shape_of("tile", repetitions))


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of ``x`` along ``axis``, without that axis.

    >>> aio.unstack(aio.asarray([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    place = axis_of("unstack", axis)
    x = x if isinstance(x, Array) else asarray(x)
    if x.ndim and x.shape[normalize_axis("unstack", place, x.ndim)] == 0:
        return ()
    return call(manipulation.unstack, (x,), place)
