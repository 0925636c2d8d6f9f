"""Set functions: names of the results, dtypes, static sizes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

HOST = np.array([[3, 1, 3], [2, 1, 3]], np.int16)
X = aio.asarray(HOST)


def test_unique_all() -> None:
    found = aio.unique_all(X)
    values, indices, inverse, counts = np.unique(HOST, return_index=True, return_inverse=True, return_counts=True)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    assert found.values.dtype == np.int16
    assert found.indices.dtype == found.inverse_indices.dtype == found.counts.dtype == np.int32
    for got, expected in zip(found, (values, indices, inverse.reshape(HOST.shape), counts), strict=True):
        assert_array_equal(np.asarray(got), expected)


def test_parts_of_it() -> None:
    assert aio.unique_values(X).tolist() == [1, 2, 3]
    assert aio.unique_counts(X).counts.tolist() == [2, 1, 3]
    assert aio.unique_inverse(X).inverse_indices.shape == HOST.shape


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "bool", "complex64"])
def test_other_dtypes(dtype: Any) -> None:
    x = aio.asarray(np.array([1, 0, 1]).astype(dtype))
    assert aio.unique_values(x).dtype == dtype
    assert_array_equal(np.asarray(aio.unique_values(x)).astype(np.complex64), [0, 1])


def test_nan_are_distinct() -> None:
    assert aio.unique_counts(aio.asarray([np.nan, 1.0, np.nan])).counts.tolist() == [1, 1, 1]


def test_a_given_size_works_inside_jit() -> None:
    found = aio.jit(lambda x: aio.unique_all(x, size=4))(X)
    assert found[0].tolist() == [1, 2, 3, 1]
    assert found[3].tolist() == [2, 1, 3, 0]
    assert aio.unique_values(X, size=2).tolist() == [1, 2]
    with pytest.raises(aio.errors.TracedValueError):
        aio.jit(aio.unique_values)(X)


def test_isin() -> None:
    assert aio.isin(X, 3).tolist() == (HOST == 3).tolist()
    assert aio.isin(3, X).item() is True
    assert aio.isin(X, aio.asarray([1, 2]), invert=True).tolist() == (HOST == 3).tolist()
