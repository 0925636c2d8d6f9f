"""``x[index]`` and its update: slices, new axes, integer arrays, and positions that are known only at run time.

The static ``index`` is a tuple of

- an ``int``; ``("slice", start, stop, step)``, each an int or None; ``None``, a new axis; ``...``;
- ``("array", k)``: index array number k, of integers. Negative ones count from the end; reads take the nearest
  element for one that is out of range, updates drop it;
- ``("new_array", k)``: the same for a new axis of length 1, as a boolean of no dimensions asks for;
- ``("dynamic", k)``: like an int, but index array number k holds it, checked already and not negative. All positions
  of an axis then share one program;
- ``("dynamic_slice", k, size)``: ``size`` elements from the position that index array number k holds, likewise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .._base import dtypes
from .._graph import Node, definition
from ._gather import DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE, GATHER, SCATTER
from ._primitives import (
    add,
    bit_and,
    bit_or,
    concatenate,
    less,
    maximum,
    minimum,
    multiply,
    reshape,
    select,
    slice_region,
)
from ._rules import broadcast_shapes, broadcast_to, convert, scalar
from .data_types import nonzero_mask
from .manipulation import PAD, REVERSE

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import DType

Index: TypeAlias = tuple[Any, ...]


# ---- What an index means for a shape


@dataclass(frozen=True, slots=True)
class _Axis:
    """What the index takes of one axis of x: ``count`` elements from ``start`` (a node, or an int), ``step`` apart.

    ``reversed`` says that they come in reverse order.
    """

    start: int | Node
    count: int
    step: int = 1
    reversed: bool = False

    @property
    def offset(self) -> int:
        """The start, where it is static."""
        assert isinstance(self.start, int), self.start
        return self.start


@dataclass(frozen=True, slots=True)
class _Plan:
    """An index, read against a shape."""

    axes: tuple[_Axis, ...]
    # Shape after the basic part (slices, scalars dropped, new axes put in); integer arrays' axes are whole still.
    shape: tuple[int, ...]
    # In that shape: the axes that integer arrays index, and the arrays.
    array_axes: tuple[int, ...]
    arrays: tuple[Node, ...]
    # Where the axes of the integer arrays go in the result.
    position: int

    @property
    def region(self) -> tuple[int, ...]:
        """The shape of the part of x that is touched, axes not dropped yet."""
        return tuple(axis.count for axis in self.axes)


def _plan(function: str, shape: tuple[int, ...], index: Index, arrays: tuple[Node, ...]) -> _Plan:
    taken = sum(1 for entry in index if not _is_new(entry) and entry is not ...)
    if taken > len(shape):
        raise IndexError(f"{function}: {taken} indices for an array of shape {shape}; it takes at most {len(shape)}")
    ellipses = sum(1 for entry in index if entry is ...)
    if ellipses > 1:
        raise IndexError(f"{function}: the index has {ellipses} ellipses ('...'); it takes one at most")
    if not ellipses:
        index = (*index, ...)
    has_arrays = any(isinstance(entry, tuple) and entry[0] in ("array", "new_array") for entry in index)
    axes: list[_Axis] = []
    result: list[int] = []
    array_axes: list[int] = []
    chosen: list[Node] = []
    # Positions in the index, and in the result so far, of what NumPy calls advanced indices: beside integer
    # arrays, scalars are such too.
    advanced: list[tuple[int, int]] = []
    for place, entry in enumerate(index):
        if entry is None:
            result.append(1)
            continue
        if entry is ...:
            for length in shape[len(axes) : len(axes) + len(shape) - taken]:
                axes.append(_Axis(0, length))
                result.append(length)
            # An empty ellipsis separates advanced indices all the same.
            continue
        if _is_new(entry):
            chosen.append(_index_array(function, arrays[entry[1]]))
            array_axes.append(len(result))
            advanced.append((place, len(result)))
            result.append(1)
            continue
        axis = len(axes)
        length = shape[axis]
        if isinstance(entry, int):
            if not -length <= entry < length:
                raise IndexError(
                    f"{function}: index {entry} is out of bounds for axis {axis} of length {length}"
                    + (f"; use {-length}..{length - 1}" if length else "")
                )
            axes.append(_Axis(entry % length, 1))
            advanced.append((place, len(result)))
        elif entry[0] == "slice":
            axes.append(_sliced_axis(function, length, *entry[1:]))
            result.append(axes[-1].count)
        elif entry[0] == "dynamic":
            axes.append(_Axis(arrays[entry[1]], 1))
            advanced.append((place, len(result)))
        elif entry[0] == "dynamic_slice":
            if not 0 <= entry[2] <= length:
                raise IndexError(f"{function}: {entry[2]} elements of axis {axis} of length {length}")
            axes.append(_Axis(arrays[entry[1]], entry[2]))
            result.append(entry[2])
        elif entry[0] == "array":
            array = _index_array(function, arrays[entry[1]])
            if length == 0 and array.size:
                raise IndexError(f"{function}: axis {axis} of length 0 has no element for an index array to choose")
            axes.append(_Axis(0, length))
            chosen.append(array)
            array_axes.append(len(result))
            advanced.append((place, len(result)))
            result.append(length)
        else:
            raise TypeError(f"{function}: index entry {entry!r} is not known")
    position = 0
    if has_arrays:
        places = [place for place, _ in advanced]
        if places == list(range(places[0], places[0] + len(places))):
            position = advanced[0][1]
    return _Plan(tuple(axes), tuple(result), tuple(array_axes), tuple(chosen), position)


def _is_new(entry: Any) -> bool:
    return entry is None or (isinstance(entry, tuple) and entry[0] == "new_array")


def _index_array(function: str, array: Node) -> Node:
    if array.dtype not in dtypes.INTEGRAL:
        raise IndexError(f"{function}: index array of dtype {array.dtype.name}; it takes integer (or boolean) dtypes")
    return array


def _sliced_axis(function: str, length: int, start: int | None, stop: int | None, step: int | None) -> _Axis:
    if step == 0:
        raise ValueError(f"{function}: the step of a slice is 0; it must not be")
    positions = range(length)[slice(start, stop, step)]
    if not positions:
        return _Axis(0, 0)
    if len(positions) == 1:
        return _Axis(positions[0], 1)
    return _Axis(min(positions[0], positions[-1]), len(positions), abs(positions.step), positions.step < 0)


def _starts(axes: tuple[_Axis, ...]) -> tuple[Node, ...]:
    """The start positions as scalars of one dtype, as dynamic slices take them."""
    given = [axis.start for axis in axes if isinstance(axis.start, Node)]
    wide = any(node.dtype.itemsize > 4 or node.dtype == dtypes.uint32 for node in given)
    dtype = dtypes.int64 if wide else dtypes.int32
    if any(isinstance(axis.start, int) and axis.start > 2**31 - 1 for axis in axes):
        dtype = dtypes.int64
    return tuple(
        reshape(convert(axis.start, dtype), ()) if isinstance(axis.start, Node) else scalar(axis.start, dtype)
        for axis in axes
    )


def _index_vectors(plan: _Plan, batch: tuple[int, ...]) -> Node:
    """The plan's integer arrays as one array of index vectors, negative ones counted from the end."""
    lengths = [plan.shape[axis] for axis in plan.array_axes]
    wide = any(array.dtype.itemsize > 4 for array in plan.arrays) or max(lengths) > 2**30
    dtype = dtypes.int64 if wide else dtypes.int32
    columns = []
    for array, length in zip(plan.arrays, lengths, strict=True):
        column = broadcast_to(from_end(array, length, dtype), batch)
        columns.append(reshape(column, (*batch, 1)))
    return concatenate(tuple(columns), len(batch))


