"""Distinct values and membership against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._graph import array_spec, input_node
from aioarray._ops import sets
from tests._ops.evaluate import evaluate

RNG = np.random.default_rng(0)
VALUES = {
    "integers": RNG.integers(0, 9, (5, 6)),
    "reals": np.array([3.0, np.nan, 0.0, -0.0, np.nan, 3, 1e-310, -1e-310]),
    "complex": (RNG.integers(0, 3, 20) + 1j * RNG.integers(0, 3, 20)).astype(np.complex64),
    "booleans": np.array([True, True]),
    "one": np.array(5),
}


def as_numpy(x: np.ndarray) -> Any:
    return np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)


@pytest.mark.parametrize("kind", VALUES)
def test_unique(kind: str) -> None:
    x = VALUES[kind]
    values, indices, inverse, counts = as_numpy(x)
    got = evaluate(sets.unique, x, static=(values.size,))
    assert got[0].dtype == x.dtype
    assert_array_equal(got[0], values)
    assert_array_equal(got[1], indices)
    assert_array_equal(got[2], inverse.reshape(x.shape))
    assert_array_equal(got[3], counts)


def test_unique_of_more_and_of_fewer_than_there_are() -> None:
    x = np.array([7, 5, 7, 9])
    values, indices, inverse, counts = evaluate(sets.unique, x, static=(5,))
    assert values.tolist() == [5, 7, 9, 5, 5]
    assert indices.tolist() == [1, 0, 3, 1, 1]
    assert inverse.tolist() == [1, 0, 1, 2]
    assert counts.tolist() == [1, 2, 1, 0, 0]
    values, _, inverse, counts = evaluate(sets.unique, x, static=(2,))
    assert values.tolist() == [5, 7]
    assert inverse.tolist() == [1, 0, 1, 2]
    assert counts.tolist() == [1, 2]


def test_unique_of_nothing() -> None:
    got = evaluate(sets.unique, np.zeros((0, 3)), static=(0,))
    assert [part.shape for part in got] == [(0,), (0,), (0, 3), (0,)]
    values, indices, _, counts = evaluate(sets.unique, np.zeros((0, 3)), static=(2,))
    assert (values.tolist(), indices.tolist(), counts.tolist()) == ([0, 0], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="size=-1"):
        sets.unique(input_node(array_spec((2,), np.dtype("float32"))), -1)


# Below and above the length from which the values are searched instead of compared with each.
@pytest.mark.parametrize("length", [0, 3, sets.COMPARE_ALL, sets.COMPARE_ALL + 1, 100])
@pytest.mark.parametrize("invert", [False, True])
def test_isin(length: int, invert: bool) -> None:
    x1, x2 = RNG.integers(0, 100, (6, 7)), RNG.integers(0, 100, length)
    assert_array_equal(evaluate(sets.isin, x1, x2, static=(invert,)), np.isin(x1, x2, invert=invert))


@pytest.mark.parametrize("length", [3, 60])
def test_isin_of_special_numbers(length: int) -> None:
    x1 = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, 2e-310, 1])
    x2 = np.resize(np.array([-0.0, np.nan, 1e-310, np.inf]), length)
    assert_array_equal(evaluate(sets.isin, x1, x2, static=(False,)), np.isin(x1, x2))


def test_isin_of_complex_numbers() -> None:
    x = VALUES["complex"]
    assert_array_equal(evaluate(sets.isin, x, x[:2], static=(False,)), np.isin(x, x[:2]))


def test_isin_promotes() -> None:
    assert evaluate(sets.isin, np.array([1, 2], np.int8), np.array([1.0, 2.5]), static=(False,)).tolist() == [
        True,
        False,
    ]
