"""Affine maps, look-up and dropout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn, random
from tests.nn.reference import numbers

KEY = np.array([0, 42], np.uint32)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (1,), (2, 0), (4, 16), (65,)])  # few rows go another way than many
def test_linear(lead: tuple[int, ...]) -> None:
    x, weight, bias = numbers(*lead, 5), numbers(70, 5, seed=1), numbers(70, seed=2)
    expected = x.astype(np.float64) @ weight.T.astype(np.float64)
    np.testing.assert_allclose(nn.linear(aio.asarray(x), aio.asarray(weight)), expected, rtol=1e-5, atol=1e-5)
    y = nn.linear(aio.asarray(x), aio.asarray(weight), aio.asarray(bias))
    np.testing.assert_allclose(y, expected + bias, rtol=1e-5, atol=1e-5)


def test_linear_in_bfloat16_sums_in_float32() -> None:
    x, weight, bias = (z.astype(ml_dtypes.bfloat16) for z in (numbers(8, 2048), numbers(4, 2048, seed=1), numbers(4)))
    y = nn.linear(*map(aio.asarray, (x, weight, bias)))
    assert y.dtype == ml_dtypes.bfloat16
    wide = [z.astype(np.float64) for z in (x, weight, bias)]
    # Rounded once, relative to the result itself: sums in bfloat16 would be off by several per cent.
    np.testing.assert_allclose(np.asarray(y).astype(np.float64), wide[0] @ wide[1].T + wide[2], rtol=2**-8, atol=1e-4)


def test_linear_promotes_and_refuses() -> None:
    x = aio.asarray(numbers(2, 3))
    assert nn.linear(x, aio.asarray(numbers(4, 3).astype(np.float64))).dtype == np.float64
    with pytest.raises(ValueError, match=r"linear: x of shape \(2, 3\) with a weight of shape \(3, 4\)"):
        nn.linear(x, aio.asarray(numbers(3, 4)))
    with pytest.raises(ValueError, match=r"linear: bias has shape \(3,\); it takes \(4,\)"):
        nn.linear(x, aio.asarray(numbers(4, 3)), aio.asarray(numbers(3)))


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_embedding(shape: tuple[int, ...]) -> None:
    table = numbers(7, 5)
    indices = np.random.default_rng(0).integers(0, 7, shape).astype(np.int32)
    np.testing.assert_array_equal(nn.embedding(aio.asarray(indices), aio.asarray(table)), table[indices], strict=True)


def test_embedding_takes_the_nearest_row() -> None:
    table = numbers(3, 2)
    np.testing.assert_array_equal(nn.embedding(aio.asarray([3, 100]), aio.asarray(table)), table[[2, 2]])


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.9])
def test_dropout_leaves_out_and_scales(rate: float) -> None:
    x = numbers(100, 100) + 10
    y = np.asarray(nn.dropout(aio.asarray(x), aio.asarray(KEY), rate=rate))
    kept = y != 0
    np.testing.assert_allclose(y[kept], (x / (1 - rate))[kept], rtol=1e-6)
    # Six standard deviations.
    assert abs(kept.mean() - (1 - rate)) <= 6 * np.sqrt(rate * (1 - rate) / x.size)
    again = np.asarray(nn.dropout(aio.asarray(x), aio.asarray(KEY), rate=rate))
    np.testing.assert_array_equal(again, y)
    other = np.asarray(nn.dropout(aio.asarray(x), aio.asarray(KEY + 1), rate=rate))
    assert (other == y).all() == (rate == 0)


@pytest.mark.parametrize("partitionable", [None, False, True])
def test_dropout_keeps_what_bernoulli_says(partitionable: bool | None) -> None:
    """In the layout of the key, as jax.random does; None is a key of bare bits, which has the original one."""
    key = random.PRNGKey(7) if partitionable is None else random.key(7, partitionable=partitionable)
    kept = np.asarray(nn.dropout(aio.ones((5, 7)), key, rate=0.25)) != 0
    np.testing.assert_array_equal(kept, random.bernoulli(key, 0.75, (5, 7)))


@pytest.mark.parametrize("partitionable", [False, True])
def test_dropout_keeps_what_jax_keeps(partitionable: bool) -> None:
    jax = pytest.importorskip("jax", reason="the package jax is not installed")
    with jax.threefry_partitionable(partitionable):
        expected = np.asarray(jax.random.bernoulli(jax.random.key(7), 0.75, (5, 7)))
    key = random.key(7, partitionable=partitionable)
    np.testing.assert_array_equal(np.asarray(nn.dropout(aio.ones((5, 7)), key, rate=0.25)) != 0, expected)


def test_dropout_of_everything_and_wrong_arguments() -> None:
    x = aio.asarray(numbers(5))
    assert np.asarray(nn.dropout(x, aio.asarray(KEY), rate=1.0)).tolist() == [0.0] * 5
    with pytest.raises(ValueError, match=r"dropout: rate 1\.5 is no probability"):
        nn.dropout(x, aio.asarray(KEY), rate=1.5)
    with pytest.raises(TypeError, match="a key is of dtype uint32, not int32"):
        nn.dropout(x, aio.asarray([0, 1]), rate=0.5)


def test_top_k_is_the_top_level_function() -> None:
    values, places = nn.top_k(aio.asarray([[3.0, 9.0, 4.0], [7.0, 1.0, 8.0]]), 2)
    assert (values.tolist(), places.tolist()) == ([[9.0, 4.0], [8.0, 7.0]], [[1, 2], [2, 0]])
