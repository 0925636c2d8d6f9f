"""Sorting functions: arguments and defaults (values: see `_ops`)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

HOST = np.random.default_rng(0).integers(0, 9, (4, 5))
X = aio.asarray(HOST)


def test_sort_and_argsort() -> None:
    assert_array_equal(np.asarray(aio.sort(X)), np.sort(HOST))
    assert_array_equal(np.asarray(aio.sort(X, axis=0, descending=True)), -np.sort(-HOST, axis=0))
    assert_array_equal(np.asarray(aio.argsort(X, axis=0)), np.argsort(HOST, axis=0, kind="stable"))
    unstable = aio.argsort(X, stable=False)
    assert_array_equal(np.asarray(aio.take_along_axis(X, unstable)), np.sort(HOST))
    with pytest.raises(IndexError, match="sort: axis 2 is out of range"):
        aio.sort(X, axis=2)


def test_top_k() -> None:
    values, positions = aio.top_k(X, 2, axis=0)
    assert_array_equal(np.asarray(values), -np.sort(-HOST, axis=0)[:2])
    assert_array_equal(np.asarray(aio.take_along_axis(X, positions, axis=0)), np.asarray(values))
    assert aio.top_k(X, 1, largest=False)[0].shape == (4, 1)
    assert aio.jit(lambda x: aio.top_k(x, 3))(X)[0].shape == (4, 3)
