"""Activations against their definitions in float64, at the ends of their range, and in every dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn.reference import ERFC

X = np.concatenate([np.linspace(-20, 20, 401), [-1e4, -100, 100, 1e4], [-1e-6, 1e-6, 0]]).astype(np.float32)


def softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


Function = Callable[[Any], Any]
PAIRS: dict[str, tuple[Function, Function]] = {
    "relu": (nn.relu, lambda x: np.maximum(x, 0)),
    "gelu": (nn.gelu, lambda x: x * ERFC(-x / math.sqrt(2)) / 2),
    "gelu, approximate": (
        lambda x: nn.gelu(x, approximate=True),
        # (1 + tanh(u)) / 2 is sigmoid(2 u), which does not cancel.
        lambda x: x * sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)),
    ),
    "silu": (nn.silu, lambda x: x * sigmoid(x)),
    "sigmoid": (nn.sigmoid, sigmoid),
    "tanh": (nn.tanh, np.tanh),
    "elu": (nn.elu, lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    "elu, alpha 0.5": (lambda x: nn.elu(x, alpha=0.5), lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)) / 2)),
    "leaky_relu": (nn.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    "leaky_relu, slope 0.3": (lambda x: nn.leaky_relu(x, negative_slope=0.3), lambda x: np.where(x > 0, x, 0.3 * x)),
    "softplus": (nn.softplus, softplus),
    "log_sigmoid": (nn.log_sigmoid, lambda x: -softplus(-x)),
    "hard_swish": (nn.hard_swish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "mish": (nn.mish, lambda x: x * np.tanh(softplus(x))),
}
each = pytest.mark.parametrize(("ours", "expected"), PAIRS.values(), ids=PAIRS)


@each
def test_float32(ours: Function, expected: Function) -> None:
    y = np.asarray(ours(aio.asarray(X)))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected(X.astype(np.float64)), rtol=2e-6, atol=1e-7)


@each
def test_float64(ours: Function, expected: Function) -> None:
    x = X.astype(np.float64)
    y = np.asarray(ours(aio.asarray(x)))
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, expected(x), rtol=1e-13, atol=1e-15)


@each
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_dtypes_are_rounded_once(ours: Function, expected: Function, dtype: Any) -> None:
    x = X[np.abs(X) < 1000].astype(dtype)
    y = np.asarray(ours(aio.asarray(x)))
    assert y.dtype == dtype
    digits = 2.0 ** -(ml_dtypes.finfo(dtype).nmant + 1)
    np.testing.assert_allclose(
        y.astype(np.float64),
        expected(x.astype(np.float64)),
        rtol=1.01 * digits,
        atol=2 * float(ml_dtypes.finfo(dtype).tiny),
    )


@each
def test_integers_become_the_default_real_dtype(ours: Function, expected: Function) -> None:
    for dtype, real in ((np.int32, np.float32), (np.int64, np.float64)):
        x = np.arange(-5, 6, dtype=dtype)
        y = np.asarray(ours(aio.asarray(x)))
        assert y.dtype == (dtype if ours is nn.relu else real)
    np.testing.assert_allclose(y, expected(x.astype(np.float64)), rtol=2e-6, atol=1e-7)


@each
def test_one_launch_and_nan_stays(ours: Function, expected: Function) -> None:
    x = aio.asarray(np.array([np.nan, 1.0], np.float32))
    ours(x).block_until_ready()
    before = aio.stats()["enqueued"]
    y = ours(x)
    assert aio.stats()["enqueued"] == before + 1
    assert np.isnan(np.asarray(y)[0])


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="silu: dtype complex64 is not allowed; it takes real dtypes"):
        nn.silu(aio.asarray(1j))
