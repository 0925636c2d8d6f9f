"""Running sums and products against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aioarray as aio
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


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(("shape", "axis"), [((17,), 0), ((100_001,), 0), ((300, 7), 0), ((3, 5000), 1)], ids=str)
def test_running_sums_of_what_is_not_negative_never_decrease(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    generator = np.random.default_rng(0)
    x = generator.random(shape)
    x[generator.random(shape) < 0.3] = 0
    x = x.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    got = evaluate(cumulative.cumulative_sum, x, static=(axis, None, False)).astype(np.float64)
    exact = np.cumsum(x.astype(np.float64), axis)
    np.testing.assert_allclose(got, exact, rtol={"float32": 1e-6, "float64": 1e-12}.get(dtype, 4e-3), atol=1e-30)
    steps = np.diff(got, axis=axis)
    assert (steps >= 0).all()
    assert not steps[np.diff(exact, axis=axis) == 0].any()


def test_running_products_keep_their_direction() -> None:
    factors = 1 + np.random.default_rng(0).random(50_000, np.float32) * np.float32(1e-5)
    rising = evaluate(cumulative.cumulative_prod, factors, static=(0, None, False))
    falling = evaluate(cumulative.cumulative_prod, 1 / factors, static=(0, None, False))
    assert (np.diff(rising) >= 0).all()
    assert (np.diff(falling) <= 0).all()
    np.testing.assert_allclose(rising, np.cumprod(factors.astype(np.float64)), rtol=1e-4)


def test_nothing_without_probability_is_chosen() -> None:
    weights = np.random.default_rng(0).random(100_000, np.float32)
    weights[::3] = 0
    chosen = aio.random.choice(aio.random.key(1), weights.size, (1_000_000,), p=aio.asarray(weights))
    assert (weights[np.asarray(chosen)] > 0).all()