def from_end(array: Node, length: int, dtype: DType) -> Node:
    """Positions in an axis of ``length``, in a signed ``dtype``, negative ones counted from the end."""
    if array.dtype in dtypes.UNSIGNED:
        # Beyond the end stays beyond the end, also in a signed dtype.
        if length < 2 ** (8 * array.dtype.itemsize):
            array = minimum(array, length)
        return convert(array, dtype)
    array = convert(array, dtype)
    return select(less(array, 0), add(array, length), array)


# ---- Reading


@definition
def getitem(x: Node, *arguments: Any) -> Node:
    """``getitem(x, *index_arrays, index)``: ``x[index]``."""
    arrays, index = arguments[:-1], arguments[-1]
    plan = _plan("getitem", x.shape, index, arrays)
    return _take(_basic_read(x, plan), plan)


def _basic_read(x: Node, plan: _Plan) -> Node:
    return reshape(_read_region(x, plan.axes), plan.shape)


def _read_region(x: Node, axes: tuple[_Axis, ...]) -> Node:
    """The part of x that ``axes`` take, with all its axes."""
    if any(isinstance(axis.start, Node) for axis in axes):
        dynamic = tuple(
            axis if isinstance(axis.start, Node) or axis.step == 1 else _Axis(0, n)
            for axis, n in zip(axes, x.shape, strict=True)
        )
        x = DYNAMIC_SLICE(x, *_starts(dynamic), sizes=tuple(axis.count for axis in dynamic))
        axes = tuple(
            _Axis(0, axis.count, 1, axis.reversed) if isinstance(axis.start, Node) or axis.step == 1 else axis
            for axis in axes
        )
    starts = tuple(axis.offset for axis in axes)
    stops = tuple(axis.offset + max(0, (axis.count - 1) * axis.step + 1) for axis in axes)
    x = slice_region(x, starts, stops, tuple(axis.step for axis in axes))
    backwards = tuple(k for k, axis in enumerate(axes) if axis.reversed)
    return REVERSE(x, axes=backwards) if backwards else x


