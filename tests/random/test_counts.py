"""Counts: the binomial, multinomial and geometric distributions, from their probabilities; and signs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import random

KEY = random.key(7, partitionable=True)
DRAWS = 50_000


def binomial_probabilities(n: int, p: float) -> np.ndarray:
    logs = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]
    return np.array([math.exp(x + k * math.log(p) + (n - k) * math.log1p(-p)) for k, x in enumerate(logs)])


def geometric_probabilities(p: float, most: int) -> np.ndarray:
    return np.array([0.0, *(p * (1 - p) ** (k - 1) for k in range(1, most))])


def check_distribution(x: Any, probabilities: np.ndarray) -> None:
    """The chi-square statistic of counts over classes that 20 draws at least are expected in, rest in one."""
    drawn = np.asarray(x).ravel()
    assert drawn.min() >= 0
    expected = np.append(probabilities, max(0.0, 1 - probabilities.sum())) * drawn.size
    seen = np.bincount(np.minimum(drawn, len(probabilities)).astype(int), minlength=len(probabilities) + 1)
    rare = expected < 20
    classes = np.append(expected[~rare], expected[rare].sum() + 1e-9), np.append(seen[~rare], seen[rare].sum())
    if classes[0][-1] < 20:
        assert classes[1][-1] < 60
        classes = classes[0][:-1], classes[1][:-1]
    statistic = float(((classes[1] - classes[0]) ** 2 / classes[0]).sum())
    freedom = len(classes[0]) - 1
    # Wilson and Hilferty: nearly normal. With this key; another one passes five with probability 3e-7.
    normal = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    assert normal < 5, (statistic, freedom)


@pytest.mark.parametrize(
    ("n", "p"),
    [(1, 0.3), (5, 0.5), (10, 0.9), (19, 0.5), (20, 0.5), (21, 0.49), (40, 0.3), (40, 0.71), (300, 0.02), (1000, 0.4)],
)
def test_binomial(n: int, p: float) -> None:
    x = random.binomial(KEY, n, p, (DRAWS,))
    assert x.dtype == aio.int32
    check_distribution(x, binomial_probabilities(n, p))


@pytest.mark.parametrize("layout", [False, True])
def test_binomial_in_both_layouts(layout: bool) -> None:
    x = random.binomial(random.key(3, partitionable=layout), 30, 0.4, (DRAWS,))
    check_distribution(x, binomial_probabilities(30, 0.4))


@pytest.mark.parametrize(("n", "p"), [(10**6, 1e-6), (10**9, 0.1), (2**31 - 1, 0.999), (2**50, 0.5)])
def test_binomial_of_many_trials(n: int, p: float) -> None:
    x = np.asarray(random.binomial(KEY, n, p, (DRAWS,), "int64"))
    deviation = math.sqrt(n * p * (1 - p))
    assert abs(x.mean() - n * p) < 5 * deviation / math.sqrt(DRAWS)
    assert abs(x.std() / deviation - 1) < 0.02
    if deviation > 100:  # its last digits are there
        np.testing.assert_allclose(np.bincount(x % 8) / DRAWS, 1 / 8, atol=0.01)
        share = float((np.abs(x - n * p) < deviation).mean())
        assert abs(share - math.erf(math.sqrt(0.5))) < 0.01


def test_edges_of_binomial() -> None:
    n = np.array([0, 7, 7, 2**31 - 1, 2**31 - 1, 10])
    p = np.array([0.5, 0.0, 1.0, 1.0, 0.0, 5e-324])
    assert random.binomial(KEY, n, p).tolist() == [0, 0, 7, 2**31 - 1, 0, 0]
    invalid = random.binomial(KEY, [-1, 10, 10, 10], [0.5, 1.5, -0.1, math.nan])
    assert invalid.tolist() == [-1, -1, -1, -1]
    assert np.isnan(np.asarray(random.binomial(KEY, 10, math.nan, (), "float32")))
    assert random.binomial(KEY, 3, 0.5, (0, 4)).shape == (0, 4)
    assert random.binomial(KEY, np.zeros((0,)), 0.5).tolist() == []
    with pytest.raises(ValueError, match=r"^binomial: shapes \(3,\) and \(2,\)"):
        random.binomial(KEY, [1, 2, 3], 0.5, (2,))
    with pytest.raises(TypeError, match=r"^binomial: dtype complex64"):
        random.binomial(KEY, 3, 0.5, (), "complex64")
    with pytest.raises(TypeError, match=r"^binomial: dtype bool"):
        random.binomial(KEY, 3, 0.5, (), "bool")


@pytest.mark.parametrize("dtype", ["int8", "float64", "bfloat16"])
def test_dtypes_hold_the_same_counts(dtype: str) -> None:
    expected = np.asarray(random.binomial(KEY, 20, 0.3, (50,)))
    x = random.binomial(KEY, 20, 0.3, (50,), dtype)
    assert x.dtype == dtype
    np.testing.assert_array_equal(np.asarray(x).astype(np.int32), expected)
    x = random.multinomial(KEY, 20, [0.3, 0.7], (50,), dtype)
    assert x.dtype == dtype
    np.testing.assert_array_equal(np.asarray(x).astype(np.int32).sum(1), 20)
    assert random.geometric(KEY, 0.3, (3,), dtype).dtype == dtype


def test_parameters_broadcast_and_are_each_their_own() -> None:
    n = np.array([[3], [50], [4000]])
    p = np.array([0.1, 0.5, 0.8], np.float32)
    x = np.asarray(aio.jit(random.binomial, static_argnames=("shape",))(KEY, n, p, shape=(20_000, 3, 3)))
    mean, variance = n * p.astype(float), n * p.astype(float) * (1 - p.astype(float))
    assert (np.abs(x.mean(0) - mean) / np.sqrt(variance / len(x)) < 5).all()
    np.testing.assert_allclose(x.var(0), variance, rtol=0.06)
    np.testing.assert_array_equal(np.asarray(random.binomial(KEY, n, p, (20_000, 3, 3))), x)
    g = np.asarray(random.geometric(KEY, p, (20_000, 3)))
    np.testing.assert_allclose(g.mean(0), 1 / p, rtol=0.03)


@pytest.mark.parametrize("p", [[1.0], [0.2, 0.8], [0.1, 0.2, 0.3, 0.4], [3, 0, 5, 1, 1]])
def test_multinomial(p: list[float]) -> None:
    n = 12
    x = np.asarray(random.multinomial(KEY, n, p, (DRAWS,)))
    assert x.shape == (DRAWS, len(p))
    np.testing.assert_array_equal(x.sum(1), n)
    shares = np.array(p, float) / sum(p)
    for count, share in zip(x.T, shares, strict=True):
        if share in (0, 1):
            np.testing.assert_array_equal(count, n * share)
        else:
            check_distribution(count, binomial_probabilities(n, share))
    covariance = n * (np.diag(shares) - np.outer(shares, shares))
    np.testing.assert_allclose(np.cov(x.T), covariance, atol=0.06)


def test_shapes_and_edges_of_multinomial() -> None:
    x = random.multinomial(KEY, np.array([3, 100]), np.ones((2, 3)))
    assert np.asarray(x).sum(1).tolist() == [3, 100]
    assert random.multinomial(KEY, np.array([[3], [4]]), np.ones((2, 3))).shape == (2, 2, 3)
    assert random.multinomial(KEY, 5, np.ones(3), (0,)).shape == (0, 3)
    assert random.multinomial(KEY, 0, np.ones(3)).tolist() == [0, 0, 0]
    assert random.multinomial(KEY, -1, np.ones(3)).tolist() == [-1, -1, -1]
    assert random.multinomial(KEY, 5, [0.5, -0.5]).tolist() == [-1, -1]
    assert random.multinomial(KEY, 5, [0.0, 0.0]).tolist() == [-1, -1]
    assert random.multinomial(KEY, 2**40, np.eye(5)[3], dtype="int64").tolist() == [0, 0, 0, 2**40, 0]
    many = np.asarray(random.multinomial(KEY, 10**6, np.ones(1000)))
    assert many.sum() == 10**6
    assert abs(many.std() / math.sqrt(1000 * 0.999) - 1) < 0.1
    with pytest.raises(ValueError, match=r"^multinomial: p has shape"):
        random.multinomial(KEY, 5, 0.5)
    with pytest.raises(ValueError, match=r"^multinomial: p has shape"):
        random.multinomial(KEY, 5, np.ones((3, 0)))


@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_geometric(p: float, dtype: str) -> None:
    given = np.asarray(p, aio.asarray(0, dtype).dtype)
    x = random.geometric(KEY, given, (DRAWS,))
    assert x.dtype == aio.int32
    check_distribution(x, geometric_probabilities(float(given), 200))


def test_edges_of_geometric() -> None:
    assert random.geometric(KEY, [0.0, 1.0, math.nan, 1.5, -0.1]).tolist() == [2**31 - 1, 1, -1, -1, -1]
    assert random.geometric(KEY, 0.0, (), "int64").item() == 2**63 - 1
    assert random.geometric(KEY, 0.0, (), "uint8").item() == 255
    assert random.geometric(KEY, 0.5, (0,)).shape == (0,)
    # Uniform numbers of 0 are among these, which are no reason for an endless wait.
    assert int(np.asarray(random.geometric(KEY, 0.5, (5_000_000,))).max()) < 40


def test_values_of_jax() -> None:
    # From jax.random 0.10.2, of key(7) and shape (3,).
    assert random.geometric(KEY, 0.2, (3,)).tolist() == [2, 1, 6]
    assert random.rademacher(KEY, (3,)).tolist() == [-1, -1, 1]


def test_rademacher() -> None:
    x = np.asarray(random.rademacher(KEY, (DRAWS,)))
    assert set(x.tolist()) == {1, -1}
    assert abs(x.mean()) < 5 / math.sqrt(DRAWS)
    for dtype in ("int8", "float64", "bfloat16", "complex64"):
        assert random.rademacher(KEY, (2,), dtype).dtype == dtype
    with pytest.raises(TypeError, match=r"^rademacher: dtype uint8 does not hold -1"):
        random.rademacher(KEY, (2,), "uint8")
