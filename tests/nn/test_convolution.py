"""Convolutions against sums over one window at a time."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn import reference
from tests.nn.reference import numbers

Ints = tuple[int, ...]


def last(x: np.ndarray) -> np.ndarray:
    """(batch, channels, …) as (batch, …, channels)."""
    return np.moveaxis(x, 1, -1)


def kernel_last(kernel: np.ndarray) -> np.ndarray:
    """(a, b, …) as (…, b, a)."""
    return np.moveaxis(kernel, (0, 1), (-1, -2))


CASES: list[tuple[Ints, Ints, Ints, tuple[tuple[int, int], ...], Ints, int]] = [
    # x, kernel, stride, padding, dilation, groups
    ((2, 3, 9), (4, 3, 3), (1,), ((0, 0),), (1,), 1),
    ((2, 3, 9), (4, 3, 3), (2,), ((1, 2),), (2,), 1),
    ((2, 4, 9), (6, 2, 2), (3,), ((0, 1),), (1,), 2),
    ((1, 3, 6, 7), (2, 3, 3, 2), (1, 1), ((1, 1), (0, 1)), (1, 1), 1),
    ((2, 4, 6, 7), (4, 1, 3, 3), (2, 1), ((1, 1), (2, 0)), (1, 2), 4),
    ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), (1, 2, 1), ((0, 1), (1, 1), (0, 0)), (2, 1, 1), 1),
    ((2, 3, 2), (4, 3, 5), (1,), ((1, 1),), (1,), 1),  # the window has no place
]


@pytest.mark.parametrize(("shape", "window", "stride", "padding", "dilation", "groups"), CASES)
def test_conv(shape: Ints, window: Ints, stride: Ints, padding: Any, dilation: Ints, groups: int) -> None:
    x, kernel, bias = numbers(*shape), numbers(*window, seed=1), numbers(window[0], seed=2)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    expected = reference.conv(x, kernel, stride, padding, dilation, groups)
    y = nn.conv(aio.asarray(x), aio.asarray(kernel), **options)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    biased = expected + bias.reshape(-1, *[1] * (x.ndim - 2))
    np.testing.assert_allclose(
        nn.conv(aio.asarray(x), aio.asarray(kernel), aio.asarray(bias), **options), biased, rtol=1e-4, atol=1e-5
    )
    y = nn.conv(
        aio.asarray(last(x)), aio.asarray(kernel_last(kernel)), aio.asarray(bias), channels_last=True, **options
    )
    np.testing.assert_allclose(y, last(biased), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("length", "window", "stride", "dilation"), [(9, 3, 1, 1), (9, 4, 2, 1), (8, 3, 3, 2), (2, 5, 1, 1)]
)
def test_same_padding(length: int, window: int, stride: int, dilation: int) -> None:
    x, kernel = numbers(1, 2, length), numbers(3, 2, window, seed=1)
    y = nn.conv(aio.asarray(x), aio.asarray(kernel), padding="same", stride=stride, dilation=dilation)
    count = -(-length // stride)
    assert y.shape == (1, 3, count)
    total = max(0, (count - 1) * stride + (window - 1) * dilation + 1 - length)
    expected = reference.conv(x, kernel, (stride,), ((total // 2, total - total // 2),), (dilation,))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_numbers_for_all_axes_and_valid() -> None:
    x, kernel = aio.asarray(numbers(1, 2, 7, 8)), aio.asarray(numbers(2, 2, 3, 3))
    y = nn.conv(x, kernel, stride=2, padding=1, dilation=1)
    np.testing.assert_array_equal(y, nn.conv(x, kernel, stride=(2, 2), padding=((1, 1), (1, 1)), dilation=(1, 1)))
    np.testing.assert_array_equal(y, nn.conv(x, kernel, stride=[2, 2], padding=(1, (1, 1))))
    np.testing.assert_array_equal(nn.conv(x, kernel, padding="valid"), nn.conv(x, kernel))


@pytest.mark.parametrize(
    ("shape", "window", "stride", "padding", "more", "dilation", "groups"),
    [
        ((2, 3, 5), (3, 4, 3), (1,), ((0, 0),), (0,), (1,), 1),
        ((2, 3, 5), (3, 4, 3), (2,), ((1, 1),), (1,), (1,), 1),
        ((2, 4, 5), (4, 3, 3), (3,), ((0, 2),), (0,), (2,), 2),
        ((1, 2, 3, 4), (2, 3, 2, 3), (2, 1), ((1, 0), (1, 1)), (1, 0), (1, 1), 1),
        ((1, 6, 3, 4), (6, 1, 2, 3), (2, 2), ((0, 0), (1, 1)), (0, 1), (2, 1), 6),
        ((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), (2, 1, 2), ((0, 0), (0, 1), (1, 0)), (0, 0, 1), (1, 1, 1), 1),
    ],
)
def test_conv_transpose(
    shape: Ints, window: Ints, stride: Ints, padding: Any, more: Ints, dilation: Ints, groups: int
) -> None:
    x, kernel = numbers(*shape), numbers(*window, seed=1)
    bias = numbers(window[1] * groups, seed=2)
    options = {"stride": stride, "padding": padding, "output_padding": more, "dilation": dilation, "groups": groups}
    expected = reference.conv_transpose(x, kernel, stride, padding, more, dilation, groups)
    expected += bias.reshape(-1, *[1] * (x.ndim - 2))
    y = nn.conv_transpose(*map(aio.asarray, (x, kernel, bias)), **options)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    y = nn.conv_transpose(*map(aio.asarray, (last(x), kernel_last(kernel), bias)), channels_last=True, **options)
    np.testing.assert_allclose(y, last(expected), rtol=1e-4, atol=1e-5)


def test_conv_transpose_is_the_transpose_of_conv() -> None:
    kernel = numbers(4, 3, 3)
    x, y = numbers(1, 3, 9, seed=1), numbers(1, 4, 5, seed=2)
    forward = np.asarray(nn.conv(aio.asarray(x), aio.asarray(kernel), stride=2, padding=1))
    back = np.asarray(nn.conv_transpose(aio.asarray(y), aio.asarray(kernel), stride=2, padding=1))
    assert (forward * y).sum() == pytest.approx((x * back).sum(), rel=1e-4)


def test_bfloat16_is_computed_in_float32() -> None:
    x, kernel = (z.astype(ml_dtypes.bfloat16) for z in (numbers(1, 64, 12), numbers(2, 64, 9, seed=1)))
    y = nn.conv(aio.asarray(x), aio.asarray(kernel))
    assert y.dtype == ml_dtypes.bfloat16
    expected = reference.conv(x.astype(np.float32), kernel.astype(np.float32), (1,), ((0, 0),), (1,))
    np.testing.assert_allclose(np.asarray(y).astype(np.float64), expected, rtol=2**-8, atol=1e-3)


def test_float64_stays_and_one_launch() -> None:
    x, kernel, bias = (aio.asarray(z.astype(np.float64)) for z in (numbers(1, 2, 5), numbers(3, 2, 2), numbers(3)))
    y = nn.conv(x, kernel, bias)
    assert y.dtype == np.float64
    y.block_until_ready()
    before = aio.stats()["enqueued"]
    nn.conv(x, kernel, bias)
    assert aio.stats()["enqueued"] == before + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stride": 0}, "stride 0; it takes an integer of at least 1, or one for each of 1 axes"),
        ({"stride": (1, 1)}, "stride (1, 1); it takes"),
        ({"padding": -1}, "padding -1; it takes an integer of at least 0"),
        ({"padding": (1, 1)}, "padding (1, 1) is for 2 axes, there are 1"),
        ({"padding": "full"}, "padding 'full' is not known; use 'same', 'valid' or numbers"),
        ({"groups": 2}, "the kernel of shape (4, 3, 2) in 2 groups is for 6 channels, x of shape (1, 3, 5) has 3"),
        ({"groups": 0}, "in 0 groups"),
        ({"channels_last": True}, "the kernel must be (…, in / groups, out)"),
    ],
)
def test_wrong_arguments(options: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the message is looked at below
        nn.conv(aio.asarray(numbers(1, 3, 5)), aio.asarray(numbers(4, 3, 2)), **options)
    assert str(caught.value).startswith("conv: ")
    assert message in str(caught.value)


def test_more_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"conv: x has shape \(3, 5\); it takes \(batch, channels, …\)"):
        nn.conv(aio.asarray(numbers(3, 5)), aio.asarray(numbers(4, 3)))
    with pytest.raises(TypeError, match=r"conv: stride 1\.5 is no integer"):
        nn.conv(aio.asarray(numbers(1, 3, 5)), aio.asarray(numbers(4, 3, 2)), stride=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"conv: bias has shape \(3,\); it takes \(4,\)"):
        nn.conv(aio.asarray(numbers(1, 3, 5)), aio.asarray(numbers(4, 3, 2)), aio.asarray(numbers(3)))
    with pytest.raises(ValueError, match="conv: 3 output channels do not divide into 2 groups"):
        nn.conv(aio.asarray(numbers(1, 4, 5)), aio.asarray(numbers(3, 2, 2)), groups=2)
    with pytest.raises(TypeError, match="conv: dtype complex64 is not allowed"):
        nn.conv(aio.asarray(numbers(1, 3, 5).astype(np.complex64)), aio.asarray(numbers(4, 3, 2)))
    with pytest.raises(ValueError, match=r"conv_transpose: the kernel of shape .* takes 4 channels in 1 groups"):
        nn.conv_transpose(aio.asarray(numbers(1, 3, 5)), aio.asarray(numbers(4, 3, 2)))
    with pytest.raises(TypeError, match="conv_transpose: padding 'same'; it takes numbers"):
        nn.conv_transpose(aio.asarray(numbers(1, 3, 5)), aio.asarray(numbers(3, 4, 2)), padding="same")  # type: ignore[arg-type]