def _take(x: Node, plan: _Plan) -> Node:
    if not plan.arrays:
        return x
    batch = broadcast_shapes("getitem", *[array.shape for array in plan.arrays])
    window = _window(plan, batch)
    kept = [n for axis, n in enumerate(x.shape) if axis not in plan.array_axes]
    if 0 in batch or 0 in kept:
        shape = (*kept[: plan.position], *batch, *kept[plan.position :])
        return broadcast_to(scalar(0, x.dtype), shape)
    return GATHER(x, _index_vectors(plan, batch), axes=plan.array_axes, window=window)


def _window(plan: _Plan, batch: tuple[int, ...]) -> tuple[int, ...]:
    ndim = len(plan.shape) - len(plan.arrays) + len(batch)
    return tuple(k for k in range(ndim) if not plan.position <= k < plan.position + len(batch))


# ---- Updating

_COMBINE: dict[str, str | None] = {
    "set": None,
    "add": "stablehlo.add",
    "multiply": "stablehlo.multiply",
    "min": "stablehlo.minimum",
    "max": "stablehlo.maximum",
}
_COMBINE_BOOLEAN: dict[str, str | None] = {
    "set": None,
    "add": "stablehlo.or",
    "multiply": "stablehlo.and",
    "min": "stablehlo.and",
    "max": "stablehlo.or",
}
_COMBINERS: dict[str, Callable[[Node, Node], Node]] = {
    "stablehlo.add": add,
    "stablehlo.multiply": multiply,
    "stablehlo.minimum": minimum,
    "stablehlo.maximum": maximum,
    "stablehlo.or": bit_or,
    "stablehlo.and": bit_and,
}


@definition
def setitem(x: Node, value: Node, *arguments: Any) -> Node:
    """``setitem(x, value, *index_arrays, index, mode)``: x with ``value`` put, added, … at ``index``.

    ``value`` broadcasts to the shape of ``x[index]`` and is cast to x's dtype. Where index arrays name an element
    twice, "set" keeps the last value (on accelerators any of them) and the other modes combine all.
    """
    arrays, index, mode = arguments[:-2], arguments[-2], arguments[-1]
    operation = _operation(x, mode)
    plan = _plan("setitem", x.shape, index, arrays)
    batch = broadcast_shapes("setitem", *[array.shape for array in plan.arrays])
    kept = [n for axis, n in enumerate(plan.shape) if axis not in plan.array_axes]
    shape = (*kept[: plan.position], *batch, *kept[plan.position :])
    update = fit_value(value, shape, x)
    if 0 in shape:
        return x
    if plan.arrays:
        vectors = _index_vectors(plan, batch)
        whole = plan.shape == x.shape and all(
            axis.start == 0 and axis.count == n and not axis.reversed
            for axis, n in zip(plan.axes, x.shape, strict=True)
        )
        target = x if whole else _basic_read(x, plan)
        target = SCATTER(
            target,
            vectors,
            update,
            axes=plan.array_axes,
            window=_window(plan, batch),
            combine=operation,
            unique=False,
        )
        return target if whole else _write_region(x, reshape(target, plan.region), plan.axes)
    update = reshape(update, plan.region)
    if operation is not None:
        update = _COMBINERS[operation](_read_region(x, plan.axes), update)
    return _write_region(x, update, plan.axes)


