"""What is not in the tables of accuracy and special values: exact zeros, complex sinc, powers of 2, degrees."""

from __future__ import annotations

import numpy as np
import pytest

from aioarray._ops import exponential, trigonometric
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sinc_is_exactly_zero_at_integers(dtype: str) -> None:
    x = np.array([1, -1, 2, -7, 1000, 0, -0.0], dtype)
    assert_same(evaluate(trigonometric.sinc, x), np.array([0, 0, 0, 0, 0, 1, 1], dtype), x)


@pytest.mark.parametrize(("dtype", "tolerance"), [("complex64", 1e-5), ("complex128", 1e-13)])
def test_complex_sinc_and_powers_of_two(dtype: str, tolerance: float) -> None:
    z = np.array([0, 1 + 2j, -0.5 - 0.25j, 3j, 2.5], dtype)
    np.testing.assert_allclose(evaluate(trigonometric.sinc, z), np.sinc(z.astype("complex128")), rtol=tolerance)
    np.testing.assert_allclose(evaluate(exponential.exp2, z), np.exp2(z.astype("complex128")), rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_degrees_and_back(dtype: str) -> None:
    x = np.linspace(-720, 720, 101).astype(dtype)
    np.testing.assert_allclose(evaluate(trigonometric.deg2rad, x), np.deg2rad(x), rtol=1e-6)
    np.testing.assert_allclose(evaluate(trigonometric.rad2deg, x), np.rad2deg(x), rtol=1e-6)
    eighths = np.array([45, 90, 180, -360], dtype)
    np.testing.assert_array_equal(evaluate(trigonometric.rad2deg, np.deg2rad(eighths)), np.rad2deg(np.deg2rad(eighths)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_single_numbers_are_as_accurate_as_many(dtype: str) -> None:
    """What XLA emits for a few numbers is not what it emits for vectors."""
    for value in (0.0009441, 0.0018957165, -0.0023, 0.9, 1.0015):
        x = np.array([value], dtype)
        for name in ("asin", "acos", "atan"):
            with np.errstate(invalid="ignore"):
                wanted = getattr(np, name)(x.astype("float64"))
            got = evaluate(getattr(trigonometric, name), x)
            np.testing.assert_allclose(got, wanted, rtol=5 * float(np.finfo(dtype).eps), err_msg=f"{name}({value})")
