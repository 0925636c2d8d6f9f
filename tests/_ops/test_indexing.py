"""take and take_along_axis against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import indexing
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)


def positions(length: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(length).integers(-length, length, shape)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (), (0,)], ids=str)
def test_take(axis: int, shape: tuple[int, ...]) -> None:
    indices = positions(X.shape[axis], shape)
    assert_array_equal(evaluate(indexing.take, X, indices, static=(axis,)), np.take(X, indices, axis))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_take_along_axis(axis: int, count: int) -> None:
    shape = list(X.shape)
    shape[axis] = count
    indices = positions(X.shape[axis], tuple(shape))
    assert_array_equal(
        evaluate(indexing.take_along_axis, X, indices, static=(axis,)), np.take_along_axis(X, indices, axis)
    )


def test_take_along_axis_broadcasts() -> None:
    indices = positions(6, (1, 5, 2))
    got = evaluate(indexing.take_along_axis, X, indices, static=(2,))
    assert_array_equal(got, np.take_along_axis(X, np.broadcast_to(indices, (4, 5, 2)), 2))


def test_out_of_range_takes_the_nearest() -> None:
    x, indices = np.arange(3), np.array([-100, 100], np.int8)
    assert evaluate(indexing.take, x, indices, static=(None,)).tolist() == [0, 2]
    assert evaluate(indexing.take_along_axis, x, indices, static=(0,)).tolist() == [0, 2]


def test_refuses() -> None:
    with pytest.raises(IndexError, match="axis 2"):
        indexing.take(node((2, 3)), node((1,), "int32"), 2)
    with pytest.raises(TypeError, match="indices of dtype float32"):
        indexing.take(node((2,)), node((1,)), 0)
    with pytest.raises(ValueError, match="they must have as many"):
        indexing.take_along_axis(node((2, 3)), node((1,), "int32"), 0)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        indexing.take_along_axis(node((2, 3)), node((3, 3), "int32"), 1)
    with pytest.raises(IndexError, match="no element"):
        indexing.take_along_axis(node((0,)), node((1,), "int32"), 0)
