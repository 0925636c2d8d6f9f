"""xarray's DataArray around an Array: what it computes stays on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.consumers.agreement import check

if TYPE_CHECKING:
    from collections.abc import Callable

xr = pytest.importorskip("xarray", reason="xarray is not installed; it comes with the extra 'consumers'")

X = np.random.default_rng(0).normal(size=(2, 3, 4))


def labelled(x: Any) -> Any:
    return xr.DataArray(x, dims=("a", "b", "c"), coords={"b": [10, 20, 30]})


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: 2 * x**2 - x / 3,
    "broadcasting by name": lambda x: x + x.isel(a=0) * x.isel(c=1),
    "comparison": lambda x: x > 0,
    "isel": lambda x: x.isel(a=0, b=[0, 2]),
    "sel": lambda x: x.sel(b=20),
    "slice": lambda x: x[:, ::2, 1:-1],
    "transpose": lambda x: x.transpose("c", "a", "b"),
    "stack": lambda x: x.stack(z=("a", "b")),
    "concat": lambda x: xr.concat([x, x + 1], "a"),
    "where": lambda x: x.where(x > 0, 0.0),
    "sum": lambda x: x.sum("b", skipna=False),
    "mean": lambda x: x.mean(("a", "c"), skipna=False),
    "max": lambda x: x.max("b", skipna=False),
    "any": lambda x: (x > 1).any("c"),
    "count": lambda x: x.count("b"),
    "fillna": lambda x: x.where(x > 0).fillna(3.0),
    "clip": lambda x: x.clip(-0.5, 0.5),
    "shift": lambda x: x.shift(a=1, fill_value=0.0),
    "roll": lambda x: x.roll(c=1),
    "diff": lambda x: x.diff("c"),
    "pad": lambda x: x.pad(a=1, constant_values=0.0),
    "dot": lambda x: xr.dot(x, x, dim="c"),
    "astype": lambda x: x.astype("float32"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    # Sums of booleans are in the default integral dtype, which is not NumPy's.
    with aio.default_dtypes(integral="int64"):
        check(lambda x: OPERATIONS[name](labelled(x)).data, X)


def test_functions_of_arrays() -> None:
    got = xr.apply_ufunc(aio.exp, labelled(aio.asarray(X)))
    assert isinstance(got.data, aio.Array)
    np.testing.assert_allclose(got.to_numpy(), np.exp(X), rtol=1e-12)


def test_the_metadata_and_the_value() -> None:
    x = labelled(aio.asarray(X))
    assert x.sizes == {"a": 2, "b": 3, "c": 4}
    assert x.dtype == np.float64
    assert "20" in repr(x)
    np.testing.assert_array_equal(x.to_numpy(), X)
    assert x.equals(x.copy())


def test_a_dataset() -> None:
    data = xr.Dataset({"x": labelled(aio.asarray(X)), "y": ("c", aio.arange(4.0))})
    total = (data["x"] * data["y"]).sum(skipna=False)
    np.testing.assert_allclose(total.to_numpy(), (X * np.arange(4.0)).sum())
