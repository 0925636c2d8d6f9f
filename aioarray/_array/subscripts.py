"""What stands between the brackets of ``x[...]``, taken apart: a static part, and the arrays in it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .._base.dtypes import bool_

# See ``_ops.indexing`` for what the entries of the static part mean.
Parsed = tuple[tuple[Any, ...], list[Any]]


# What reading a mask is called in messages.
MASK = "x[mask]"


def parse(shape: tuple[int, ...], index: Any, array_type: type[Any]) -> Parsed:
    """The static part of ``index`` into an array of ``shape``, and the index arrays it refers to by number.

    Integers are passed as index arrays too, so that all positions share one program. Boolean masks are read, since the
    shape of the result depends on them. Raises ``IndexError`` for an integer that is out of range, too many indices, or
    something that is no index.
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    consumed = sum(_dimensions(entry, array_type) for entry in entries)
    if consumed > len(shape):
        raise IndexError(f"getitem: {consumed} indices for an array of shape {shape}; it takes at most {len(shape)}")
    static: list[Any] = []
    arrays: list[Any] = []
    axis = 0
    for entry in entries:
        if entry is None:
            static.append(None)
        elif entry is ...:
            static.append(...)
            axis += len(shape) - consumed
        elif isinstance(entry, slice):
            static.append(slice_entry(entry))
            axis += 1
        elif isinstance(entry, (int, np.integer)) and not isinstance(entry, (bool, np.bool_)):
            static.append(("dynamic", len(arrays)))
            arrays.append(_position(int(entry), axis, shape[axis]))
            axis += 1
        else:
            axis += _parse_array(entry, shape, axis, static, arrays, array_type)
    return tuple(static), arrays


def slice_entry(index: slice) -> tuple[Any, ...]:
    """What stands for a slice in the static part."""
    start, stop, step = index.start, index.stop, index.step
    if (start is None or type(start) is int) and (stop is None or type(stop) is int) and step is None:
        return "slice", start, stop, None
    return "slice", _bound(index.start), _bound(index.stop), _bound(index.step)


def selects_without_reading(shape: tuple[int, ...], index: Any, value: Any) -> bool:
    """Whether ``x[index] = value`` is a choice between x and ``value``.

    So it is for a mask, if the value has length 1 along the axis that stands for the mask's, or has no such axis: it
    does not matter then how many places are true.
    """
    if getattr(index, "dtype", None) != bool_ or index.shape != shape[: index.ndim]:
        return False
    lengths = np.shape(value) if not hasattr(value, "shape") else value.shape
    inner = len(shape) - index.ndim
    return len(lengths) <= inner or bool(lengths[-inner - 1] == 1)


def _parse_array(
    entry: Any, shape: tuple[int, ...], axis: int, static: list[Any], arrays: list[Any], array_type: type[Any]
) -> int:
    """Append what an array between the brackets stands for; give how many axes it takes."""
    value: Any = entry if isinstance(entry, array_type) else np.asarray(entry)
    if value.dtype == bool_:
        mask = value._host_value(MASK) if isinstance(value, array_type) else value
        lengths = shape[axis : axis + mask.ndim]
        # As in NumPy, a mask may also have length 0 where the array has another: it chooses nothing.
        if len(lengths) != mask.ndim or any(m not in (n, 0) for m, n in zip(mask.shape, lengths, strict=True)):
            raise IndexError(
                f"getitem: the boolean index has shape {mask.shape}, but the axes it stands for have lengths "
                f"{lengths}; they must agree"
            )
        if mask.ndim == 0:
            static.append(("new_array", len(arrays)))
            arrays.append(np.zeros(int(mask), np.int32))
            return 0
        for positions in np.nonzero(mask):
            static.append(("array", len(arrays)))
            arrays.append(positions)
        return int(mask.ndim)
    if value.dtype == object or (value.size == 0 and not isinstance(entry, (np.ndarray, array_type))):
        value = np.asarray(entry, np.int32) if np.size(entry) == 0 else value
    if value.dtype.kind not in "iu":
        raise IndexError(
            f"getitem: {type(entry).__name__} of dtype {value.dtype} is no index; use integers, slices, None, '...', "
            "and arrays of integers or booleans"
        )
    static.append(("array", len(arrays)))
    arrays.append(value)
    return 1


def _dimensions(entry: Any, array_type: type[Any]) -> int:
    if entry is None or entry is ...:
        return 0
    if isinstance(entry, (slice, int, np.integer)) and not isinstance(entry, bool):
        return 1
    value: Any = entry if isinstance(entry, array_type) else np.asarray(entry)
    return int(value.ndim) if value.dtype == bool_ else 1


def _bound(value: Any) -> int | None:
    return value if value is None or type(value) is int else int(operator.index(value))


def _position(index: int, axis: int, length: int) -> int:
    if not -length <= index < length:
        allowed = f"; use {-length}..{length - 1}" if length else ""
        raise IndexError(f"getitem: index {index} is out of bounds for axis {axis} of length {length}{allowed}")
    return index % length
