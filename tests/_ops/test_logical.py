"""Truth of numbers, logic, and choice."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aioarray._graph import array_spec, input_node
from aioarray._ops import logical, searching
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same, pairs

TRUTHS = {
    "bool": [False, True],
    "int8": [0, 1, -2],
    "uint64": [0, 2**63],
    "float32": [0.0, -0.0, 0.5, np.nan, np.inf],
    "complex64": [0, 1j, 1, complex(0, np.nan)],
}


@pytest.mark.parametrize("dtype", TRUTHS)
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_of_two(name: str, dtype: str) -> None:
    x, y = pairs(np.array(TRUTHS[dtype], dtype))
    assert_same(evaluate(getattr(logical, name), x, y), getattr(np, name)(x, y), x, y)


@pytest.mark.parametrize("dtype", TRUTHS)
def test_negation(dtype: str) -> None:
    x = np.array(TRUTHS[dtype], dtype)
    assert_same(evaluate(logical.logical_not, x), np.logical_not(x), x)


def test_logic_mixes_dtypes_that_do_not_promote() -> None:
    x = np.array([0, 1, 0, 1], ml_dtypes.float8_e5m2)
    y = np.array([0, 0, 1, 1], ml_dtypes.float8_e4m3fn)
    assert_same(evaluate(logical.logical_and, x, y), np.array([False, False, False, True]))


def test_where_promotes_its_choices_not_its_condition() -> None:
    condition = np.array([True, False, True])
    x, y = np.array([1, 2, 3], "int8"), np.array([0.5, 1.5, 2.5], "float32")
    assert_same(evaluate(searching.where, condition, x, y), np.where(condition, x, y))
    assert evaluate(searching.where, condition.astype("int64"), x, x).dtype == "int8"
    assert evaluate(searching.where, condition, y, 1).dtype == "float32"
    assert evaluate(searching.where, condition, 2, x).dtype == "int8"


def test_where_takes_the_truth_of_any_condition() -> None:
    condition = np.array([0, 1j, np.nan, 0.0], "complex64")
    got = evaluate(searching.where, condition, np.ones(4, "int32"), np.zeros(4, "int32"))
    assert_same(got, np.where(condition, 1, 0).astype("int32"))


def test_where_broadcasts_all_three() -> None:
    condition = np.array([[True], [False]])
    x, y = np.arange(3, dtype="float32"), np.array(7, "float32")
    assert_same(evaluate(searching.where, condition, x, y), np.where(condition, x, y))
    assert evaluate(searching.where, np.zeros((0, 1), bool), x, y).shape == (0, 3)
    node = input_node(array_spec((2, 3), np.dtype("bool")))
    other = input_node(array_spec((4,), np.dtype("int8")))
    with pytest.raises(ValueError, match=r"^where: shapes \(2, 3\) and \(4,\) and \(4,\) cannot be broadcast"):
        searching.where(node, other, other)
