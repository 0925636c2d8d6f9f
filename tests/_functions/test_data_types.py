"""Data type functions of the standard."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio

FLOATS = ["float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
INTEGERS = ["int8", "uint8", "int32", "uint64", ml_dtypes.int4, ml_dtypes.uint4]


def test_astype() -> None:
    x = aio.asarray([1.7, -1.7])
    assert aio.astype(x, "int8").tolist() == [1, -1]
    assert aio.astype(x, x.dtype, copy=False) is x
    assert aio.astype(x, x.dtype) is not x
    assert aio.astype(x, np.float64, device=x.device).dtype == np.float64
    with pytest.raises(TypeError, match="is not a dtype"):
        aio.astype(x, "float31")


@pytest.mark.parametrize("dtype", FLOATS)
def test_finfo(dtype: Any) -> None:
    info, expected = aio.finfo(dtype), ml_dtypes.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal"):
        value = getattr(info, name)
        assert type(value) is float
        assert value == float(getattr(expected, name))
    assert (type(info.bits), info.bits) == (int, 8 * np.dtype(dtype).itemsize)
    assert info.dtype == dtype


def test_finfo_of_arrays_and_complex_dtypes() -> None:
    assert aio.finfo("complex128").dtype == np.float64
    assert aio.finfo(aio.zeros(2, dtype="complex64")).bits == 32
    with pytest.raises(TypeError, match=r"finfo: dtype int32 .* use iinfo"):
        aio.finfo("int32")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_iinfo(dtype: Any) -> None:
    info, expected = aio.iinfo(dtype), ml_dtypes.iinfo(dtype)
    assert (info.bits, info.min, info.max) == (expected.bits, expected.min, expected.max)
    assert all(type(value) is int for value in (info.bits, info.min, info.max))
    assert info.dtype == dtype


def test_iinfo_of_arrays() -> None:
    assert aio.iinfo(aio.arange(2)).bits == 32
    with pytest.raises(TypeError, match=r"iinfo: dtype bool .* use finfo"):
        aio.iinfo("bool")


def test_can_cast() -> None:
    assert aio.can_cast("int8", "int16")
    assert aio.can_cast("uint8", "int16")
    assert aio.can_cast("float32", "complex64")
    assert not aio.can_cast("int16", "int8")
    assert not aio.can_cast("int8", "uint64")
    assert not aio.can_cast("float64", "float32")
    assert not aio.can_cast(ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)
    assert aio.can_cast(aio.ones(2), "float64")


KINDS = {
    "bool": ["bool"],
    "signed integer": ["int8", "int64", ml_dtypes.int4],
    "unsigned integer": ["uint8", "uint64", ml_dtypes.uint4],
    "integral": ["int8", "uint64"],
    "real floating": FLOATS,
    "complex floating": ["complex64", "complex128"],
    "numeric": ["int8", "uint64", "float32", "complex64"],
}


def test_isdtype() -> None:
    for kind, members in KINDS.items():
        assert all(aio.isdtype(np.dtype(dtype), kind) for dtype in members), kind
    assert not aio.isdtype(np.dtype("bool"), "numeric")
    assert aio.isdtype(np.dtype("int8"), np.dtype("int8"))
    assert aio.isdtype(np.dtype("int8"), (np.dtype("int16"), "signed integer"))
    assert not aio.isdtype(np.dtype("int8"), ())
    with pytest.raises(ValueError, match="kind 'integer' is not known"):
        aio.isdtype(np.dtype("int8"), "integer")


def test_result_type() -> None:
    assert aio.result_type("int8", "uint8") == np.int16
    assert aio.result_type(aio.ones(2), 1, 2.5) == np.float32
    assert aio.result_type(aio.ones(2, dtype="int8"), 1.0) == np.float32
    assert aio.result_type(aio.ones(2, dtype="float16"), 1j) == np.complex64
    assert aio.result_type("int8", True) == np.int8
    assert aio.result_type(np.float64(1), np.ones(2, np.float32)) == np.float64
    with pytest.raises(ValueError, match="at least one array or dtype"):
        aio.result_type(1, 2.0)
    with pytest.raises(TypeError, match="do not promote"):
        aio.result_type(ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)
