"""Constants and ranges made on the device are those that NumPy makes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import creation
from tests._ops.evaluate import evaluate

F32 = np.dtype("float32")


def test_constants() -> None:
    assert_array_equal(evaluate(creation.zeros, static=((2, 3), F32)), np.zeros((2, 3), F32))
    assert_array_equal(evaluate(creation.ones, static=((2, 0), np.dtype("int8"))), np.ones((2, 0), np.int8))
    got = evaluate(creation.full, np.float32(-0.0), static=((2,), F32))
    assert np.signbit(got).tolist() == [True, True]
    assert evaluate(creation.full, np.float32(0.5), static=((2,), np.dtype("bool"))).tolist() == [True, True]
    assert evaluate(creation.full_like, np.ones((2, 1)), np.int8(3), static=(F32,)).tolist() == [[3], [3]]


def numpy_step(start: float, step: float, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.asarray(start).astype(dtype), np.asarray(start + step).astype(dtype)
    wide = np.float32 if np.dtype(dtype).itemsize < 4 else dtype
    return first, second.astype(wide) - first.astype(wide)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16])
@pytest.mark.parametrize(("start", "step"), [(0, 0.1), (-3.7, 0.37), (5, -0.3), (1, 3)])
def test_arange_of_reals(start: float, step: float, dtype: Any) -> None:
    count = 3000
    expected = np.arange(start, start + step * (count - 0.5), step, dtype=dtype)
    got = evaluate(creation.arange, *numpy_step(start, step, dtype), static=(count, np.dtype(dtype)))
    assert_array_equal(got.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_arange_of_integers(dtype: str) -> None:
    got = evaluate(creation.arange, np.asarray(100, dtype), np.asarray(3, dtype), static=(50, np.dtype(dtype)))
    assert_array_equal(got, np.arange(100, 250, 3, dtype=dtype))


LINES = [
    (0, 1, 10001, True),
    (-3, 7.7, 999, False),
    (1, 1, 1, True),
    (0, 1, 0, True),
    (0, 1, 1, False),
    (7, -7, 50, True),
]


@pytest.mark.parametrize(("start", "stop", "count", "endpoint"), LINES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_linspace(start: float, stop: float, count: int, endpoint: bool, dtype: str) -> None:
    got = evaluate(creation.linspace, np.float64(start), np.float64(stop), static=(count, np.dtype(dtype), endpoint))
    assert_array_equal(got, np.linspace(start, stop, count, endpoint=endpoint, dtype=dtype))


def test_linspace_of_complex_numbers() -> None:
    ends = np.complex128(1 + 2j), np.complex128(3 - 1j)
    got = evaluate(creation.linspace, *ends, static=(100, np.dtype("complex128"), True))
    assert_array_equal(got, np.linspace(*ends, 100))


@pytest.mark.parametrize("k", [-9, -1, 0, 2, 9])
def test_diagonals(k: int) -> None:
    assert_array_equal(evaluate(creation.eye, static=(3, 4, k, F32)), np.eye(3, 4, k))
    assert_array_equal(evaluate(creation.tri, static=(3, 4, k, F32)), np.tri(3, 4, k))


def test_negative_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"zeros: shape \(2, -1\) has a negative length"):
        creation.zeros((2, -1), F32)
    with pytest.raises(ValueError, match="eye: shape"):
        creation.eye(-1, 2, 0, F32)
