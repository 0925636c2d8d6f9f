"""DLPack with NumPy, PyTorch and JAX as partners, both ways: values, dtypes, sharing, copies, versions, devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
LENGTH = 1 << 18


def partner(name: str) -> Any:
    if name == "numpy":
        return np
    if name == "torch":
        return pytest.importorskip("torch", reason="PyTorch is not installed; it is a partner, not a dependency")
    pytest.importorskip("jax", reason="JAX is not installed; it is a partner, not a dependency")
    return pytest.importorskip("jax.numpy")


def made(library: Any, values: list[Any], dtype: str) -> Any:
    kind = getattr(library, "bool_" if dtype == "bool" and library is np else dtype)
    return library.asarray(values).to(kind) if hasattr(library, "Tensor") else library.asarray(values).astype(kind)


def aligned_ones() -> np.ndarray:
    block = np.ones(LENGTH + 16, np.float32)
    start = -block.ctypes.data % 64 // block.itemsize
    return block[start : start + LENGTH]


PARTNERS = pytest.mark.parametrize("name", ["numpy", "torch", "jax"])


def _dtype_name(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]


@PARTNERS
@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_every_dtype_makes_the_round_trip(name: str, dtype: str) -> None:
    library = partner(name)
    if name == "numpy" and dtype == "bfloat16":
        pytest.skip("NumPy's DLPack has no bfloat16")
    if name == "jax" and dtype in ("int64", "float64", "complex128"):
        pytest.skip("JAX makes 64-bit arrays only when its x64 mode is on, which is a process-wide setting")
    for values in ([[0, 1, 2], [3, 4, 5]], [[]], 7):
        theirs = made(library, values, dtype)
        ours = aio.from_dlpack(theirs)
        assert ours.dtype.name == dtype
        assert ours.tolist() == theirs.tolist()
        assert (ours + ours).shape == ours.shape
        back = library.from_dlpack(ours)
        assert _dtype_name(back) == dtype
        assert back.tolist() == theirs.tolist()


@PARTNERS
@pytest.mark.parametrize("copy", [None, False, True])
def test_what_comes_is_shared_unless_a_copy_is_asked_for(name: str, copy: bool | None) -> None:
    if name == "jax":
        pytest.skip("JAX's arrays cannot be changed, which is how this test sees sharing")
    # PyTorch aligns memory to 64 bytes, which sharing takes; NumPy does not.
    theirs = aligned_ones() if name == "numpy" else made(partner(name), [1.0] * LENGTH, "float32")
    ours = aio.from_dlpack(theirs, copy=copy)
    theirs[0] = 7
    assert ours[0].item() == (1 if copy else 7)


@PARTNERS
def test_what_goes_out_is_shared_and_outlives_the_array(name: str) -> None:
    library = partner(name)
    ours = aio.arange(float(LENGTH))
    address = np.asarray(ours).ctypes.data
    theirs = library.from_dlpack(ours)
    pointer = {"numpy": lambda: theirs.ctypes.data, "torch": lambda: theirs.data_ptr()}.get(
        name, lambda: theirs.unsafe_buffer_pointer()
    )
    assert pointer() == address
    ours.delete()
    assert theirs[-1].item() == LENGTH - 1


@PARTNERS
def test_a_copy_goes_out(name: str) -> None:
    library = partner(name)
    ours = aio.arange(float(LENGTH))
    theirs = library.from_dlpack(ours, copy=True)
    assert theirs.tolist() == ours.tolist()
    if name != "jax":  # which does not pass the wish on
        assert np.asarray(theirs).ctypes.data != np.asarray(ours).ctypes.data


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_strided_arrays_come_in_as_they_read(name: str) -> None:
    theirs = made(partner(name), list(range(24)), "float32").reshape(4, 6).T[::2]
    for copy in (None, True):
        ours = aio.from_dlpack(theirs, copy=copy)
        assert ours.tolist() == theirs.tolist()
        assert (ours * 2).tolist() == (theirs * 2).tolist()


def test_a_tensor_that_needs_a_gradient_is_refused() -> None:
    torch = partner("torch")
    with pytest.raises(BufferError, match="detach"):
        aio.from_dlpack(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize(
    ("max_version", "name"),
    [(None, "dltensor"), ((0, 0), "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned")],
)
def test_the_capsule_is_of_a_version_that_the_consumer_reads(max_version: tuple[int, int] | None, name: str) -> None:
    capsule = aio.zeros(3).__dlpack__(max_version=max_version)
    # jaxlib 0.10 writes the old form only, which consumers of the new one read too.
    assert f'"{name}"' in repr(capsule) or '"dltensor"' in repr(capsule)
    if max_version is None or max_version < (1, 0):
        assert '"dltensor"' in repr(capsule)


def test_devices() -> None:
    x = aio.arange(3.0)
    assert x.__dlpack_device__() == (1, 0)
    assert_array_equal(np.from_dlpack(x, device="cpu"), [0, 1, 2])
    assert '"dltensor"' in repr(x.__dlpack__(dl_device=(1, 0), copy=False, stream=None))
    with pytest.raises(BufferError, match=r"__dlpack__: the array is on \(1, 0\), not on \(2, 0\)"):
        x.__dlpack__(dl_device=(2, 0))
    assert aio.from_dlpack(np.arange(3.0), device="cpu:0").tolist() == [0, 1, 2]
    assert aio.from_dlpack(x) is x
    assert aio.from_dlpack(x, copy=True) is not x


@pytest.mark.asyncio
async def test_an_unawaited_array_is_a_synchronous_read() -> None:
    x = aio.arange(3.0) + 1
    with aio.sync_reads("raise"), pytest.raises(aio.errors.SyncReadError):
        np.from_dlpack(x)
    await x
    with aio.sync_reads("raise"):
        assert_array_equal(np.from_dlpack(x), [1, 2, 3])
