"""Tensors in JSON and in bytes: everything a client may claim is checked before it is used."""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from aioarray.errors import InvalidInputError
from aioarray.serving.http import binary
from aioarray.serving.models import tensors

NUMBERS = {name: dtype for name, dtype in tensors.DATATYPES.items() if name != "BYTES"}


@given(data=st.data(), name=st.sampled_from(sorted(set(NUMBERS) - {"BF16"})))
@settings(max_examples=60, deadline=None)
def test_arrays_come_back_from_json_and_from_bytes(data: st.DataObject, name: str) -> None:
    shape = data.draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    finite = {"allow_nan": False, "allow_infinity": False} if NUMBERS[name].kind == "f" else {}
    elements = npst.from_dtype(NUMBERS[name], **finite)  # type: ignore[arg-type]
    array = data.draw(npst.arrays(NUMBERS[name], shape, elements=elements))
    values = tensors.to_json(array, "y")
    np.testing.assert_array_equal(tensors.from_json(values, name, shape, "x"), array)
    if array.ndim:
        np.testing.assert_array_equal(tensors.from_json(array.tolist(), name, shape, "x"), array)
    np.testing.assert_array_equal(
        binary.from_bytes(memoryview(binary.to_bytes(array)), name, shape, "x"), array, strict=True
    )


def test_bfloat16() -> None:
    array = np.array([1.5, -2.0, 3.140625], ml_dtypes.bfloat16)
    assert tensors.datatype(array.dtype) == "BF16"
    assert tensors.to_json(array, "y") == [1.5, -2.0, 3.140625]
    np.testing.assert_array_equal(tensors.from_json([1.5, -2, 3.14], "BF16", (3,), "x"), array)
    np.testing.assert_array_equal(binary.from_bytes(memoryview(array.tobytes()), "BF16", (3,), "x"), array)


@given(st.lists(st.binary(max_size=20), max_size=8))
@settings(max_examples=30, deadline=None)
def test_bytes_come_back(texts: list[bytes]) -> None:
    array = np.empty(len(texts), object)
    array[:] = texts
    back = binary.from_bytes(memoryview(binary.to_bytes(array)), "BYTES", array.shape, "x")
    assert back.tolist() == texts


def test_strings_come_back() -> None:
    array = tensors.from_json(["", "héllo", "\x00"], "BYTES", (3,), "x")
    assert array.tolist() == [b"", "héllo".encode(), b"\x00"]
    assert tensors.to_json(array, "y") == ["", "héllo", "\x00"]


@pytest.mark.parametrize(
    ("data", "name", "shape", "reason"),
    [
        (None, "FP32", (1,), "must be a list"),
        ({}, "FP32", (1,), "must be a list"),
        ([1, 2, 3], "FP32", (2,), "2 elements, and data has 3"),
        ([], "FP32", (1,), "1 elements, and data has 0"),
        ([1.0], "FP32", (1 << 40,), "and data has 1"),
        ([[1, 2], [3]], "FP32", (2, 2), "1 elements where dimension 1 of the shape is 2"),
        ([[1, 2], 3], "FP32", (2, 2), "dimension 1"),
        ([[[1]]], "FP32", (1,), "a list"),
        ([[1]], "FP32", (1,), "a list"),
        (["1"], "FP32", (1,), "elements of FP32"),
        ([None], "FP32", (1,), "elements of FP32"),
        ([True], "FP32", (1,), "elements of FP32"),
        ([{}], "INT32", (1,), "elements of INT32"),
        ([1.0], "INT32", (1,), "elements of INT32"),
        ([2**31], "INT32", (1,), "from -2147483648 to 2147483647"),
        ([-1], "UINT8", (1,), "from 0 to 255"),
        ([256, 0], "UINT8", (2,), "from 0 to 255"),
        ([1.8446744073709552e19], "UINT64", (1,), "elements of UINT64"),
        ([70000], "FP16", (1,), "too large for FP16"),
        ([1e39], "FP32", (1,), "too large for FP32"),
        ([10**400], "FP64", (1,), "too large for FP64"),
        ([0], "BOOL", (1,), "elements of BOOL"),
        ([1], "BYTES", (1,), "strings"),
        (["a"], "BYTES", (2,), "2 elements"),
    ],
)
def test_json_that_is_not_the_tensor_it_claims(data: Any, name: str, shape: tuple[int, ...], reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        tensors.from_json(data, name, shape, "x")


@pytest.mark.parametrize(
    ("data", "name", "shape", "reason"),
    [
        (b"123", "FP32", (1,), "is 4 bytes"),
        (b"12345678", "FP32", (1,), "is 4 bytes"),
        (b"", "FP64", (1 << 40, 1 << 40), "bytes"),
        (b"\x02", "BOOL", (1,), "neither 0 nor 1"),
        (b"abc", "BYTES", (1,), "do not fit"),
        (b"", "BYTES", (1 << 40,), "do not fit"),
        (struct.pack("<I", 5) + b"abc", "BYTES", (1,), "more than there are"),
        (struct.pack("<I", 2**32 - 1) + b"abc", "BYTES", (1,), "more than there are"),
        (struct.pack("<I", 1) + b"abc", "BYTES", (1,), "2 bytes are left"),
        (struct.pack("<I", 2) + b"abcd", "BYTES", (2,), "ends within"),
    ],
)
def test_bytes_that_are_not_the_tensor_they_claim(data: bytes, name: str, shape: tuple[int, ...], reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        binary.from_bytes(memoryview(data), name, shape, "x")


@pytest.mark.parametrize("shape", [None, "3", 3, [-1], [1.0], [True], ["1"], [None], [1 << 41], [2**63], [1] * 33])
def test_shapes_that_are_none(shape: object) -> None:
    with pytest.raises(InvalidInputError, match="shape"):
        tensors.read_shape(shape, "x")


@pytest.mark.parametrize("name", [None, 1, [], "fp32", "FLOAT", "FP32 ", "", "X" * 10_000])
def test_data_types_that_are_none(name: object) -> None:
    with pytest.raises(InvalidInputError, match="datatype") as caught:
        tensors.read_datatype(name, "x")
    assert len(str(caught.value)) < 400


def test_a_claim_allocates_nothing() -> None:
    tracemalloc.start()
    try:
        for name in ("FP64", "BYTES"):
            with pytest.raises(InvalidInputError):
                binary.from_bytes(memoryview(b"1234"), name, (1 << 35,), "x")
            with pytest.raises(InvalidInputError):
                tensors.from_json([1], name, (1 << 35,), "x")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_json_has_no_word_for_it(value: float, dtype: Any) -> None:
    array = np.array([1.0, value], dtype)
    with pytest.raises(InvalidInputError, match="ask for binary data"):
        tensors.to_json(array, "output 'y'")
    back = binary.from_bytes(memoryview(binary.to_bytes(array)), tensors.datatype(array.dtype), (2,), "x")
    assert back.tobytes() == array.tobytes()


def test_dtypes_without_a_name() -> None:
    with pytest.raises(TypeError, match="complex64"):
        tensors.datatype(np.dtype(np.complex64))
