"""Pooling against one window at a time."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn import reference
from tests.nn.reference import numbers

CASES = [
    # x, window, stride, padding
    ((2, 3, 9), (2,), None, ((0, 0),)),
    ((2, 3, 9), (3,), (2,), ((1, 1),)),
    ((1, 2, 6, 7), (2, 3), (2, 1), ((0, 1), (1, 2))),
    ((1, 2, 4, 5, 6), (2, 2, 3), (1, 2, 2), ((1, 0), (0, 0), (1, 1))),
]
each = pytest.mark.parametrize(("shape", "window", "stride", "padding"), CASES)


def both_layouts(function: Any, x: np.ndarray, **options: Any) -> np.ndarray:
    y = np.asarray(function(aio.asarray(x), **options))
    other = function(aio.asarray(np.moveaxis(x, 1, -1)), channels_last=True, **options)
    np.testing.assert_allclose(np.moveaxis(np.asarray(other), -1, 1), y, rtol=1e-6)
    return y


@each
def test_max_pool(shape: Any, window: Any, stride: Any, padding: Any) -> None:
    x = numbers(*shape)
    y = both_layouts(nn.max_pool, x, window=window, stride=stride, padding=padding)
    np.testing.assert_array_equal(y, reference.pool(x, np.max, window, stride or window, padding, -np.inf))


@each
@pytest.mark.parametrize("count_padding", [False, True])
def test_avg_pool(shape: Any, window: Any, stride: Any, padding: Any, count_padding: bool) -> None:
    x = numbers(*shape)
    y = both_layouts(nn.avg_pool, x, window=window, stride=stride, padding=padding, count_padding=count_padding)
    combine, fill = (np.mean, 0.0) if count_padding else (np.nanmean, np.nan)
    expected = reference.pool(x, combine, window, stride or window, padding, fill)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_max_pool_with_dilation_same_padding_and_integers() -> None:
    x = numbers(1, 2, 9)
    y = nn.max_pool(aio.asarray(x), 3, stride=1, dilation=2, padding=2)
    np.testing.assert_array_equal(y, reference.pool(x, np.max, (3,), (1,), ((2, 2),), -np.inf, (2,)))
    assert nn.max_pool(aio.asarray(x), 4, stride=2, padding="same").shape == (1, 2, 5)
    whole = (x * 100).astype(np.int8)
    y = nn.max_pool(aio.asarray(whole), 2, padding=1)
    assert y.dtype == np.int8
    np.testing.assert_array_equal(y, reference.pool(whole, np.max, (2,), (2,), ((1, 1),), -np.inf))


def test_nan_is_the_greatest() -> None:
    x = np.array([[[1, np.nan, 2, 3]]], np.float32)
    np.testing.assert_array_equal(nn.max_pool(aio.asarray(x), 2), [[[np.nan, 3]]])


@pytest.mark.parametrize(
    ("shape", "size"), [((2, 3, 12), (4,)), ((2, 3, 7), (3,)), ((1, 2, 7, 5), (3, 7)), ((1, 2, 3), (1,))]
)
def test_adaptive_avg_pool(shape: Any, size: Any) -> None:
    x = numbers(*shape)
    y = both_layouts(nn.adaptive_avg_pool, x, size=size)
    expected = x.astype(np.float64)
    for axis, count in enumerate(size, 2):
        length = x.shape[axis]
        pieces = [
            expected.take(range(i * length // count, -(-(i + 1) * length // count)), axis).mean(axis)
            for i in range(count)
        ]
        expected = np.stack(pieces, axis)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_bfloat16_is_averaged_in_float32() -> None:
    x = (numbers(1, 1, 512) + 100).astype(ml_dtypes.bfloat16)
    expected = x.astype(np.float64).mean()
    for y in (nn.avg_pool(aio.asarray(x), 512), nn.adaptive_avg_pool(aio.asarray(x), 1)):
        assert y.dtype == ml_dtypes.bfloat16
        assert float(y[0, 0, 0]) == float(np.float32(expected).astype(ml_dtypes.bfloat16))


def test_wrong_arguments() -> None:
    x = aio.asarray(numbers(1, 2, 6))
    with pytest.raises(ValueError, match=r"max_pool: a window of 2 with a padding of \(2, 2\) along axis 2"):
        nn.max_pool(x, 2, padding=2)
    with pytest.raises(ValueError, match="avg_pool: window 0; it takes an integer of at least 1"):
        nn.avg_pool(x, 0)
    with pytest.raises(ValueError, match=r"max_pool: x has shape \(6,\)"):
        nn.max_pool(aio.asarray(numbers(6)), ())
    with pytest.raises(TypeError, match="avg_pool: dtype int32 is not allowed; it takes real floating-point dtypes"):
        nn.avg_pool(aio.asarray(np.ones((1, 2, 6), np.int32)), 2)
    with pytest.raises(ValueError, match="adaptive_avg_pool: axis 2 of length 0 into 2 pieces"):
        nn.adaptive_avg_pool(aio.zeros((1, 2, 0)), 2)
