"""Utility functions: arguments and defaults (values: see `_ops`)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

HOST = np.array([[1, 0, 4], [9, 16, 25]])
X = aio.asarray(HOST)


def test_all_and_any() -> None:
    assert aio.all(X).item() is False
    assert aio.any(X).item() is True
    assert aio.all(X, axis=[0]).tolist() == [True, False, True]  # type: ignore[arg-type]
    assert aio.any(X, axis=(0, 1), keepdims=True).shape == (1, 1)


def test_diff() -> None:
    assert_array_equal(np.asarray(aio.diff(X)), np.diff(HOST))
    assert_array_equal(np.asarray(aio.diff(X, axis=0, n=2)), np.diff(HOST, axis=0, n=2))
    got = aio.diff(X, axis=0, prepend=X[:1], append=X)
    assert_array_equal(np.asarray(got), np.diff(HOST, axis=0, prepend=HOST[:1], append=HOST))
    assert aio.diff(X, append=aio.asarray([[1.5], [2.5]])).dtype == np.float64
    with pytest.raises(ValueError, match="differ outside axis"):
        aio.diff(X, prepend=aio.zeros((3, 1), dtype="int64"))
