"""Replacing what is not finite."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aioarray._graph import array_spec, input_node
from aioarray._ops import floating_point
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same, special


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_what_is_not_finite_becomes_the_nearest_number(dtype: str) -> None:
    x = special(dtype)
    assert_same(evaluate(floating_point.nan_to_num, x, 0.0, None, None), np.nan_to_num(x), x)


def test_replacements_may_be_given_and_may_be_arrays() -> None:
    x = np.array([[np.nan, np.inf, -np.inf], [1, np.nan, np.inf]], "float32")
    assert_same(evaluate(floating_point.nan_to_num, x, -0.0, 1.5, -2), np.nan_to_num(x, True, -0.0, 1.5, -2))
    of_nan = np.array([10, 20, 30], "float32")
    assert_same(evaluate(floating_point.nan_to_num, x, of_nan, 0, 0), np.array([[10, 0, 0], [1, 20, 0]], "float32"))
    assert np.isnan(evaluate(floating_point.nan_to_num, x, float("nan"), 0, 0)).sum() == 2


def test_replacements_do_not_stretch_x() -> None:
    x, of_nan = input_node(array_spec((3,), np.dtype("float32"))), input_node(array_spec((2, 3), np.dtype("float32")))
    with pytest.raises(
        ValueError, match=r"^nan_to_num: a replacement of shape \(2, 3\) does not broadcast to x, \(3,\)"
    ):
        floating_point.nan_to_num(x, of_nan, None, None)


def test_integers_are_finite() -> None:
    x = np.array([1, 2], "int8")
    assert_same(evaluate(floating_point.nan_to_num, x, 0.5, None, None), x)
    assert evaluate(floating_point.isfinite, x).all()
    assert not evaluate(floating_point.isnan, x).any()


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_narrow_dtypes(dtype: type) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1], dtype)
    limits = ml_dtypes.finfo(dtype)
    got = evaluate(floating_point.nan_to_num, x, 2.0, None, None)
    assert np.array_equal(got, np.array([2, limits.max, limits.min, 1], dtype))
    assert evaluate(floating_point.isposinf, x).tolist() == [False, True, False, False]
    assert evaluate(floating_point.isneginf, x).tolist() == [False, False, True, False]


def test_dtypes_without_infinities() -> None:
    x = np.array([np.nan, 448, -448, 0], ml_dtypes.float8_e4m3fn)
    assert evaluate(floating_point.isinf, x).tolist() == [False] * 4
    assert evaluate(floating_point.isfinite, x).tolist() == [False, True, True, True]


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz])
def test_copied_signs_make_no_nan_of_zeros(dtype: type) -> None:
    """These dtypes have no negative zero; the bits it would have are NaN."""
    x, y = np.array([0, 1, 2], dtype), np.array([-1, -1, 1], dtype)
    assert evaluate(floating_point.copysign, x, y).astype("float32").tolist() == [0, -1, 2]
