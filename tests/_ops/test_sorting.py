"""Sorting against NumPy: every dtype, both directions, NaN last, zeros in their order, subnormal numbers exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import sorting
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

REALS = ["float32", "float64", "float16", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
INTEGERS = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"]
EACH_DTYPE = pytest.mark.parametrize("dtype", [*REALS, *INTEGERS])
DESCENDING = pytest.mark.parametrize("descending", [False, True])


def sample(dtype: Any, seed: int = 0, count: int = 120) -> np.ndarray:
    """Numbers of all kinds, many of them equal."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
        x[:60] = rng.integers(0, 4, 60).astype(dtype)
        x[60:63] = limits.min, limits.max, 0
    else:
        x = rng.normal(size=count).astype(dtype)
        x[:60] = rng.choice(np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1]), 60).astype(dtype)
        bits = x.view(f"int{8 * x.dtype.itemsize}")
        bits[60:66] = 1, 2, 3, 3, 1, 2  # the smallest subnormal numbers
        bits[66:68] |= np.iinfo(bits.dtype).min
    return np.asarray(rng.permutation(x))


def comparable(x: np.ndarray) -> np.ndarray:
    """In a dtype that NumPy sorts."""
    return x if x.dtype.kind in "iub" else x.astype(np.float64)


def expected_order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    key = comparable(x)
    if descending:
        key = -key if key.dtype.kind == "f" else ~key
    return np.argsort(key, axis=axis, kind="stable")


def assert_identical(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal, with the signs of zeros."""
    assert got.dtype == expected.dtype
    a, b = comparable(got), comparable(expected)
    assert_array_equal(a, b)
    if a.dtype.kind == "f":
        numbers = ~np.isnan(a)
        assert_array_equal(np.signbit(a[numbers]), np.signbit(b[numbers]))


@EACH_DTYPE
@DESCENDING
@pytest.mark.parametrize("axis", [0, -1])
def test_sort_and_argsort(dtype: Any, descending: bool, axis: int) -> None:
    x = sample(dtype).reshape(6, 20)
    order = expected_order(x, axis, descending)
    got = evaluate(sorting.argsort, x, static=(axis, descending, True))
    assert got.dtype == np.int32
    assert_array_equal(got, order)
    expected = np.take_along_axis(x, order, axis)
    assert_identical(evaluate(sorting.sort, x, static=(axis, descending, True)), expected)
    got = evaluate(sorting.sort, x, static=(axis, descending, False))
    assert_array_equal(comparable(got), comparable(expected))


def complex_sample() -> np.ndarray:
    z = np.empty(120, np.complex64)
    z.real, z.imag = sample("float32", 1), sample("float32", 2)
    return z


def test_complex_numbers_as_numpy() -> None:
    z = complex_sample()
    assert_array_equal(evaluate(sorting.argsort, z, static=(0, False, True)), np.argsort(z, kind="stable"))
    assert_array_equal(evaluate(sorting.sort, z, static=(0, False, True)), np.sort(z, kind="stable"))


def test_complex_numbers_descending() -> None:
    z = complex_sample()
    z = z[~np.isnan(z)]
    got = evaluate(sorting.argsort, z, static=(0, True, True))
    assert_array_equal(got, np.argsort(-z, kind="stable"))


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0), (0, 3)], ids=str)
def test_little_to_sort(shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    assert evaluate(sorting.sort, x, static=(-1, False, True)).shape == shape
    assert evaluate(sorting.argsort, x, static=(-1, False, True)).shape == shape


@EACH_DTYPE
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("axis", "k"), [(-1, 5), (0, 200), (1, 0)])
def test_top_k(dtype: Any, largest: bool, axis: int, k: int) -> None:
    x = sample(dtype, count=600).reshape((200, 3) if axis == 0 else (3, 200))
    values, positions = evaluate(sorting.top_k, x, static=(k, axis, largest))
    order = np.take(expected_order(x, axis, largest), range(k), axis)
    assert positions.dtype == np.int32
    assert_array_equal(positions, order)
    assert_identical(values, np.take_along_axis(x, order, axis))


def test_refuses() -> None:
    with pytest.raises(ValueError, match="k=4 of axis 0 with length 3"):
        sorting.top_k(node((3,)), 4, 0, True)
    with pytest.raises(TypeError, match="top_k: dtype complex64"):
        sorting.top_k(node((3,), "complex64"), 1, 0, True)
    with pytest.raises(IndexError, match="sort: axis 1 is out of range"):
        sorting.sort(node((3,)), 1, False, True)
    with pytest.raises(IndexError, match="argsort: axis 0 is out of range"):
        sorting.argsort(node(()), 0, False, True)
