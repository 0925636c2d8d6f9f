"""Searching functions: shapes that depend on values, static sizes, scalars."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio
from aioarray import _xla

HOST = np.random.default_rng(0).integers(0, 3, (3, 4, 5))
X = aio.asarray(HOST)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_positions_of_extremes(axis: int | None, keepdims: bool) -> None:
    for name in ("argmax", "argmin", "count_nonzero"):
        got = getattr(aio, name)(X, axis=axis, keepdims=keepdims)
        assert_array_equal(np.asarray(got), getattr(np, name)(HOST, axis=axis, keepdims=keepdims))
        assert got.dtype == np.int32


def test_nonzero() -> None:
    for got, expected in zip(aio.nonzero(X), np.nonzero(HOST), strict=True):
        assert got.dtype == np.int32
        assert_array_equal(np.asarray(got), expected)
    assert_array_equal(np.asarray(aio.argwhere(X)), np.argwhere(HOST))
    with pytest.raises(ValueError, match="without axes"):
        aio.nonzero(aio.asarray(1))


def test_nonzero_of_a_given_size_works_inside_jit() -> None:
    first, second = aio.jit(lambda x: aio.nonzero(x, size=4, fill_value=-1))(aio.asarray([[0, 1], [2, 0]]))
    assert first.tolist() == [0, 1, -1, -1]
    assert second.tolist() == [1, 0, -1, -1]
    assert aio.argwhere(aio.asarray([0, 5]), size=2).tolist() == [[1], [0]]
    with pytest.raises(aio.errors.TracedValueError):
        aio.jit(aio.nonzero)(X)


@pytest.mark.asyncio
async def test_nonzero_reads_its_argument() -> None:
    x = X + 0
    with aio.sync_reads("warn"), pytest.warns(aio.errors.SyncReadWarning):
        aio.nonzero(x)
    y = await (X + 0)
    with warnings.catch_warnings(), aio.sync_reads("raise"):
        warnings.simplefilter("error")
        assert len(aio.nonzero(y)) == 3


def test_searchsorted() -> None:
    x = aio.asarray([1.0, 3.0, 5.0])
    assert aio.searchsorted(x, 3).item() == 1
    assert aio.searchsorted(x, aio.asarray([3.0, 9.0]), side="right").tolist() == [2, 3]
    assert aio.searchsorted(aio.asarray([5.0, 1.0, 3.0]), 3.5, sorter=aio.asarray([1, 2, 0])).item() == 2
    # A number between integers compares as what it is.
    assert aio.searchsorted(aio.asarray([1, 2], dtype="int8"), 1.5).item() == 1


def test_bincount() -> None:
    x = aio.asarray([0, 1, 1, 3])
    assert aio.bincount(x).tolist() == [1, 2, 0, 1]
    assert aio.bincount(x, minlength=6).tolist() == [1, 2, 0, 1, 0, 0]
    assert aio.bincount(x, weights=aio.asarray([0.5, 1.0, 2.0, 4.0])).tolist() == [0.5, 3, 0, 4]
    assert aio.jit(lambda x: aio.bincount(x, length=2))(x).tolist() == [1, 2]
    assert aio.bincount(aio.asarray([], dtype="int32")).shape == (0,)
    with pytest.raises(ValueError, match="negative element, -1"):
        aio.bincount(aio.asarray([-1]))


@pytest.mark.parametrize("length", [1 << 20, (1 << 20) + 77])
@pytest.mark.parametrize("share", [0, 1e-5, 0.5])
def test_few_positions_of_a_large_array(length: int, share: float) -> None:
    mask = np.random.default_rng(0).random(length) < share
    want = np.flatnonzero(mask)[:50]
    got = np.asarray(aio.nonzero(aio.asarray(mask), size=50, fill_value=-1)[0])
    assert_array_equal(got[: want.size], want)
    assert (got[want.size :] == -1).all()


def test_few_positions_take_little_memory() -> None:
    length = 1 << 31
    text = aio.jit(lambda x: aio.nonzero(x, size=2)).lower(aio.ShapeDtype((length,), "bool")).as_text()
    memory = _xla.compile(text.encode(), _xla.default_device()).memory()
    assert memory.temporaries < 1.25 * length  # 24 times as much where every position is ranked


def test_distinct_values_of_nothing() -> None:
    for dtype in ("float32", "int8", "bool", "complex64"):
        nothing = aio.zeros((0, 3), dtype=dtype)
        values, indices, inverse, counts = aio.unique(nothing, True, True, True, size=2)
        assert values.dtype == dtype
        assert (values.tolist(), indices.tolist(), counts.tolist()) == ([0, 0], [0, 0], [0, 0])
        assert inverse.shape == (0, 3)
    assert aio.unique_values(aio.zeros(0), size=2, fill_value=7).tolist() == [7, 7]
    assert aio.union1d(aio.zeros(0), aio.zeros(0), size=2).tolist() == [0, 0]
