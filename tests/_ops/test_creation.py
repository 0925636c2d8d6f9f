"""Constants and ranges made on the device are those that NumPy makes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._functions._ranges import exact_range
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


def nearest(value: Fraction, dtype: np.dtype) -> np.ndarray:
    """``value`` in ``dtype``, rounded once; the even one of two that are equally near."""
    near = np.asarray(float(value)).astype(dtype)
    bits = near.view(f"int{8 * near.itemsize}")
    around = [(bits + np.asarray(k, bits.dtype)).view(dtype) for k in (-1, 0, 1)]
    with np.errstate(all="ignore"):
        finite = [x for x in around if np.isfinite(x.astype(np.float64))]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(bits.dtype)) % 2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize(
    ("start", "step"),
    [(0.0, 0.1), (-3.7, 0.37), (5.0, -0.3), (1000.0, 0.001), (1 / 3, -1e-3), (256, 1), (1.0, 3.0), (0.1, 1e-17)],
)
def test_arange_of_reals_is_exact_and_rounded_once(start: float, step: float, dtype: Any) -> None:
    target = np.dtype(dtype)
    if target.itemsize == 1 and max(start, 100 * step) > 200:
        start /= 256  # within its range
    count = 400 if target.itemsize > 1 else 100
    expected = [nearest(Fraction(start) + i * Fraction(step), target) for i in range(count)]
    kind = np.int64 if isinstance(start, int) else np.float64
    got = evaluate(creation.arange, np.asarray(start, kind), np.asarray(step, kind), static=(count, target))
    assert_array_equal(got.astype(np.float64), np.asarray(expected).astype(np.float64))
    assert_array_equal(exact_range(start, step, count, target).astype(np.float64), got.astype(np.float64))


def test_arange_far_out_and_of_integers_beyond_what_the_dtype_holds() -> None:
    (last,) = evaluate(creation.arange, np.float64(0.1), np.float64(0.3), static=((1 << 26) + 3, F32))[-1:]
    assert last == nearest(Fraction(0.1) + ((1 << 26) + 2) * Fraction(0.3), F32)
    start = 2**60 + 2**36 + 1  # above the half of float32's step there
    (first,) = evaluate(creation.arange, np.int64(start), np.int64(1), static=(1, F32))
    assert first == nearest(Fraction(start), F32)
    halves = evaluate(creation.arange, np.float64(-1.0), np.float64(0.5), static=(6, np.dtype("int32")))
    assert halves.tolist() == [-1, 0, 0, 0, 1, 1]


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
