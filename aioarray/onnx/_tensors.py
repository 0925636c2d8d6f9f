"""Tensors of a file as NumPy arrays: sizes are checked against the data before memory is taken."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from ..errors import FormatError
from ._dtypes import BITS, DTYPES, type_name

if TYPE_CHECKING:
    from pathlib import Path

_PROTO = onnx.TensorProto
# A sparse tensor may claim any size, whatever its data.
MAX_SPARSE_BYTES = 1 << 28
MAX_AXES = 64

# Where the elements are if not in ``raw_data``, and how many entries of it an element has.
_FIELDS: dict[int, tuple[str, int]] = {
    _PROTO.FLOAT: ("float_data", 1),
    _PROTO.COMPLEX64: ("float_data", 2),
    _PROTO.DOUBLE: ("double_data", 1),
    _PROTO.COMPLEX128: ("double_data", 2),
    _PROTO.INT64: ("int64_data", 1),
    _PROTO.UINT32: ("uint64_data", 1),
    _PROTO.UINT64: ("uint64_data", 1),
    _PROTO.STRING: ("string_data", 1),
}


def tensor(proto: onnx.TensorProto, where: str, folder: Path | None) -> np.ndarray[Any, Any]:
    """The array that ``proto`` holds; ``where`` names it in errors. External data is read from ``folder``."""
    dtype = DTYPES.get(proto.data_type)
    if dtype is None:
        raise FormatError(f"{where}: has the element type {type_name(proto.data_type)}, which aioarray does not have")
    shape = tuple(proto.dims)
    if len(shape) > MAX_AXES or any(n < 0 for n in shape):
        raise FormatError(f"{where}: has the shape {shape[:MAX_AXES]}; it takes up to {MAX_AXES} lengths from 0 on")
    count = math.prod(shape)
    if proto.HasField("segment"):
        raise FormatError(f"{where}: is a segment of a tensor; aioarray takes whole ones")
    if proto.data_location == _PROTO.EXTERNAL:
        return _external(proto, where, folder, dtype, shape, count)
    if proto.HasField("raw_data"):
        return _from_bytes(proto.raw_data, proto.data_type, where, dtype, shape, count)
    field, each = _FIELDS.get(proto.data_type, ("int32_data", 1))
    bits = BITS.get(proto.data_type)
    expected = -(-count * bits // 8) if bits else count * each
    found = len(getattr(proto, field))
    if found != expected:
        raise FormatError(f"{where}: has the shape {shape}, but {found} entries of {field} instead of {expected}")
    if dtype == np.dtype(object):
        return np.array([_text(data, where) for data in proto.string_data], object).reshape(shape)
    try:
        return np.asarray(numpy_helper.to_array(proto)).astype(dtype, copy=False).reshape(shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"{where}: cannot be read: {error}") from None


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{where}: has a text that is not UTF-8: {data[:40]!r}") from None


def _bytes_of(data_type: int, dtype: np.dtype[Any], count: int) -> int:
    bits = BITS.get(data_type)
    return -(-count * bits // 8) if bits else count * dtype.itemsize


def _from_bytes(
    data: Any, data_type: int, where: str, dtype: np.dtype[Any], shape: tuple[int, ...], count: int
) -> np.ndarray[Any, Any]:
    expected = _bytes_of(data_type, dtype, count)
    if dtype == np.dtype(object):
        raise FormatError(f"{where}: holds texts as raw data, which ONNX does not allow")
    if len(data) != expected:
        raise FormatError(
            f"{where}: has the shape {shape} and dtype {dtype.name}, {expected} bytes, but {len(data)} bytes of data"
        )
    bits = BITS.get(data_type)
    if bits is None:
        values = np.frombuffer(data, dtype.newbyteorder("<") if dtype.kind in "iufc" else dtype)
        if dtype == np.dtype(bool) and values.size and values.view(np.uint8).max() > 1:
            raise FormatError(f"{where}: has a boolean that is neither 0 nor 1")
        return values.astype(dtype, copy=False).reshape(shape)
    packed = np.frombuffer(data, np.uint8)
    each = 8 // bits
    codes = np.stack([(packed >> (bits * place)) & ((1 << bits) - 1) for place in range(each)], axis=-1)
    codes = codes.reshape(-1)[:count]
    if data_type in (_PROTO.INT4, _PROTO.INT2):
        signed = codes.astype(np.int8)
        codes = np.where(signed >= 1 << (bits - 1), signed - (1 << bits), signed).astype(np.int8)
        return codes.astype(dtype).reshape(shape)
    if data_type == _PROTO.FLOAT4E2M1:
        return codes.view(dtype).reshape(shape)
    return codes.astype(dtype).reshape(shape)


def _external(
    proto: onnx.TensorProto,
    where: str,
    folder: Path | None,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    count: int,
) -> np.ndarray[Any, Any]:
    entries = {entry.key: entry.value for entry in proto.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise FormatError(
            f"{where}: its data is in another file, {location!r}, but the model was given as bytes; load it by its path"
        )
    if not location or os.path.isabs(location) or "\0" in location:
        raise FormatError(f"{where}: its data is said to be in {location!r}; it takes a path relative to the model's")
    path = (folder / location).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise FormatError(f"{where}: its data is said to be in {location!r}, which is outside of the model's folder")
    try:
        offset = int(entries.get("offset", "0"))
        length = int(entries["length"]) if "length" in entries else None
    except ValueError:
        raise FormatError(f"{where}: the place of its data, {entries}, is no number of bytes") from None
    expected = _bytes_of(proto.data_type, dtype, count)
    if length is not None and length != expected:
        raise FormatError(f"{where}: has {expected} bytes by its shape and dtype, but {length} in {location!r}")
    try:
        if not path.is_file():
            raise FormatError(f"{where}: its data is said to be in {location!r}, which is no file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if offset < 0 or offset + expected > size:
                raise FormatError(
                    f"{where}: its data is said to be {expected} bytes at {offset} of {location!r}, which has {size}"
                )
            data = np.empty(expected, np.uint8)
            file.seek(offset)
            if file.readinto(data.data) != expected:
                raise FormatError(f"{where}: {location!r} was cut off while it was read")
    except OSError as error:
        raise FormatError(f"{where}: its data in {location!r} cannot be read: {error.strerror}") from None
    return _from_bytes(data.data, proto.data_type, where, dtype, shape, count)


def sparse_tensor(proto: onnx.SparseTensorProto, where: str, folder: Path | None) -> np.ndarray[Any, Any]:
    """The dense array that a sparse tensor stands for."""
    values, indices = tensor(proto.values, where, folder), tensor(proto.indices, where, folder)
    shape = tuple(proto.dims)
    if any(n < 0 for n in shape) or math.prod(shape) * values.itemsize > MAX_SPARSE_BYTES:
        raise FormatError(f"{where}: a sparse tensor of shape {shape}; aioarray takes up to {MAX_SPARSE_BYTES} bytes")
    if values.ndim != 1 or indices.shape not in ((values.size,), (values.size, len(shape))):
        raise FormatError(
            f"{where}: a sparse tensor with values of shape {values.shape} at indices of shape {indices.shape}"
        )
    if indices.ndim == 2:
        if indices.size and ((indices < 0) | (indices >= np.asarray(shape))).any():
            raise FormatError(f"{where}: a sparse tensor has indices out of its shape {shape}")
        indices = np.ravel_multi_index(tuple(indices.T), shape) if indices.size else indices.reshape(0).astype(np.int64)
    count = math.prod(shape)
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise FormatError(f"{where}: a sparse tensor has indices out of its shape {shape}")
    dense = np.zeros(count, values.dtype)
    dense[indices] = values
    return dense.reshape(shape)
