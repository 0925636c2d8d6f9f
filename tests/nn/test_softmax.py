"""Softmax and its relatives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn.reference import numbers, softmax


@pytest.mark.parametrize("axis", [-1, 0, 1, (0, 2), (0, 1, 2)])
def test_softmax_along_axes(axis: Any) -> None:
    x = numbers(3, 4, 5) * 10
    expected = softmax(x, axis)
    np.testing.assert_allclose(nn.softmax(aio.asarray(x), axis=axis), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(nn.log_softmax(aio.asarray(x), axis=axis), np.log(expected), rtol=1e-5, atol=1e-5)


def test_softmax_of_large_numbers_and_infinities() -> None:
    x = np.array([[1e30, 1e30, -1e30], [0, -np.inf, 0], [-np.inf] * 3], np.float32)
    y = np.asarray(nn.softmax(aio.asarray(x)))
    np.testing.assert_array_equal(y[:2], [[0.5, 0.5, 0], [0.5, 0, 0.5]])
    assert np.isnan(y[2]).all()


def test_log_softmax_does_not_underflow() -> None:
    y = np.asarray(nn.log_softmax(aio.asarray([0.0, -500.0])))
    np.testing.assert_allclose(y, [0, -500])


@pytest.mark.parametrize(("axis", "keepdims"), [(None, False), (None, True), (1, False), (1, True), ((0, 2), False)])
def test_logsumexp(axis: Any, keepdims: bool) -> None:
    x = numbers(3, 4, 5)
    expected = np.log(np.exp(x.astype(np.float64)).sum(axis=axis, keepdims=keepdims))
    y = nn.logsumexp(aio.asarray(x), axis=axis, keepdims=keepdims)
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_logsumexp_of_infinities() -> None:
    x = np.array([[-np.inf, -np.inf], [np.inf, 0], [np.inf, -np.inf], [1e4, -1e4]], np.float32)
    np.testing.assert_array_equal(nn.logsumexp(aio.asarray(x), axis=1), [-np.inf, np.inf, np.inf, 1e4])


def test_softmax_in_bfloat16_is_rounded_once() -> None:
    x = numbers(8, 64).astype(ml_dtypes.bfloat16)
    y = np.asarray(nn.softmax(aio.asarray(x)))
    assert y.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(y.astype(np.float64), softmax(x.astype(np.float32)), rtol=2**-8)


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint32, np.uint64])
def test_one_hot(axis: int, dtype: Any) -> None:
    indices = np.array([[0, 2, 1], [3, 0, 2]]).astype(dtype)
    expected = np.moveaxis(np.eye(4, dtype=np.float32)[indices.astype(int)], -1, axis)
    np.testing.assert_array_equal(nn.one_hot(aio.asarray(indices), 4, axis=axis), expected, strict=True)


def test_one_hot_out_of_range_and_other_dtypes() -> None:
    y = np.asarray(nn.one_hot(aio.asarray([-1, 4, 1]), 4, dtype=bool))
    assert y.tolist() == [[False] * 4, [False] * 4, [False, True, False, False]]
    assert nn.one_hot(aio.asarray([1]), 0).shape == (1, 0)
    with pytest.raises(TypeError, match="one_hot: indices of dtype float32; it takes integers"):
        nn.one_hot(aio.asarray([1.0]), 4)
    with pytest.raises(ValueError, match="one_hot: -1 classes"):
        nn.one_hot(aio.asarray([1]), -1)
    with pytest.raises(ValueError, match="one_hot: axis 3 is out of range"):
        nn.one_hot(aio.asarray([1]), 4, axis=3)


LOGITS, CLASSES = numbers(6, 5), np.array([0, 4, 2, 2, 1, 3])


def losses(smoothing: float = 0.0) -> np.ndarray:
    logarithms = np.log(softmax(LOGITS))
    target = np.eye(5)[CLASSES] * (1 - smoothing) + smoothing / 5
    return -(target * logarithms).sum(-1)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("probabilities", [False, True])
def test_cross_entropy(smoothing: float, probabilities: bool) -> None:
    labels = aio.asarray(np.eye(5, dtype=np.float32)[CLASSES] if probabilities else CLASSES)
    logits, expected = aio.asarray(LOGITS), losses(smoothing)

    def ours(**options: Any) -> np.ndarray:
        return np.asarray(nn.cross_entropy(logits, labels, label_smoothing=smoothing, **options))

    np.testing.assert_allclose(ours(reduction="none"), expected, rtol=1e-5)
    np.testing.assert_allclose(ours(reduction="sum"), expected.sum(), rtol=1e-5)
    np.testing.assert_allclose(ours(), expected.mean(), rtol=1e-5)


def test_cross_entropy_ignores_and_takes_any_axis() -> None:
    labels = np.where(CLASSES == 2, -100, CLASSES)
    kept = CLASSES != 2
    y = nn.cross_entropy(aio.asarray(LOGITS.T), aio.asarray(labels), axis=0, ignore_index=-100)
    np.testing.assert_allclose(y, losses()[kept].mean(), rtol=1e-5)
    y = nn.cross_entropy(
        aio.asarray(LOGITS.T), aio.asarray(labels), axis=0, ignore_index=-100, reduction="none", label_smoothing=0.2
    )
    np.testing.assert_allclose(y, np.where(kept, losses(0.2), 0), rtol=1e-5)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (np.zeros(5, int), {}, "class numbers of shape (5,) for logits of shape (6, 5)"),
        (np.zeros((6, 4)), {}, "probabilities of shape (6, 4) for logits of shape (6, 5)"),
        (np.zeros((6, 5)), {"ignore_index": 0}, "ignore_index goes with class numbers only"),
        (CLASSES, {"reduction": "median"}, "reduction 'median' is not known"),
        (CLASSES, {"axis": 2}, "axis 2 is out of range"),
    ],
)
def test_wrong_arguments_of_cross_entropy(labels: np.ndarray, options: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the message is looked at below
        nn.cross_entropy(aio.asarray(LOGITS), aio.asarray(labels), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_an_axis_without_elements(dtype: str) -> None:
    for call in (lambda f: f, aio.jit):
        rows = aio.zeros((2, 0), dtype=dtype)
        for function in (aio.nn.softmax, aio.nn.log_softmax):
            assert call(function)(rows).shape == (2, 0)
            assert call(lambda x, f=function: f(x, axis=0))(rows).shape == (2, 0)
            assert call(lambda x, f=function: f(x, axis=(0, 1)))(rows).shape == (2, 0)
        assert call(lambda x: aio.nn.logsumexp(x, axis=1))(rows).tolist() == [-np.inf, -np.inf]
        assert call(aio.nn.logsumexp)(rows).tolist() == -np.inf
