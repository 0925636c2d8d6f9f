"""Padding against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import padding
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("width", [((0, 0), (1, 2), (5, 9)), ((3, 0), (0, 0), (0, 1))], ids=str)
@pytest.mark.parametrize("mode", padding.MODES)
def test_as_numpy(mode: Any, width: Any) -> None:
    assert_array_equal(evaluate(padding.pad, X, np.float32(0), static=(width, mode)), np.pad(X, width, mode=mode))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_one_element_is_repeated(mode: Any) -> None:
    x = np.array([7])
    assert_array_equal(evaluate(padding.pad, x, np.float32(0), static=(((2, 3),), mode)), np.pad(x, (2, 3), mode=mode))


def test_the_value_is_cast() -> None:
    got = evaluate(padding.pad, np.array([1, 2], np.int8), 5.0, static=(((1, 0),), "constant"))
    assert got.tolist() == [5, 1, 2]
    assert got.dtype == np.int8


def test_refuses() -> None:
    zero = node(())
    with pytest.raises(ValueError, match="for each axis of shape"):
        padding.pad(node((2, 3)), zero, ((1, 1),), "constant")
    with pytest.raises(ValueError, match="for each axis of shape"):
        padding.pad(node((2,)), zero, ((1, -1),), "constant")
    with pytest.raises(ValueError, match="mode 'around' is not known"):
        padding.pad(node((2,)), zero, ((1, 1),), "around")
    with pytest.raises(ValueError, match="nothing to repeat"):
        padding.pad(node((0,)), zero, ((1, 1),), "edge")
    with pytest.raises(ValueError, match="takes a scalar"):
        padding.pad(node((2,)), node((2,)), ((1, 1),), "constant")
