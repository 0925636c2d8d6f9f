"""Counting against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aioarray._ops import histograms
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.random.default_rng(0).integers(0, 20, 100)


def test_bincount() -> None:
    got = evaluate(histograms.bincount, X, None, static=(25,))
    assert got.dtype == np.int32
    assert_array_equal(got, np.bincount(X, minlength=25))


def test_weights_are_added() -> None:
    weights = np.random.default_rng(1).normal(size=100)
    assert_allclose(evaluate(histograms.bincount, X, weights, static=(20,)), np.bincount(X, weights, 20))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_others_are_not_counted(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 1, 1, 5], dtype)
    expected = [1 if limits.min == 0 else 0, 2, 0]
    assert evaluate(histograms.bincount, x, None, static=(3,)).tolist() == expected


def test_longer_than_the_dtype_counts() -> None:
    got = evaluate(histograms.bincount, np.array([-1, 127, 0], np.int8), None, static=(300,))
    assert got.nonzero()[0].tolist() == [0, 127]


def test_booleans_and_nothing() -> None:
    assert evaluate(histograms.bincount, np.array([True, False, True]), None, static=(2,)).tolist() == [1, 2]
    assert evaluate(histograms.bincount, np.zeros(0, np.int32), None, static=(2,)).tolist() == [0, 0]
    assert evaluate(histograms.bincount, X, None, static=(0,)).tolist() == []


def test_refuses() -> None:
    with pytest.raises(TypeError, match="it takes a vector of integers"):
        histograms.bincount(node((2,)), None, 3)
    with pytest.raises(TypeError, match="it takes a vector of integers"):
        histograms.bincount(node((2, 2), "int32"), None, 3)
    with pytest.raises(ValueError, match="they must be the same"):
        histograms.bincount(node((2,), "int32"), node((3,)), 3)
    with pytest.raises(ValueError, match="length=-1"):
        histograms.bincount(node((2,), "int32"), None, -1)
