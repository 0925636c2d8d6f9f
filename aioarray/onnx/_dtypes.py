"""ONNX's element types and the dtypes they are here."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx

_PROTO = onnx.TensorProto

# Those that Arrays have.
ON_DEVICE: dict[int, np.dtype[Any]] = {
    _PROTO.FLOAT: np.dtype(np.float32),
    _PROTO.UINT8: np.dtype(np.uint8),
    _PROTO.INT8: np.dtype(np.int8),
    _PROTO.UINT16: np.dtype(np.uint16),
    _PROTO.INT16: np.dtype(np.int16),
    _PROTO.INT32: np.dtype(np.int32),
    _PROTO.INT64: np.dtype(np.int64),
    _PROTO.BOOL: np.dtype(np.bool_),
    _PROTO.FLOAT16: np.dtype(np.float16),
    _PROTO.DOUBLE: np.dtype(np.float64),
    _PROTO.UINT32: np.dtype(np.uint32),
    _PROTO.UINT64: np.dtype(np.uint64),
    _PROTO.COMPLEX64: np.dtype(np.complex64),
    _PROTO.COMPLEX128: np.dtype(np.complex128),
    _PROTO.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    _PROTO.FLOAT8E4M3FN: np.dtype(ml_dtypes.float8_e4m3fn),
    _PROTO.FLOAT8E4M3FNUZ: np.dtype(ml_dtypes.float8_e4m3fnuz),
    _PROTO.FLOAT8E5M2: np.dtype(ml_dtypes.float8_e5m2),
    _PROTO.FLOAT8E5M2FNUZ: np.dtype(ml_dtypes.float8_e5m2fnuz),
    _PROTO.UINT4: np.dtype(ml_dtypes.uint4),
    _PROTO.INT4: np.dtype(ml_dtypes.int4),
    _PROTO.FLOAT4E2M1: np.dtype(ml_dtypes.float4_e2m1fn),
    _PROTO.FLOAT8E8M0: np.dtype(ml_dtypes.float8_e8m0fnu),
}
# Those that only constants can have; a string is a Python str, in an array of objects.
ON_HOST: dict[int, np.dtype[Any]] = {
    _PROTO.STRING: np.dtype(object),
    _PROTO.UINT2: np.dtype(ml_dtypes.uint2),
    _PROTO.INT2: np.dtype(ml_dtypes.int2),
}
DTYPES = ON_DEVICE | ON_HOST
# Elements of less than a byte, and how many bits they have in a file.
BITS: dict[int, int] = {_PROTO.UINT4: 4, _PROTO.INT4: 4, _PROTO.FLOAT4E2M1: 4, _PROTO.UINT2: 2, _PROTO.INT2: 2}


def type_name(number: int) -> str:
    """What ONNX calls an element type."""
    names: dict[int, str] = {value: name for name, value in _PROTO.DataType.items()}
    return names.get(number, f"number {number}")
