"""The linear algebra functions at top level: arguments and defaults (values: see `_ops`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import aioarray as aio

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)).astype(np.float32), RNG.normal(size=(4, 5)).astype(np.float32)


def test_products() -> None:
    a, b = aio.asarray(A), aio.asarray(B)
    assert_allclose(np.asarray(aio.matmul(a, b)), A @ B, rtol=1e-5, atol=1e-6)
    assert_allclose(np.asarray(aio.matmul(a, b, precision="highest")), A @ B, rtol=1e-5, atol=1e-6)
    assert_allclose(np.asarray(aio.dot(a, b)), A @ B, rtol=1e-5, atol=1e-6)
    assert_allclose(np.asarray(aio.einsum("ij,jk->ki", a, b)), (A @ B).T, rtol=1e-5, atol=1e-6)
    assert_allclose(np.asarray(aio.vecdot(a, a, axis=0)), np.vecdot(A, A, axis=0), rtol=1e-5)
    assert aio.matrix_transpose(a).shape == (4, 3)
    with pytest.raises(ValueError, match="precision 'exact' is not known"):
        aio.matmul(a, b, precision="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize("axes", [0, 1, ((1,), (0,)), ([1], [0]), (1, 0), [[-1], [-2]]], ids=str)
def test_tensordot(axes: Any) -> None:
    assert_allclose(np.asarray(aio.tensordot(A, B, axes=axes)), np.tensordot(A, B, axes), rtol=1e-5, atol=1e-6)


def test_python_numbers_and_host_arrays() -> None:
    assert aio.dot(2, aio.asarray([1, 2])).tolist() == [2, 4]
    assert aio.matmul(aio.asarray([1, 2], dtype="int8"), np.array([3, 4], np.int8)).item() == 11
