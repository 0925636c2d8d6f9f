"""array-api-compat on Arrays: it knows no special case for them, and needs none."""

from __future__ import annotations

import numpy as np
import pytest

import aioarray as aio

compat = pytest.importorskip(
    "array_api_compat", reason="array-api-compat is not installed; it comes with the extra 'consumers'"
)


def test_the_namespace_is_the_package() -> None:
    x = aio.zeros((2, 3))
    assert compat.is_array_api_obj(x)
    assert compat.array_namespace(x) is aio
    assert compat.array_namespace(x, 1.0, None, api_version="2025.12") is aio
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, np.zeros(3))


def test_no_library_that_it_knows_claims_an_array() -> None:
    x = aio.zeros((2, 3))
    kinds = ["cupy", "dask", "jax", "ndonnx", "numpy", "pydata_sparse", "torch"]
    assert not [kind for kind in kinds if getattr(compat, f"is_{kind}_array")(x)]
    assert not [kind for kind in kinds if getattr(compat, f"is_{kind}_namespace")(aio)]


def test_devices_and_sizes() -> None:
    x = aio.zeros((2, 3))
    assert compat.device(x) == x.device
    assert compat.to_device(x, x.device) is x
    assert compat.size(x) == 6


def test_arrays_are_writeable_and_eager() -> None:
    x = aio.zeros((2, 3))
    assert compat.is_writeable_array(x)
    assert not compat.is_lazy_array(x)
