"""The hypothesis strategies draw what they were asked for, of every dtype that devices have."""

from __future__ import annotations

import asyncio
import doctest
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import aioarray as aio
from aioarray._base import dtypes
from aioarray.testing import strategies

FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ALL = sorted(dtypes.ALL, key=lambda dtype: dtype.name)
FLOATS = [dtype for dtype in ALL if dtype in dtypes.REAL_FLOATING]


@FEW
@given(strategies.arrays())
def test_by_default_any_dtype_of_the_standard_and_small_shapes(x: aio.Array) -> None:
    assert isinstance(x, aio.Array)
    assert x.ndim <= 3
    assert all(length <= 6 for length in x.shape)
    assert x.dtype.name in {
        "bool", "float32", "float64", "complex64", "complex128",
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_every_dtype(dtype: Any) -> None:
    @FEW
    @given(strategies.arrays(dtype, (2, 3)))
    def drawn(x: aio.Array) -> None:
        assert (x.dtype, x.shape) == (dtype, (2, 3))

    drawn()


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_bounds_hold_after_rounding_too(dtype: Any) -> None:
    @FEW
    @given(strategies.arrays(dtype, (4,), min_value=0.1, max_value=0.7))
    def drawn(x: aio.Array) -> None:
        values = np.asarray(x).astype(np.float64)
        assert ((values >= 0.1) & (values <= 0.7)).all()

    drawn()


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_extremes_are_drawn(dtype: Any) -> None:
    one = strategies.arrays(dtype, ())
    assert math.isnan(float(find(one, lambda x: math.isnan(float(x)))))
    finite = strategies.arrays(dtype, (), allow_nan=False, allow_infinity=False)
    large = min(1000.0, float(aio.finfo(dtype).max) / 2)
    assert abs(float(find(finite, lambda x: abs(float(x)) > large))) > large
    with pytest.raises(NoSuchExample):
        find(finite, lambda x: not math.isfinite(float(x)), settings=FEW)
    if not dtype.name.endswith(("fn", "fnuz")):
        assert math.isinf(float(find(one, lambda x: math.isinf(float(x)))))


def test_integers_have_bounds() -> None:
    assert int(find(strategies.arrays(aio.int4, ()), lambda x: int(x) < -6)) in (-8, -7)
    assert int(find(strategies.arrays("uint8", (), min_value=7.5), lambda x: True)) == 8


def test_several_dtypes_strategies_and_elements() -> None:
    several = strategies.arrays(["int8", aio.bfloat16], st.sampled_from([(1,), (2,)]), elements=st.just(3))
    for dtype in ("int8", "bfloat16"):
        x = find(several, lambda x, dtype=dtype: x.dtype.name == dtype and x.shape == (2,))  # type: ignore[misc]
        assert np.asarray(x).tolist() == [3, 3]
    drawn = find(strategies.arrays(strategies.dtypes(boolean=False, integral=False, complex=False), 4), lambda x: True)
    assert (drawn.dtype.name, drawn.shape) == ("float32", (4,))


@FEW
@given(strategies.arrays("bfloat16", 5, unique=True, allow_nan=False))
def test_unique_elements_are_unique_in_the_array(x: aio.Array) -> None:
    assert len(set(np.asarray(x).astype(np.float64).tolist())) == 5


@FEW
@given(strategies.shapes(min_dims=1, max_dims=2, min_side=2, max_side=3))
def test_shapes(shape: tuple[int, ...]) -> None:
    assert 1 <= len(shape) <= 2
    assert set(shape) <= {2, 3}


def test_reading_what_is_drawn_is_no_synchronous_read() -> None:
    async def main(x: aio.Array) -> None:
        with aio.sync_reads("raise"):
            x.tolist()

    asyncio.run(main(find(strategies.arrays("float32", 3), lambda x: True)))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(TypeError, match="elements and min_value both say"):
        strategies.arrays("float32", 3, elements=st.just(1), min_value=0)
    with pytest.raises(ValueError, match="at least one kind"):
        strategies.dtypes(boolean=False, integral=False, real=False, complex=False)
    with pytest.raises(ValueError, match=r"float8_e5m2 has no number from 2\.1 to 2\.2"):
        find(strategies.arrays(aio.float8_e5m2, 3, min_value=2.1, max_value=2.2), lambda x: True)
    with pytest.raises(TypeError, match="not supported on devices"):
        strategies.arrays("U3", 3)


def test_examples_in_docstrings() -> None:
    found = doctest.testmod(strategies, extraglobs={"aio": aio})
    assert found.failed == 0
    assert found.attempted >= 6
