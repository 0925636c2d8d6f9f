"""Distributions made by a formula: their distribution functions, balls and orthogonal matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import random

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = random.key(11, partitionable=True)
DRAWS = 40_000

erf = np.vectorize(math.erf)


def normal_function(x: np.ndarray) -> np.ndarray:
    return (1 + erf(x / math.sqrt(2))) / 2


def wald_function(x: np.ndarray, mean: float) -> np.ndarray:
    root = np.sqrt(1 / x)
    return normal_function(root * (x / mean - 1)) + np.exp(2 / mean) * normal_function(-root * (x / mean + 1))


def maxwell_function(x: np.ndarray) -> np.ndarray:
    length = np.abs(x)
    inside = erf(length / math.sqrt(2)) - math.sqrt(2 / math.pi) * length * np.exp(-(length**2) / 2)
    return (1 + np.sign(x) * inside) / 2


DISTRIBUTIONS: dict[str, tuple[Callable[[str], Any], Callable[[np.ndarray], np.ndarray]]] = {
    "wald": (lambda dtype: random.wald(KEY, 1.5, (DRAWS,), dtype), lambda x: wald_function(x, 1.5)),
    "wald of a large mean": (lambda dtype: random.wald(KEY, 50.0, (DRAWS,), dtype), lambda x: wald_function(x, 50.0)),
    "double_sided_maxwell": (
        lambda dtype: random.double_sided_maxwell(KEY, 0.5, 2.0, (DRAWS,), dtype),
        lambda x: maxwell_function((x - 0.5) / 2),
    ),
    "generalized_normal, normal": (
        lambda dtype: random.generalized_normal(KEY, 2.0, (DRAWS,), dtype),
        lambda x: (1 + erf(x)) / 2,
    ),
    "generalized_normal, Laplace": (
        lambda dtype: random.generalized_normal(KEY, 1.0, (DRAWS,), dtype),
        lambda x: np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2),
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distribution_functions(name: str, dtype: str) -> None:
    draw, function = DISTRIBUTIONS[name]
    sample = draw(dtype)
    assert sample.dtype == dtype
    x = np.sort(np.asarray(sample).astype(np.float64))
    # Kolmogorov: below this with probability 1 - 1e-5.
    distance = np.abs(function(x) - (np.arange(DRAWS) + 0.5) / DRAWS).max()
    assert distance < 2.47 / math.sqrt(DRAWS)


def test_wald_keeps_its_digits_for_large_means() -> None:
    x = np.asarray(random.wald(KEY, 1e12, (1000,)))
    exact = np.asarray(random.wald(KEY, np.float32(1e12), (1000,)))
    assert (x > 0).all()
    assert (exact > 0).all()
    # Of an infinite mean it is that of 1 / v**2, v normal: its median.
    assert abs(np.median(x) - 1 / 0.67448975**2) < 0.4


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_narrow_dtypes(dtype: str) -> None:
    for x, mean in (
        (random.wald(KEY, 2.0, (DRAWS,), dtype), 2.0),
        (random.double_sided_maxwell(KEY, 0.5, 1.0, (DRAWS,), dtype), 0.5),
        (random.generalized_normal(KEY, 2.0, (DRAWS,), dtype), 0.0),
    ):
        assert x.dtype == dtype
        values = np.asarray(x).astype(np.float64)
        assert np.isfinite(values).all()
        assert abs(values.mean() - mean) < 0.1


def test_parameters_broadcast() -> None:
    means = np.array([0.5, 2.0], np.float32)
    x = np.asarray(aio.jit(random.wald, static_argnames="shape")(KEY, means, shape=(DRAWS, 2)))
    np.testing.assert_allclose(x.mean(0), means, rtol=0.06)
    x = np.asarray(random.generalized_normal(KEY, [1.0, 2.0], (DRAWS, 2)))
    np.testing.assert_allclose(x.var(0), [2, 0.5], rtol=0.05)
    assert random.double_sided_maxwell(KEY, np.zeros((3, 1)), np.ones(2)).shape == (3, 2)
    assert random.wald(KEY, means).shape == (2,)
    assert random.wald(KEY, 1.0, (0, 2)).shape == (0, 2)
    # Gamma numbers of 1 / 200 underflow in float32; the powers of them that are wanted do not.
    assert np.abs(np.asarray(random.generalized_normal(KEY, 200.0, (1000,)))).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("d", "p"), [(1, 2.0), (2, 2.0), (3, 1.0), (5, 4.0)])
def test_ball(d: int, p: float) -> None:
    x = np.asarray(random.ball(KEY, d, p, (DRAWS,), "float64"))
    assert x.shape == (DRAWS, d)
    # The share of the volume within a radius is its power d, in any norm.
    radius = (np.abs(x) ** p).sum(1) ** (1 / p)
    assert radius.max() <= 1
    distance = np.abs(np.sort(radius) ** d - (np.arange(DRAWS) + 0.5) / DRAWS).max()
    assert distance < 2.47 / math.sqrt(DRAWS)
    np.testing.assert_allclose(x.mean(0), 0, atol=0.02)


def test_shapes_of_ball() -> None:
    assert random.ball(KEY, 3).shape == (3,)
    assert random.ball(KEY, 3, [1.0, 2.0]).shape == (2, 3)
    assert random.ball(KEY, 3, [1.0, 2.0], (4, 2)).shape == (4, 2, 3)
    assert random.ball(KEY, 3, shape=(0,)).shape == (0, 3)
    expected = [  # from jax.random 0.10.2
        [-0.35735979676246643, 0.4066202640533447],
        [0.11002760380506516, -0.4857577085494995],
        [0.2639232277870178, -0.2682539224624634],
    ]
    x = random.ball(random.key(7, partitionable=True), 2, 3.0, (3,))
    np.testing.assert_allclose(np.asarray(x), expected, rtol=2e-6)
    with pytest.raises(ValueError, match=r"^ball: d=0"):
        random.ball(KEY, 0)
    with pytest.raises(TypeError, match=r"^ball: d 1.5 is no integer"):
        random.ball(KEY, 1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "bfloat16"])
@pytest.mark.parametrize(("n", "m"), [(4, None), (3, 5), (5, 3), (1, 1)])
def test_orthogonal(dtype: str, n: int, m: int | None) -> None:
    x = random.orthogonal(KEY, n, (50,), dtype, m)
    columns = n if m is None else m
    assert (x.shape, x.dtype) == ((50, n, columns), aio.asarray(0, dtype).dtype)
    q = np.asarray(x).astype(np.complex128 if dtype.startswith("complex") else np.float64)
    adjoint = q.conj().swapaxes(1, 2)
    product = q @ adjoint if n <= columns else adjoint @ q
    units = np.broadcast_to(np.eye(min(n, columns)), product.shape)
    np.testing.assert_allclose(product, units, atol=20 * float(aio.finfo(x.dtype).eps))


def test_orthogonal_matrices_are_equally_likely() -> None:
    x = np.asarray(random.orthogonal(KEY, 3, (20_000,)))
    # Each element has mean 0 and variance 1/3, the determinant is as often 1 as -1.
    np.testing.assert_allclose(x.mean(0), 0, atol=0.02)
    np.testing.assert_allclose(x.var(0), 1 / 3, atol=0.01)
    assert abs(np.linalg.det(x).mean()) < 0.05


def test_values_and_edges_of_orthogonal() -> None:
    key = random.key(7, partitionable=True)
    wide = [  # from jax.random 0.10.2
        [0.48973512649536133, -0.5602856278419495, 0.6680116653442383],
        [0.8697620034217834, 0.36721739172935486, -0.3296443819999695],
    ]
    np.testing.assert_allclose(np.asarray(random.orthogonal(key, 2, m=3)), wide, rtol=2e-6)
    np.testing.assert_allclose(np.asarray(random.orthogonal(key, 3, m=2)), np.transpose(wide), rtol=2e-6)
    assert random.orthogonal(key, 0).shape == (0, 0)
    assert random.orthogonal(key, 2, (0,)).shape == (0, 2, 2)
    with pytest.raises(ValueError, match=r"^orthogonal: n=-1, m=-1; lengths are not negative"):
        random.orthogonal(key, -1)
    with pytest.raises(TypeError, match=r"^orthogonal: dtype int32"):
        random.orthogonal(key, 2, dtype="int32")