def _operation(x: Node, mode: str) -> str | None:
    """The StableHLO operation that ``mode`` combines with; None to replace."""
    if mode not in _COMBINE:
        raise ValueError(f"setitem: mode {mode!r} is not known; use {', '.join(map(repr, _COMBINE))}")
    if x.dtype in dtypes.COMPLEX and mode in ("min", "max"):
        raise TypeError(f"setitem: mode {mode!r} does not take dtype {x.dtype.name}; complex numbers have no order")
    return (_COMBINE_BOOLEAN if x.dtype == dtypes.bool_ else _COMBINE)[mode]


def combine(mode: str, x: Node, update: Node) -> Node:
    """``x`` with ``update``, of its shape and dtype, put in its place, added, …"""
    operation = _operation(x, mode)
    return update if operation is None else _COMBINERS[operation](x, update)


def fit_value(value: Node, shape: tuple[int, ...], x: Node) -> Node:
    """``value`` in the dtype of ``x``, stretched to ``shape``; it may have too many leading axes of length 1."""
    if value.dtype in dtypes.COMPLEX and x.dtype not in dtypes.COMPLEX:
        raise TypeError(
            f"setitem: a {value.dtype.name} value does not fit in a {x.dtype.name} array; take real(value) first"
        )
    dtype = x.dtype
    extra = value.ndim - len(shape)
    inner = value.shape[extra:] if extra > 0 else value.shape
    fits = all(n in (1, m) for n, m in zip(inner[::-1], shape[::-1], strict=False))
    if not fits or (extra > 0 and math.prod(value.shape[:extra]) != 1):
        raise ValueError(
            f"setitem: a value of shape {value.shape} does not stretch to the indexed shape {shape}; its lengths, "
            "counted from the last, must equal those or be 1"
        )
    if dtype == dtypes.bool_ and value.dtype != dtypes.bool_:
        value = nonzero_mask(value)
    return broadcast_to(reshape(convert(value, dtype), inner), shape)


def _write_region(x: Node, update: Node, axes: tuple[_Axis, ...]) -> Node:
    """x with ``update`` in place of the part that ``axes`` take."""
    backwards = tuple(k for k, axis in enumerate(axes) if axis.reversed)
    if backwards:
        update = REVERSE(update, axes=backwards)
    if update.shape == x.shape and all(isinstance(axis.start, int) for axis in axes):
        return update
    if all(axis.step == 1 for axis in axes):
        return DYNAMIC_UPDATE_SLICE(x, update, *_starts(axes))
    if any(isinstance(axis.start, Node) for axis in axes):
        # The strided axes are written inside the part that the dynamic ones take.
        outer = tuple(
            axis if isinstance(axis.start, Node) else _Axis(0, n) for axis, n in zip(axes, x.shape, strict=True)
        )
        inner = tuple(
            _Axis(0, axis.count) if isinstance(axis.start, Node) else _Axis(axis.start, axis.count, axis.step)
            for axis in axes
        )
        return DYNAMIC_UPDATE_SLICE(x, _write_region(_read_region(x, outer), update, inner), *_starts(outer))
    # A stride spreads the update with gaps, and a mask says where it is.
    low = tuple(axis.offset for axis in axes)
    interior = tuple(axis.step - 1 for axis in axes)
    spans = tuple((axis.count - 1) * axis.step + 1 for axis in axes)
    high = tuple(n - start - span for n, start, span in zip(x.shape, low, spans, strict=True))
    spread = PAD(update, scalar(0, x.dtype), low=low, high=high, interior=interior)
    inside = PAD(
        broadcast_to(scalar(True, dtypes.bool_), update.shape),
        scalar(False, dtypes.bool_),
        low=low,
        high=high,
        interior=interior,
    )
    return select(inside, spread, x)
