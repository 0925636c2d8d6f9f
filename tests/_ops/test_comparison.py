"""Clipping, closeness, and extremes of what has no order in the standard."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aioarray._graph import array_spec, input_node
from aioarray._ops import comparison
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64"])
def test_clip_keeps_within_either_or_both_bounds(dtype: str) -> None:
    x = np.arange(12, dtype=dtype).reshape(3, 4)
    low, high = np.array([[2], [3], [4]], dtype), np.array([5, 6, 7, 8], dtype)
    assert_same(evaluate(comparison.clip, x, low, high), np.clip(x, low, high))
    assert_same(evaluate(comparison.clip, x, low, None), np.clip(x, low, None))
    assert_same(evaluate(comparison.clip, x, None, high), np.clip(x, None, high))
    assert_same(evaluate(comparison.clip, x, None, None), x)
    assert_same(evaluate(comparison.clip, x, 2, 5), np.clip(x, 2, 5))


def test_clip_broadcasts_x_to_its_bounds() -> None:
    x = np.array(3, "float32")
    low = np.array([1, 4], "float32")
    assert_same(evaluate(comparison.clip, x, low, None), np.clip(x, low, None))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16])
def test_clip_propagates_nan_from_everywhere(dtype: Any) -> None:
    x = np.array([np.nan, 1, 1, np.inf, -np.inf], dtype)
    low = np.array([0, np.nan, 0, 0, 0], dtype)
    high = np.array([2, 2, np.nan, 2, 2], dtype)
    got = evaluate(comparison.clip, x, low, high).astype("float64")
    assert_same(got, np.array([np.nan, np.nan, np.nan, 2, 0]))


def test_clip_promotes_with_its_bounds() -> None:
    x = np.array([1, 2, 3], "int32")
    assert_same(evaluate(comparison.clip, x, 1.5, 2.5), np.array([1.5, 2, 2.5], "float32"))
    assert evaluate(comparison.clip, x.astype("float32"), 0, 2).dtype == "float32"


def test_clip_refuses_what_has_no_order() -> None:
    z = input_node(array_spec((2,), np.dtype("complex64")))
    with pytest.raises(TypeError, match=r"^clip: dtype complex64 is not allowed; it takes real numeric dtypes$"):
        comparison.clip(z, None, None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("equal_nan", [False, True])
def test_isclose(dtype: str, equal_nan: bool) -> None:
    x = np.array([1, 1, 1, 0, 1e-9, np.inf, np.inf, 1, np.nan, np.nan, -np.inf], dtype)
    y = np.array([1, 1.001, 1.1, 1e-3, 0, np.inf, -np.inf, np.inf, np.nan, 1, 1], dtype)
    got = evaluate(comparison.isclose, x, y, static=(1e-2, 1e-8, equal_nan))
    assert_same(got, np.isclose(x, y, rtol=1e-2, atol=1e-8, equal_nan=equal_nan), x, y)


def test_isclose_of_integers() -> None:
    x, y = np.array([1000, 1000, -5], "int32"), np.array([1001, 1100, -5], "int32")
    assert_same(evaluate(comparison.isclose, x, y, static=(1e-2, 0.0, False)), np.array([True, False, True]))


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "minimum"])
def test_extremes_of_complex_numbers_are_ordered_by_parts(name: str) -> None:
    numbers = [1 + 2j, 1 - 2j, 2 - 3j, -1 + 0j, complex(np.nan, 1), complex(1, np.nan)]
    x = np.array([a for a in numbers for _ in numbers], "complex64")
    y = np.array(numbers * len(numbers), "complex64")
    got, wanted = evaluate(getattr(comparison, name), x, y), getattr(np, name)(x, y)
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    assert np.array_equal(got[~np.isnan(got)], wanted[~np.isnan(got)])


def test_extremes_of_booleans_are_logic() -> None:
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert_same(evaluate(comparison.maximum, x, y), x | y)
    assert_same(evaluate(comparison.minimum, x, y), x & y)
