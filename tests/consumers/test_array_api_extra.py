"""array-api-extra's functions on Arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio
from tests.consumers.agreement import check

xpx = pytest.importorskip(
    "array_api_extra", reason="array-api-extra is not installed; it comes with the extra 'consumers'"
)

X = np.random.default_rng(0).normal(size=(3, 4))


@pytest.mark.parametrize("name", ["atleast_nd", "cov", "kron", "nan_to_num", "nunique", "pad", "setdiff1d", "sinc"])
def test_functions(name: str) -> None:
    arguments: dict[str, tuple[Any, ...]] = {
        "atleast_nd": (X,),
        "cov": (X,),
        "kron": (X, X.T.copy()),
        "nan_to_num": (np.where(X > 0, np.nan, X),),
        "nunique": (np.array([3, 1, 3]),),
        "pad": (X,),
        "setdiff1d": (np.array([3, 1, 3]), np.array([1, 5])),
        "sinc": (X,),
    }
    static = {"atleast_nd": {"ndim": 4}, "pad": {"pad_width": 2}}.get(name, {})
    # The number of distinct values is in the default integral dtype, which is not NumPy's.
    with aio.default_dtypes(integral="int64"):
        check(lambda *arrays: getattr(xpx, name)(*arrays, **static), *arguments[name])


def test_apply_where() -> None:
    check(lambda x: xpx.apply_where(x > 0, x, lambda y: y**2, lambda y: -y), X)
    check(lambda x: xpx.apply_where(x > 0, x, lambda y: y**2, fill_value=7.0), X)


@pytest.mark.parametrize("mode", ["set", "add", "multiply", "min"])
@pytest.mark.parametrize("copy", [None, True, False])
def test_at(mode: str, copy: bool | None) -> None:
    check(lambda x: getattr(xpx.at(x, (slice(1, 3), 0)), mode)(2.0, copy=copy), X)
    check(lambda x: getattr(xpx.at(x)[x > 0], mode)(2.0, copy=copy), X)


def test_at_without_a_copy_changes_the_array() -> None:
    x = aio.asarray([1.0, 2.0])
    assert xpx.at(x, 0).set(5.0, copy=False) is x
    assert_array_equal(x, [5, 2])
    with pytest.raises(TypeError, match="dtype"):
        xpx.at(aio.asarray([1, 2]), 0).add(0.5)


def test_lazy_apply() -> None:
    check(lambda x: xpx.lazy_apply(np.cumsum, x, as_numpy=True), X[0])
