"""Elements at given positions along one axis."""

from __future__ import annotations

from .._base import dtypes
from .._graph import Node, definition
from ._gather import GATHER
from ._primitives import add, less, maximum, minimum, remainder, reshape, select, transpose
from ._rules import broadcast_shapes, broadcast_to, convert, normalize_axis, scalar
from .subscripts import from_end, getitem

# What becomes of positions out of range. "raise" does not: it counts negative ones from the end, and takes the nearest.
MODES = ("raise", "wrap", "clip")


def _in_range(indices: Node, length: int, mode: str) -> Node:
    """Positions from 0 to ``length``: modulo it, or the nearest."""
    if indices.dtype in dtypes.UNSIGNED:
        wide = convert(indices, dtypes.uint64)
        wide = minimum(wide, max(length - 1, 0)) if mode == "clip" else remainder(wide, max(length, 1))
        return convert(wide, dtypes.int64)
    wide = convert(indices, dtypes.int64)
    if mode == "clip":
        return minimum(maximum(wide, 0), max(length - 1, 0))
    rest = remainder(wide, max(length, 1))
    return select(less(rest, 0), add(rest, length), rest)


def _check_positions(function: str, indices: Node) -> None:
    if indices.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"{function}: indices of dtype {indices.dtype.name}; it takes integer dtypes")


@definition
def take(x: Node, indices: Node, axis: int | None, mode: str = "raise") -> Node:
    """``x``, flattened for None, at the positions ``indices`` along ``axis``, in whose place their axes go."""
    _check_positions("take", indices)
    if mode not in MODES:
        raise ValueError(f"take: mode={mode!r} is not known; use 'wrap' or 'clip'")
    if axis is None:
        x = reshape(x, (x.size,))
    k = normalize_axis("take", axis or 0, x.ndim)
    if mode != "raise":
        indices = _in_range(indices, x.shape[k], mode)
    whole = ("slice", None, None, None)
    return getitem(x, indices, (*(whole,) * k, ("array", 0)))


@definition
def take_along_axis(x: Node, indices: Node, axis: int) -> Node:
    """``x`` at the positions ``indices`` along ``axis``; the other axes of both go side by side and broadcast."""
    _check_positions("take_along_axis", indices)
    if x.ndim != indices.ndim:
        raise ValueError(
            f"take_along_axis: shape {x.shape} has {x.ndim} axes, indices of shape {indices.shape} have "
            f"{indices.ndim}; they must have as many"
        )
    k = normalize_axis("take_along_axis", axis, x.ndim)
    last = (*(i for i in range(x.ndim) if i != k), k)
    x, indices = transpose(x, last), transpose(indices, last)
    batch = broadcast_shapes("take_along_axis", x.shape[:-1], indices.shape[:-1])
    length, count = x.shape[-1], indices.shape[-1]
    if length == 0 and indices.size:
        raise IndexError(f"take_along_axis: axis {k} of length 0 has no element to take")
    shape = (*batch, count)
    if 0 in shape:
        taken = broadcast_to(scalar(0, x.dtype), shape)
    else:
        dtype = dtypes.int64 if length > 2**30 or indices.dtype.itemsize > 4 else dtypes.int32
        positions = broadcast_to(from_end(indices, length, dtype), shape)
        taken = GATHER(
            broadcast_to(x, (*batch, length)),
            reshape(positions, (*shape, 1)),
            axes=(len(batch),),
            window=(),
            batch=len(batch),
        )
    back = list(range(x.ndim - 1))
    back.insert(k, x.ndim - 1)
    return transpose(taken, tuple(back))
