"""In-place operators: what is cast to the array's dtype, what raises, and that each is one launch."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

REAL = [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize("target", [*REAL, np.complex64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("source", [*REAL, np.complex64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("function", [operator.iadd, operator.imul, operator.itruediv], ids=lambda f: f.__name__)
def test_casts_are_numpys(function: Any, source: Any, target: Any) -> None:
    x, y = np.array([7, 9]).astype(target), np.array([2, 3]).astype(source)
    array = aio.asarray(x)
    try:
        expected = function(x.copy(), y)
    except TypeError:
        with pytest.raises(TypeError, match=r"in place: the result, of dtype .*, cannot be cast to"):
            function(array, aio.asarray(y))
        assert_array_equal(array, x)
    else:
        before = array
        function(array, aio.asarray(y))
        assert array is before
        assert array.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(array), expected, rtol=1e-6)


def test_one_launch_with_the_cast() -> None:
    x, y = aio.zeros((3,), dtype="float32"), aio.ones((3,), dtype="float64")
    aio.block_until_ready((x, y))
    before = aio.stats()["enqueued"]
    x += y
    assert aio.stats()["enqueued"] == before + 1
    assert_array_equal(x, np.ones(3, np.float32), strict=True)


@pytest.mark.parametrize("exponent", [2, 9, 2.5, np.float64(2)])
def test_powers(exponent: Any) -> None:
    x, expected = aio.asarray([1.5, -2.0]), np.array([1.5, -2.0], np.float32)
    with np.errstate(invalid="ignore"):
        expected **= exponent
    x **= exponent
    assert x.dtype == np.float32
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-6)


def test_another_shape_raises() -> None:
    x = aio.zeros((3,))
    with pytest.raises(ValueError, match=r"add in place: the result has shape \(2, 3\), the array \(3,\)"):
        x += aio.zeros((2, 3))
    x += aio.ones((1,))
    assert_array_equal(x, np.ones(3))


def test_an_array_that_is_no_number_is_left_to_its_own_class() -> None:
    x = aio.zeros((3,))
    with pytest.raises(TypeError, match="unsupported operand"):
        x += "a"
