"""Positions in sorted vectors, and of what is not zero, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import searching
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node
from tests._ops.test_sorting import comparable, sample

SIDES = pytest.mark.parametrize("side", ["left", "right"])


@SIDES
@pytest.mark.parametrize("length", [0, 1, 2, 5, 8, 100])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint64", "float16"])
def test_searchsorted(dtype: Any, length: int, side: Any) -> None:
    x1 = np.sort(comparable(sample(dtype)[:length])).astype(dtype)
    x2 = sample(dtype, 1).reshape(12, 10)
    got = evaluate(searching.searchsorted, x1, x2, None, static=(side,))
    assert got.dtype == np.int32
    assert_array_equal(got, np.searchsorted(comparable(x1), comparable(x2), side))


@SIDES
def test_searchsorted_with_a_sorter(side: Any) -> None:
    x = np.random.default_rng(0).integers(0, 9, 30)
    order = np.argsort(x)
    got = evaluate(searching.searchsorted, x, np.arange(10), order, static=(side,))
    assert_array_equal(got, np.searchsorted(x, np.arange(10), side, order))


def test_searchsorted_promotes() -> None:
    assert evaluate(
        searching.searchsorted, np.array([1, 2], np.int8), np.array([1.5]), None, static=("left",)
    ).tolist() == [1]


def test_searchsorted_refuses() -> None:
    with pytest.raises(ValueError, match=r"x1 has shape .* it takes a vector"):
        searching.searchsorted(node((2, 3)), node((2,)), None, "left")
    with pytest.raises(ValueError, match="side='middle'"):
        searching.searchsorted(node((2,)), node((2,)), None, "middle")
    with pytest.raises(ValueError, match="they must be the same"):
        searching.searchsorted(node((2,)), node((2,)), node((3,), "int32"), "left")
    with pytest.raises(TypeError, match="searchsorted: dtype complex64"):
        searching.searchsorted(node((2,), "complex64"), node((2,)), None, "left")


MASK = np.random.default_rng(0).integers(0, 2, (3, 4, 5))


@pytest.mark.parametrize("missing", [0, 3, -3])
def test_nonzero(missing: int) -> None:
    expected = np.nonzero(MASK)
    size = expected[0].size + missing
    got = evaluate(searching.nonzero, MASK, static=(size, -7))
    for places, all_places in zip(got, expected, strict=True):
        assert places.dtype == np.int32
        assert_array_equal(places, np.concatenate([all_places, [-7] * max(missing, 0)])[:size])


def test_argwhere() -> None:
    expected = np.argwhere(MASK)
    assert_array_equal(evaluate(searching.argwhere, MASK, static=(len(expected), 0)), expected)


def test_nonzero_of_nothing() -> None:
    assert evaluate(searching.nonzero, np.zeros((0, 3)), static=(2, 9))[1].tolist() == [9, 9]
    assert evaluate(searching.nonzero, np.ones(3), static=(0, 9))[0].shape == (0,)


def test_nonzero_refuses() -> None:
    with pytest.raises(ValueError, match="without axes"):
        searching.nonzero(node(()), 1, 0)
    with pytest.raises(ValueError, match="size=-1"):
        searching.nonzero(node((2,)), -1, 0)
