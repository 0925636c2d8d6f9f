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


def test_what_is_missing_of_a_size_is_filled() -> None:
    x = aio.asarray([3, 1, 3])
    assert aio.unique_values(x, size=4, fill_value=-1).tolist() == [1, 3, -1, -1]
    assert aio.unique_counts(x, size=4, fill_value=-1).counts.tolist() == [1, 2, 0, 0]
    assert aio.unique_inverse(x, size=3, fill_value=9).values.tolist() == [1, 3, 9]
    assert aio.unique(x, return_index=True, size=3, fill_value=7)[0].tolist() == [1, 3, 7]
    assert aio.union1d(x, [2], size=5, fill_value=0).tolist() == [1, 2, 3, 0, 0]
    assert aio.unique_values(aio.zeros(0), size=2, fill_value=4).tolist() == [4, 4]
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        aio.unique_values(aio.asarray([1], dtype="int8"), size=2, fill_value=300)
