"""Rounding to integers and to decimals."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aioarray._ops import rounding
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same, special

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

FLOATS = ["float16", "float32", "float64"]
HALVES = [0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5, 0.49, -0.51, 7.0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_round_goes_to_the_even_neighbour(dtype: str) -> None:
    x = np.concatenate([np.array(HALVES, dtype), special(dtype)])
    assert_same(evaluate(rounding.round, x, static=(0,)), np.round(x), x)


def test_round_of_complex_numbers_rounds_the_parts() -> None:
    z = special("complex64")
    assert_same(evaluate(rounding.round, z, static=(0,)), np.round(z), z)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("decimals", [-3, -1, 1, 2, 5])
def test_round_to_decimals(dtype: str, decimals: int) -> None:
    x = np.concatenate([np.linspace(-2500, 2500, 101) / 7, HALVES, [0.125, 0.375, 12345.678, np.inf, np.nan, -0.0]])
    x = x.astype(dtype)
    got, wanted = evaluate(rounding.round, x, static=(decimals,)), np.round(x, decimals)
    assert_same(got, wanted, x)


def test_round_to_decimals_beyond_the_digits_changes_nothing() -> None:
    x = np.array([1e30, 3e38, -1.5e-30, 0.1], "float32")
    assert_same(evaluate(rounding.round, x, static=(20,)), np.array([1e30, 3e38, -0.0, 0.1], "float32"))
    assert_same(evaluate(rounding.round, x[:2], static=(38,)), x[:2])


def test_round_of_narrow_dtypes_to_decimals() -> None:
    x = np.array([0.126, 1.55, 100.3], ml_dtypes.bfloat16)
    wanted = np.round(x.astype("float64"), 1).astype(ml_dtypes.bfloat16)
    assert np.array_equal(evaluate(rounding.round, x, static=(1,)), wanted)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64"])
@pytest.mark.parametrize("decimals", [0, 2, -1, -2])
def test_round_of_integers(dtype: str, decimals: int) -> None:
    x = np.array([0, 5, 14, 15, 24, 25, 35, 99, 100, 120], dtype)
    if np.iinfo(dtype).min < 0:
        x = np.concatenate([x, -x])
    wanted = x.copy() if decimals >= 0 else np.round(x.astype("float64"), decimals).astype(dtype)
    assert_same(evaluate(rounding.round, x, static=(decimals,)), wanted, x)


def test_round_of_integers_to_more_than_they_have_gives_zero() -> None:
    x = np.array([100, -100], "int8")
    assert_same(evaluate(rounding.round, x, static=(-5,)), np.zeros(2, "int8"))


@pytest.mark.parametrize("dtype", [*FLOATS, "int16", "uint32"])
@pytest.mark.parametrize("name", ["ceil", "floor", "trunc"])
def test_directed_rounding(name: str, dtype: str) -> None:
    x = np.array(HALVES, "float64").astype(dtype) if dtype in FLOATS else np.arange(5, dtype=dtype)
    assert_same(evaluate(getattr(rounding, name), x), getattr(np, name)(x).astype(dtype), x)
