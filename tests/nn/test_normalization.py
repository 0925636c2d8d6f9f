"""Normalisation layers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn.reference import numbers


def normalised(x: np.ndarray, axes: Any, eps: float) -> np.ndarray:
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize(("axis", "shape"), [(-1, (5,)), (1, (4,)), ((1, 2), (4, 5)), ((-1, -2), (4, 5))])
@pytest.mark.parametrize("affine", ["", "weight", "weight bias", "bias"])
def test_layer_norm(axis: Any, shape: tuple[int, ...], affine: str) -> None:
    x, weight, bias = numbers(3, 4, 5) * 3 + 7, numbers(*shape, seed=1), numbers(*shape, seed=2)
    expected = normalised(x, axis, 1e-5)
    # What broadcasts along the axes, in the order of the axes.
    fit = [n if k in np.atleast_1d(axis) % 3 else 1 for k, n in enumerate(x.shape)]
    if "weight" in affine:
        expected = expected * weight.reshape(fit)
    if "bias" in affine:
        expected = expected + bias.reshape(fit)
    y = nn.layer_norm(
        aio.asarray(x),
        aio.asarray(weight) if "weight" in affine else None,
        aio.asarray(bias) if "bias" in affine else None,
        axis=axis,
    )
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_layer_norm_of_numbers_far_from_zero() -> None:
    # E[x²] - E[x]² would have no digit left.
    x = (numbers(4, 256) + 3000).astype(np.float32)
    np.testing.assert_allclose(nn.layer_norm(aio.asarray(x)), normalised(x, -1, 1e-5), atol=2e-3)


@pytest.mark.parametrize(("axis", "shape"), [(-1, (5,)), ((1, 2), (4, 5))])
def test_rms_norm(axis: Any, shape: tuple[int, ...]) -> None:
    x, weight = numbers(3, 4, 5), numbers(*shape, seed=1)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(axis, keepdims=True) + 1e-6)
    np.testing.assert_allclose(nn.rms_norm(aio.asarray(x), axis=axis), expected, rtol=1e-5)
    np.testing.assert_allclose(
        nn.rms_norm(aio.asarray(x), aio.asarray(weight), axis=axis), expected * weight, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("axis", [1, -1])
def test_batch_norm(axis: int) -> None:
    x = np.moveaxis(numbers(2, 3, 4, 5) * 2 + 1, 1, axis)
    mean, variance, weight, bias = numbers(3), numbers(3, seed=1) ** 2 + 0.1, numbers(3, seed=2), numbers(3, seed=3)
    wide = np.moveaxis(x, axis, -1).astype(np.float64)
    expected = np.moveaxis((wide - mean) / np.sqrt(variance + 1e-3) * weight + bias, -1, axis)
    arrays = [aio.asarray(value) for value in (x, mean, variance, weight, bias)]
    np.testing.assert_allclose(nn.batch_norm(*arrays, axis=axis, eps=1e-3), expected, rtol=1e-4, atol=1e-5)
    plain = np.moveaxis((wide - mean) / np.sqrt(variance + 1e-5), -1, axis)
    np.testing.assert_allclose(nn.batch_norm(*arrays[:3], axis=axis), plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(axis: int, groups: int) -> None:
    x, weight, bias = numbers(2, 6, 4, 5), numbers(6, seed=1), numbers(6, seed=2)
    split = normalised(x.reshape(2, groups, 6 // groups, 4, 5), (2, 3, 4), 1e-5).reshape(x.shape)
    expected = split * weight[:, None, None] + bias[:, None, None]
    y = nn.group_norm(
        aio.asarray(np.moveaxis(x, 1, axis)), aio.asarray(weight), aio.asarray(bias), groups=groups, axis=axis
    )
    np.testing.assert_allclose(np.moveaxis(np.asarray(y), axis, 1), expected, rtol=1e-4, atol=1e-5)


def test_narrow_dtypes_are_computed_in_float32() -> None:
    x = (numbers(4, 512) + 100).astype(ml_dtypes.bfloat16)
    weight = numbers(512, seed=1).astype(ml_dtypes.bfloat16)
    y = nn.layer_norm(aio.asarray(x), aio.asarray(weight))
    assert y.dtype == ml_dtypes.bfloat16
    expected = normalised(x.astype(np.float32), -1, 1e-5) * weight.astype(np.float64)
    np.testing.assert_allclose(np.asarray(y).astype(np.float64), expected, rtol=2**-8, atol=1e-4)


def test_each_is_one_launch() -> None:
    x, one = aio.asarray(numbers(2, 4, 4)), aio.asarray(np.ones(4, np.float32))
    calls = [
        lambda: nn.layer_norm(x, one, one),
        lambda: nn.rms_norm(x, one),
        lambda: nn.batch_norm(x, one, one, one, one),
        lambda: nn.group_norm(x, one, one, groups=2),
    ]
    for function in calls:
        function().block_until_ready()
        before = aio.stats()["enqueued"]
        function()
        assert aio.stats()["enqueued"] == before + 1


def test_weights_that_do_not_fit() -> None:
    x, three = aio.asarray(numbers(2, 4, 5)), aio.asarray([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"layer_norm: weight has shape \(3,\), x of shape \(2, 4, 5\) takes \(5,\)"):
        nn.layer_norm(x, three)
    with pytest.raises(ValueError, match=r"layer_norm: bias has shape \(3,\)"):
        nn.layer_norm(x, None, three)
    with pytest.raises(ValueError, match=r"rms_norm: weight has shape \(3,\), .* takes \(4, 5\) along axes \(1, 2\)"):
        nn.rms_norm(x, three, axis=(1, 2))
    with pytest.raises(ValueError, match=r"batch_norm: running_var has shape \(3,\)"):
        nn.batch_norm(x, aio.ones(4), three)
    with pytest.raises(ValueError, match=r"group_norm: axis 1 .* into 3 groups; it must divide"):
        nn.group_norm(x, groups=3)
    with pytest.raises(ValueError, match="layer_norm: axis 3 is out of range"):
        nn.layer_norm(x, axis=3)
