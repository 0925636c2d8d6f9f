"""The dtypes under their public names: scalar types, as NumPy has them, which ``x.dtype`` compares equal to.

Types, not ``numpy.dtype`` objects: of those, ``dtype("float64") == None`` is True, which is no help to programs that
compare.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

__all__ = [
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float16",
    "float32",
    "float64",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

bool: type[np.bool_] = np.bool_
int8: type[np.int8] = np.int8
int16: type[np.int16] = np.int16
int32: type[np.int32] = np.int32
int64: type[np.int64] = np.int64
uint8: type[np.uint8] = np.uint8
uint16: type[np.uint16] = np.uint16
uint32: type[np.uint32] = np.uint32
uint64: type[np.uint64] = np.uint64
float16: type[np.float16] = np.float16
float32: type[np.float32] = np.float32
float64: type[np.float64] = np.float64
complex64: type[np.complex64] = np.complex64
complex128: type[np.complex128] = np.complex128
bfloat16: type[np.generic] = ml_dtypes.bfloat16
int4: type[np.generic] = ml_dtypes.int4
uint4: type[np.generic] = ml_dtypes.uint4
float8_e4m3fn: type[np.generic] = ml_dtypes.float8_e4m3fn
float8_e5m2: type[np.generic] = ml_dtypes.float8_e5m2
float8_e4m3b11fnuz: type[np.generic] = ml_dtypes.float8_e4m3b11fnuz
float8_e4m3fnuz: type[np.generic] = ml_dtypes.float8_e4m3fnuz
float8_e5m2fnuz: type[np.generic] = ml_dtypes.float8_e5m2fnuz
