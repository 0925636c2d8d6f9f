"""Updates where a boolean mask is true, against NumPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import masking
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)


def mask_of(ndim: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(ndim).integers(0, 2, X.shape[:ndim]).astype(bool))


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["scalar", "trailing", "stretched", "each"])
def test_as_numpy(ndim: int, kind: str) -> None:
    mask = mask_of(ndim)
    inner = X.shape[ndim:]
    shape = {"scalar": (), "trailing": inner, "stretched": (1, *inner), "each": (int(mask.sum()), *inner)}[kind]
    value = np.asarray(-1 - np.arange(math.prod(shape), dtype=np.int64).reshape(shape))
    expected = X.copy()
    expected[mask] = value
    assert_array_equal(evaluate(masking.setmask, X, value, mask, static=("set",)), expected)
    expected = X.copy()
    expected[mask] += value
    assert_array_equal(evaluate(masking.setmask, X, value, mask, static=("add",)), expected)


def test_refuses() -> None:
    with pytest.raises(IndexError, match=r"mask of shape \(3,\) for an array of shape \(4, 5\)"):
        masking.setmask(node((4, 5)), node(()), node((3,), "bool"), "set")
    with pytest.raises(IndexError, match="it takes booleans"):
        masking.setmask(node((4,)), node(()), node((4,), "int32"), "set")
    with pytest.raises(ValueError, match="does not stretch"):
        masking.setmask(node((4, 5)), node((3,)), node((4,), "bool"), "set")
