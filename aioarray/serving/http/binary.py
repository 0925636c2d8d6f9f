"""The binary tensor data extension: a JSON header, and behind it the tensors' bytes, little-endian and row-major.

https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md
"""

from __future__ import annotations

import math
import struct
import sys
from typing import Any, Final

import numpy as np

from ..._base.errors import InvalidInputError
from ..models.tensors import DATATYPES, HostArray

LENGTH_HEADER: Final = "Inference-Header-Content-Length"
_LENGTH: Final = struct.Struct("<I")


def split(body: bytes, header_length: str | None) -> tuple[memoryview, memoryview]:
    """The JSON and the bytes behind it. Without the header all of the body is JSON."""
    view = memoryview(body)
    if header_length is None:
        return view, view[:0]
    if not (header_length.isascii() and header_length.isdigit() and len(header_length) < 20):
        raise InvalidInputError(f"{LENGTH_HEADER} is {header_length[:40]!r}; it must be a number of bytes")
    length = int(header_length)
    if length > len(view):
        raise InvalidInputError(f"{LENGTH_HEADER} is {length}, and the body has {len(view)} bytes")
    return view[:length], view[length:]


def from_bytes(data: memoryview, name: str, shape: tuple[int, ...], where: str) -> HostArray:
    """The array whose elements are ``data``. It may share memory with it."""
    count = math.prod(shape)
    if name == "BYTES":
        return _texts(data, count, where).reshape(shape)
    dtype = DATATYPES[name]
    if len(data) != count * dtype.itemsize:
        raise InvalidInputError(
            f"{where}: shape {list(shape)} of {name} is {count * dtype.itemsize} bytes, and binary_data_size says "
            f"{len(data)}"
        )
    if name == "BOOL":
        flags = np.frombuffer(data, np.uint8)
        if flags.size and flags.max() > 1:
            raise InvalidInputError(f"{where}: a byte of BOOL is neither 0 nor 1")
        return flags.view(np.bool_).reshape(shape)
    values: HostArray = np.frombuffer(data, dtype)
    if sys.byteorder == "big":
        values = values.byteswap()
    return values.reshape(shape)


def to_bytes(array: HostArray) -> bytes:
    """The bytes of ``array``."""
    if array.dtype == object:
        return b"".join(part for item in array.reshape(-1) for part in (_LENGTH.pack(len(item)), item))
    if sys.byteorder == "big":
        array = array.byteswap()
    return array.tobytes()


def _texts(data: memoryview, count: int, where: str) -> HostArray:
    # Each has 4 bytes of length: so many elements cannot be in fewer bytes, whatever the shape claims.
    if count * _LENGTH.size > len(data):
        raise InvalidInputError(f"{where}: {count} elements of BYTES do not fit into {len(data)} bytes")
    result: Any = np.empty(count, object)
    position = 0
    for place in range(count):
        start = position + _LENGTH.size
        if start > len(data):
            raise InvalidInputError(f"{where}: the data ends within element {place}")
        (length,) = _LENGTH.unpack_from(data, position)
        position = start + length
        if position > len(data):
            raise InvalidInputError(f"{where}: element {place} is {length} bytes, more than there are")
        result[place] = bytes(data[start:position])
    if position != len(data):
        raise InvalidInputError(f"{where}: {len(data) - position} bytes are left behind the last element")
    array: HostArray = result
    return array
