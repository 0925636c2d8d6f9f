"""Weights of 8 bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn.reference import numbers


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_quantize(axis: int) -> None:
    weight = numbers(6, 5, 4) * np.array([1e-3, 1, 1e3, 7], np.float32)
    weight[0] = 0
    values, scale = nn.quantize(aio.asarray(weight), axis=axis)
    greatest = np.abs(weight.astype(np.float64)).max(axis=axis, keepdims=True)
    expected = np.where(greatest == 0, 1, greatest) / 127
    assert values.dtype == np.int8
    assert scale.shape == expected.shape
    np.testing.assert_allclose(scale, expected, rtol=1e-6)
    back = np.asarray(nn.dequantize(nn.QuantizedWeight(values, scale)))
    # Half a step, but for what rounding in float32 adds.
    assert (np.abs(back - weight) <= expected * 0.5001).all()
    assert np.abs(np.asarray(values).astype(int)).max() == 127


def test_integers_that_fit_are_exact() -> None:
    weight = np.array([[127, -5, 0, 64], [-254, 2, 4, 6]], np.float32)
    values, scale = nn.quantize(aio.asarray(weight))
    assert values.tolist() == [[127, -5, 0, 64], [-127, 1, 2, 3]]
    assert scale.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("lead", [(), (7,), (2, 3)])
@pytest.mark.parametrize("activations", ["int8", "float"])
def test_products(lead: tuple[int, ...], activations: Any) -> None:
    x, weight, bias = numbers(*lead, 64), numbers(16, 64, seed=1), numbers(16, seed=2)
    quantized = nn.quantize(aio.asarray(weight))
    y = nn.quantized_matmul(aio.asarray(x), quantized, aio.asarray(bias), activations=activations)
    assert y.shape == (*lead, 16)
    wide = x.astype(np.float64)
    if activations == "int8":
        step = np.abs(wide).max(-1, keepdims=True) / 127
        wide = np.round(wide / step) * step
    exact = wide @ np.asarray(nn.dequantize(quantized)).T.astype(np.float64) + bias
    np.testing.assert_allclose(y, exact, rtol=1e-4, atol=1e-4)
    # And it is about the product that was meant.
    meant = x.astype(np.float64) @ weight.T.astype(np.float64) + bias
    assert np.abs(np.asarray(y) - meant).max() < 0.05 * np.abs(meant).max()


def test_sums_do_not_overflow() -> None:
    x, weight = np.full((1, 100_000), 1.0, np.float32), np.full((1, 100_000), -1.0, np.float32)
    y = nn.quantized_matmul(aio.asarray(x), nn.quantize(aio.asarray(weight)))
    assert y.tolist() == [[pytest.approx(-100_000, rel=1e-6)]]


def test_zeros_and_bfloat16() -> None:
    weight = nn.quantize(aio.asarray(numbers(3, 8)))
    assert np.asarray(nn.quantized_matmul(aio.zeros((2, 8)), weight)).tolist() == [[0.0] * 3] * 2
    x = numbers(2, 8).astype(ml_dtypes.bfloat16)
    for activations in ("int8", "float"):
        y = nn.quantized_matmul(aio.asarray(x), weight, activations=activations)
        assert y.dtype == ml_dtypes.bfloat16
        exact = x.astype(np.float64) @ np.asarray(nn.dequantize(weight)).T
        np.testing.assert_allclose(np.asarray(y).astype(np.float64), exact, atol=0.06)


def test_a_tree_inside_jit_and_one_launch() -> None:
    weight = nn.quantize(aio.asarray(numbers(3, 8)))
    x = aio.asarray(numbers(2, 8))
    function = aio.jit(lambda w, x: nn.quantized_matmul(x, w["dense"]))
    np.testing.assert_allclose(function({"dense": weight}, x), nn.quantized_matmul(x, weight), rtol=1e-6)
    before = aio.stats()["enqueued"]
    nn.quantized_matmul(x, weight)
    assert aio.stats()["enqueued"] == before + 1


def test_wrong_arguments() -> None:
    weight = nn.quantize(aio.asarray(numbers(3, 8)))
    x = aio.asarray(numbers(2, 8))
    with pytest.raises(ValueError, match="activations 'int4'; use 'int8' or 'float'"):
        nn.quantized_matmul(x, weight, activations="int4")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"quantized_matmul: x of shape \(2, 7\), values of shape \(3, 8\)"):
        nn.quantized_matmul(aio.asarray(numbers(2, 7)), weight)
    with pytest.raises(ValueError, match="a weight quantised along its last axis"):
        nn.quantized_matmul(x, nn.quantize(aio.asarray(numbers(3, 8)), axis=0))
    with pytest.raises(ValueError, match=r"bias has shape \(2,\); it takes \(3,\)"):
        nn.quantized_matmul(x, weight, aio.ones(2))
    with pytest.raises(TypeError, match="values of dtype float32; it takes int8"):
        nn.quantized_matmul(x, nn.QuantizedWeight(aio.asarray(numbers(3, 8)), weight.scale))
    with pytest.raises(TypeError, match="quantize: dtype int32 is not allowed"):
        nn.quantize(aio.asarray([[1, 2]]))
