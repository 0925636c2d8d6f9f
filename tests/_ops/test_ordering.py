"""Sort keys: in the order of the values, and back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._graph import Definition
from aioarray._ops import _ordering
from tests._ops.evaluate import evaluate

# Signalling NaN of bfloat16, cast to compare them.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")

ALL_OF_16_BITS = np.arange(2**16, dtype=np.uint16)
EXHAUSTIVE = [np.float16, ml_dtypes.bfloat16, np.int16, np.uint16]


def keys(x: np.ndarray, **options: bool) -> np.ndarray:
    return np.asarray(evaluate(Definition("keys", lambda node: _ordering.sort_key(node, **options)), x))


@pytest.mark.parametrize("dtype", EXHAUSTIVE)
@pytest.mark.parametrize("descending", [False, True])
def test_keys_are_ordered_as_the_values(dtype: Any, descending: bool) -> None:
    x = ALL_OF_16_BITS.view(dtype)
    value = x.astype(np.float64)
    value = -value if descending else value
    order = np.argsort(value, kind="stable")
    got = keys(x, descending=descending)[order].astype(np.int64)
    same = value[order][1:] == value[order][:-1]
    both_nan = np.isnan(value[order][1:]) & np.isnan(value[order][:-1])
    assert_array_equal(np.diff(got) == 0, same | both_nan)
    assert (np.diff(got) >= 0).all()


@pytest.mark.parametrize("dtype", [*EXHAUSTIVE, "bool", "int8", "uint8", ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("descending", [False, True])
def test_values_come_back(dtype: Any, descending: bool) -> None:
    width = np.dtype(dtype).itemsize
    x = (ALL_OF_16_BITS if width == 2 else np.arange(2 if dtype == "bool" else 256, dtype=np.uint8)).view(dtype)
    got = evaluate(
        Definition(
            "there_and_back",
            lambda node: _ordering.from_sort_key(
                _ordering.sort_key(node, signed_zeros=True, descending=descending), node.dtype, descending=descending
            ),
        ),
        x,
    )
    assert got.dtype == x.dtype
    number = ~np.isnan(x.astype(np.float64))
    assert_array_equal(got[number].view(np.uint8), x[number].view(np.uint8))
    assert np.isnan(got[~number].astype(np.float64)).all()
