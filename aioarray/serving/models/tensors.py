"""Tensors as the Open Inference Protocol names and writes them: data types, shapes, values in JSON."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import ml_dtypes
import numpy as np

from ..._base.errors import InvalidInputError

HostArray: TypeAlias = np.ndarray[Any, Any]

# The protocol's names. BYTES are strings of any length; as an array they are objects of type `bytes`.
DATATYPES: Final[dict[str, np.dtype[Any]]] = {
    "BOOL": np.dtype(np.bool_),
    "UINT8": np.dtype(np.uint8),
    "UINT16": np.dtype(np.uint16),
    "UINT32": np.dtype(np.uint32),
    "UINT64": np.dtype(np.uint64),
    "INT8": np.dtype(np.int8),
    "INT16": np.dtype(np.int16),
    "INT32": np.dtype(np.int32),
    "INT64": np.dtype(np.int64),
    "FP16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "FP32": np.dtype(np.float32),
    "FP64": np.dtype(np.float64),
    "BYTES": np.dtype(object),
}
_NAMES: Final = {dtype: name for name, dtype in DATATYPES.items()}
_FLOATS: Final = ("FP16", "BF16", "FP32", "FP64")

MAX_RANK: Final = 32
MAX_LENGTH: Final = 1 << 40


def datatype(dtype: np.dtype[Any]) -> str:
    """The protocol's name of a dtype. ``TypeError`` if it has none (complex numbers, 4 and 8 bit floats)."""
    name = _NAMES.get(dtype)
    if name is None:
        raise TypeError(f"the Open Inference Protocol has no data type for {dtype}; it has {', '.join(DATATYPES)}")
    return name


def read_datatype(value: object, where: str) -> str:
    """A data type that a client names."""
    if isinstance(value, str) and value in DATATYPES:
        return value
    raise InvalidInputError(f"{where}: datatype is {_short(value)}; it must be one of {', '.join(DATATYPES)}")


def read_shape(value: object, where: str) -> tuple[int, ...]:
    """A shape that a client claims. Nothing is allocated for it before its data was seen."""
    if not isinstance(value, list) or not all(type(n) is int and 0 <= n <= MAX_LENGTH for n in value):
        got = (
            f"{value[:8]}" if isinstance(value, list) and all(type(n) in (int, float) for n in value) else _short(value)
        )
        raise InvalidInputError(f"{where}: shape is {got}; it must be a list of integers from 0 to {MAX_LENGTH}")
    if len(value) > MAX_RANK:
        raise InvalidInputError(f"{where}: shape has {len(value)} dimensions; at most {MAX_RANK} are allowed")
    return tuple(value)


def from_json(data: object, name: str, shape: tuple[int, ...], where: str) -> HostArray:
    """The array of JSON values, flat in row-major order or nested as ``shape`` says.

    ``InvalidInputError`` for values of other kinds, out of the data type's range, or of another number.
    """
    if not isinstance(data, list):
        raise InvalidInputError(f"{where}: data is {_short(data)}; it must be a list")
    if data and isinstance(data[0], list):
        data = _flat(data, shape, where)
    count = math.prod(shape)
    if len(data) != count:
        raise InvalidInputError(f"{where}: shape {list(shape)} has {count} elements, and data has {len(data)}")
    values = _texts(data, where) if name == "BYTES" else _numbers(data, name, where)
    return values.reshape(shape)


def to_json(array: HostArray, where: str) -> list[Any]:
    """The values of ``array``, flat. ``InvalidInputError`` where JSON has no way to write them."""
    flat = array.reshape(-1)
    if array.dtype == object:
        try:
            return [item.decode() for item in flat]
        except UnicodeDecodeError:
            raise InvalidInputError(f"{where} has bytes that are not UTF-8; ask for binary data") from None
    if array.dtype.kind not in "biu":
        # Narrow floats are written as the numbers that they are.
        flat = flat.astype(np.float64) if array.dtype != np.float32 else flat
        if not np.isfinite(flat).all():
            raise InvalidInputError(f"{where} has a NaN or an infinity, which JSON cannot write; ask for binary data")
    values: list[Any] = flat.tolist()
    return values


def _flat(data: list[Any], shape: tuple[int, ...], where: str) -> list[Any]:
    for axis, length in enumerate(shape[1:], 1):
        for part in data:
            if not isinstance(part, list) or len(part) != length:
                got = f"{len(part)} elements" if isinstance(part, list) else _short(part)
                raise InvalidInputError(f"{where}: data has {got} where dimension {axis} of the shape is {length}")
        data = [value for part in data for value in part]
    return data


def _texts(data: list[Any], where: str) -> HostArray:
    result = np.empty(len(data), object)
    for place, value in enumerate(data):
        if not isinstance(value, str):
            raise InvalidInputError(f"{where}: data has {_short(value)}; elements of BYTES are strings in JSON")
        result[place] = value.encode()
    return result


def _numbers(data: list[Any], name: str, where: str) -> HostArray:
    allowed = (bool,) if name == "BOOL" else (int, float) if name in _FLOATS else (int,)
    kinds = set(map(type, data))
    if not kinds <= set(allowed):
        wrong = next(value for value in data if type(value) not in allowed)
        wanted = " or ".join(kind.__name__ for kind in allowed)
        raise InvalidInputError(f"{where}: data has {_short(wrong)}; elements of {name} are of JSON type {wanted}")
    dtype = DATATYPES[name]
    if name in _FLOATS:
        # Through float64, and the narrow ones rounded once; an overflow is the client's mistake, not a warning.
        try:
            wide = np.array(data, np.float64)
        except OverflowError:
            raise InvalidInputError(f"{where}: data has an integer too large for {name}") from None
        with np.errstate(over="ignore"):
            values = wide.astype(dtype)
        if not np.isfinite(values).all():
            raise InvalidInputError(f"{where}: data has a number too large for {name}")
        return values
    if dtype.kind in "iu" and data:
        limits = np.iinfo(dtype)
        least, most = min(data), max(data)
        if least < limits.min or most > limits.max:
            wrong = least if least < limits.min else most
            raise InvalidInputError(f"{where}: data has {wrong}; {name} goes from {limits.min} to {limits.max}")
    return np.array(data, dtype)


def _short(value: object) -> str:
    text = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
