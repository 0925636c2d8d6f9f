"""Statistical functions: arguments and dtypes (values: see `_ops`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aioarray as aio

HOST = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
X = aio.asarray(HOST)
AXES = [None, 0, -1, (0, 2), [0, 2]]


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "var", "std"])
def test_as_numpy(name: str, axis: Any) -> None:
    expected = getattr(np, name)(HOST, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=True)
    assert_allclose(np.asarray(getattr(aio, name)(X, axis=axis, keepdims=True)), expected, rtol=1e-5, atol=1e-6)


def test_dtypes() -> None:
    x = aio.asarray([1, 2, 3], dtype="uint8")
    assert aio.sum(x).dtype == np.uint32
    assert aio.sum(x, dtype="float64").dtype == np.float64
    assert aio.prod(x, dtype=np.int8).dtype == np.int8
    assert aio.mean(x).dtype == aio.var(x).dtype == np.float32
    assert aio.mean(X, dtype="float64").dtype == np.float64
    assert aio.cumulative_sum(x).dtype == np.uint32
    assert aio.max(x).dtype == np.uint8
    with aio.default_dtypes(real="float64", integral="int64"):
        assert aio.sum(x).dtype == np.uint64
        assert aio.mean(x).dtype == np.float64


def test_corrections_of_either_type_share_a_program() -> None:
    assert_allclose(aio.var(X, correction=1).item(), np.var(HOST, correction=1), rtol=1e-5)
    before = aio.stats()["compiles"]
    aio.var(X, correction=1.0).item()
    assert aio.stats()["compiles"] == before


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("include_initial", [False, True])
def test_cumulative(name: str, include_initial: bool) -> None:
    got = getattr(aio, name)(X, axis=1, include_initial=include_initial)
    expected = getattr(np, name)(HOST, axis=1, include_initial=include_initial)
    assert_allclose(np.asarray(got), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="name one with axis="):
        getattr(aio, name)(X)


def test_inside_jit_and_on_python_numbers() -> None:
    function = aio.jit(lambda x: (x - aio.mean(x, axis=0)) / aio.std(x, axis=0, correction=1))
    expected = (HOST - HOST.mean(0)) / np.std(HOST, axis=0, correction=1)
    assert_allclose(np.asarray(function(X)), expected, rtol=1e-4, atol=1e-5)
    assert aio.sum(3).item() == 3
    assert_array_equal(np.asarray(aio.max(HOST)), HOST.max())


MANY = 2**31 + 5


def test_sums_of_booleans_never_wrap_around() -> None:
    # XLA multiplies instead of adding what is stretched.
    def stretched(function: Any) -> Any:
        return aio.jit(lambda v: function(aio.broadcast_to(v, (MANY,))))(aio.asarray(True))

    assert int(stretched(aio.sum)) == MANY
    wide = aio.ShapeDtype((2, MANY), "bool")
    assert aio.eval_shape(aio.sum, wide).dtype == np.int64
    assert aio.eval_shape(lambda x: aio.sum(x, axis=0), wide).dtype == np.int32
    assert aio.eval_shape(lambda x: aio.cumulative_sum(x, axis=1), wide).dtype == np.int64
    assert aio.eval_shape(lambda x: aio.nansum(x, axis=1), wide).dtype == np.int64
    assert aio.eval_shape(lambda x: aio.bincount(x[0], length=3), wide).dtype == np.int64
    assert aio.eval_shape(lambda x: aio.argmax(x, axis=1), wide).dtype == np.int64
    assert aio.sum(aio.ones(3, dtype="bool")).dtype == np.int32


def test_extremes_that_begin_with_a_value() -> None:
    x = aio.asarray([[1, 5], [7, 3]])
    mask = aio.asarray([[True, True], [False, True]])
    host, shown = np.asarray(x), np.asarray(mask)
    for call in (lambda f: f, aio.jit):
        assert call(lambda x: aio.max(x, initial=9))(x).tolist() == 9
        assert call(lambda x: aio.min(x, axis=1, initial=2, keepdims=True))(x).tolist() == [[1], [2]]
        for axis in (None, 0, 1):
            most = call(lambda x, m, axis=axis: aio.max(x, axis=axis, initial=-1, where=m))(x, mask)
            assert_array_equal(np.asarray(most), host.max(axis=axis, initial=-1, where=shown))
            least = call(lambda x, m, axis=axis: x.min(axis, initial=9, where=m))(x, mask)
            assert_array_equal(np.asarray(least), host.min(axis=axis, initial=9, where=shown))
    empty = aio.zeros((2, 0))
    assert aio.max(empty, axis=1, initial=3).tolist() == empty.max(1, initial=3).tolist() == [3.0, 3.0]
    assert aio.max(empty, axis=0).shape == (0,)
    assert np.isnan(float(aio.max(aio.asarray([np.nan, 1.0]), initial=0)))
    assert aio.asarray([False]).max(initial=True).tolist() is True
    with pytest.raises(ValueError, match="max: where= is given without initial="):
        aio.max(x, where=mask)
    with pytest.raises(ValueError, match="there is no min of nothing"):
        aio.min(empty)
    with pytest.raises(TypeError, match="where has dtype int32; it is a mask"):
        aio.max(x, initial=0, where=x)
