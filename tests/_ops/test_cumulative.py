"""Running sums and products against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aioarray._ops import cumulative
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("include_initial", [False, True])
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_as_numpy(name: str, axis: int, include_initial: bool) -> None:
    got = evaluate(getattr(cumulative, name), X, static=(axis, None, include_initial))
    expected = getattr(np, name)(X, axis=axis, include_initial=include_initial)
    assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("length", [0, 1, 2, 31, 32, 33, 5000])
def test_lengths(length: int) -> None:
    x = np.random.default_rng(length).integers(-100, 100, length)
    assert_array_equal(evaluate(cumulative.cumulative_sum, x, static=(None, None, False)), np.cumsum(x))


def test_infinities_touch_only_what_follows() -> None:
    x = np.ones(5000, np.float32)
    x[[100, 3000]] = np.inf, -np.inf
    got = evaluate(cumulative.cumulative_sum, x, static=(0, None, False))
    assert got[99] == 100
    assert np.isposinf(got[100:3000]).all()
    assert np.isnan(got[3000:]).all()


def test_dtypes() -> None:
    x = np.full(300, 200, np.uint8)
    got = evaluate(cumulative.cumulative_sum, x, static=(None, None, False))
    assert (got.dtype, got[-1]) == (np.uint32, 60000)
    assert evaluate(cumulative.cumulative_prod, np.full(3, 100, np.int8), static=(None, None, False))[-1] == 1_000_000
    got = evaluate(cumulative.cumulative_sum, np.ones(1000, ml_dtypes.bfloat16), static=(None, None, False))
    assert (got.dtype, float(got[-1])) == (ml_dtypes.bfloat16, 1000.0)
    assert cumulative.cumulative_sum(node((3,), "int8"), None, np.dtype("float64"), False).dtype == np.float64


def test_refuses() -> None:
    with pytest.raises(ValueError, match=r"cumulative_sum: shape .* has 2 axes; name one"):
        cumulative.cumulative_sum(node((2, 3)), None, None, False)
    with pytest.raises(ValueError, match="has 0 axes"):
        cumulative.cumulative_prod(node(()), None, None, False)
