"""DLPack with NumPy, PyTorch and JAX as partners, both ways: values, dtypes, sharing, copies, versions, devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio
from aioarray import _xla

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
def test_what_may_be_written_into_is_shared_only_when_asked_for(name: str, copy: bool | None) -> None:
    if name == "jax":
        pytest.skip("JAX's arrays cannot be changed, which is how this test sees sharing")
    # PyTorch aligns memory to 64 bytes, which sharing takes; NumPy does not.
    theirs = aligned_ones() if name == "numpy" else made(partner(name), [1.0] * LENGTH, "float32")
    ours = aio.from_dlpack(theirs, copy=copy)
    theirs[0] = 7
    assert ours[0].item() == (7 if copy is False else 1)


def address(x: aio.Array) -> int:
    return int(np.asarray(x).ctypes.data)


def read_only() -> np.ndarray:
    value = aligned_ones()
    value.flags.writeable = False
    return value


@pytest.mark.parametrize(
    "make",
    [
        read_only,
        lambda: np.asarray(aio.arange(float(LENGTH))),
        lambda: np.broadcast_to(np.float32(2), (3, 4)),
        lambda: np.frombuffer(bytes(64 * 4), np.float32),
        lambda: read_only()[::3],
        lambda: np.asarray(aio.arange(12)).reshape(3, 4).T,
        lambda: np.asarray(aio.zeros((0, 3))),
    ],
)
@pytest.mark.parametrize("copy", [None, True])
def test_read_only_arrays_come_in(make: Any, copy: bool | None) -> None:
    theirs = make()
    ours = aio.from_dlpack(theirs, copy=copy)
    assert ours.dtype == theirs.dtype
    assert_array_equal(np.asarray(ours), theirs)
    aligned = theirs.flags.c_contiguous and theirs.size and theirs.ctypes.data % 64 == 0
    if copy or aligned:
        assert (address(ours) == theirs.ctypes.data) is (copy is None)


def test_read_only_arrays_are_shared_or_refused() -> None:
    theirs = read_only()
    assert address(aio.from_dlpack(theirs, copy=False)) == theirs.ctypes.data
    with pytest.raises(BufferError, match="from_dlpack"):
        aio.from_dlpack(np.broadcast_to(np.float32(2), (3, 4)), copy=False)


class Producer:
    """An array whose ``__dlpack__`` is that of ``function``."""

    def __init__(self, array: np.ndarray, function: Any) -> None:
        self.array, self.dtype, self.shape = array, array.dtype, array.shape
        self.__class__ = type("Producer", (Producer,), {"__dlpack__": function})

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_a_producer_of_before_versions_is_copied_and_its_own_error_arrives() -> None:
    theirs = aligned_ones()
    ours = aio.from_dlpack(Producer(theirs, lambda self, stream=None: self.array.__dlpack__()))
    theirs[:] = 7
    assert ours[0].item() == 1

    def fails(self: Any, **options: Any) -> Any:
        raise TypeError("no such thing in the producer")

    with pytest.raises(TypeError, match="no such thing in the producer"):
        aio.from_dlpack(Producer(theirs, fails))


@PARTNERS
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_nobody_writes_into_what_goes_out(name: str, dtype: str) -> None:
    library = partner(name)
    if name == "numpy" and dtype == "bfloat16":
        pytest.skip("NumPy's DLPack has no bfloat16")
    ours = aio.ones(LENGTH, dtype=dtype)
    theirs = library.from_dlpack(ours)
    if name == "torch":  # whose tensors are all writable
        theirs[0] = 7
        assert theirs.data_ptr() != address(ours)
        assert library.from_dlpack(ours, copy=False).data_ptr() == address(ours)
    elif name == "numpy":
        assert not theirs.flags.writeable
        assert theirs.ctypes.data == address(ours)
        own = library.from_dlpack(ours, copy=True)
        assert own.ctypes.data != address(ours)
        if _xla.bindings.dlpack_version is not None:  # without flags, NumPy takes even copies as read-only
            own[0] = 7
    assert ours[0].item() == 1
    ours.delete()
    assert theirs[-1].item() == 1


def test_a_capsule_that_cannot_say_read_only_is_of_a_copy() -> None:
    ours = aio.ones(LENGTH)
    for options, shared in (({}, False), ({"copy": False}, True), ({"max_version": (0, 8)}, False)):
        capsule = ours.__dlpack__(**options)
        again = aio.from_dlpack(Producer(np.asarray(ours), lambda self, c=capsule, **o: c), copy=False)
        assert (address(again) == address(ours)) is shared


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


FLOAT8 = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]


class Foreign:
    """A tensor of a dtype that NumPy's conversions refuse, as PyTorch's are."""

    def __init__(self, array: aio.Array, copy: bool = True) -> None:
        self.array, self.dtype, self.shape = array, f"foreign.{array.dtype.name}", array.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("Got unsupported ScalarType")

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.asyncio
@pytest.mark.parametrize("dtype", ["bfloat16", *FLOAT8])
async def test_dtypes_that_numpy_does_not_have_come_in(dtype: str) -> None:
    ours = aio.asarray([[1, 2], [0.5, -3]], dtype=dtype)
    foreign: Any = Foreign(ours)
    for again in (aio.asarray(foreign), await aio.device_put(foreign), aio.from_dlpack(foreign)):
        assert again.dtype == ours.dtype
        assert again.tolist() == ours.tolist()
    assert aio.asarray(foreign, dtype="float32").tolist() == ours.tolist()
    assert aio.multiply(foreign, 2).dtype == ours.dtype
    traced = aio.jit(lambda x: x * aio.asarray(foreign))(aio.ones((2, 2), dtype=dtype))
    assert (await traced).tolist() == ours.tolist()


@pytest.mark.parametrize("dtype", ["bfloat16", *FLOAT8])
def test_pytorchs_narrow_tensors_come_in(dtype: str) -> None:
    torch = partner("torch")
    theirs = torch.tensor([1, 2, 0.5]).to(getattr(torch, dtype))
    assert aio.asarray(theirs).dtype.name == dtype
    assert aio.asarray(theirs).tolist() == [1, 2, 0.5]


def test_an_object_that_numpy_cannot_read_keeps_numpys_error() -> None:
    class Opaque(Foreign):
        def __init__(self) -> None:
            super().__init__(aio.ones(2))
            self.dtype = "foreign.decimal128"

    with pytest.raises(TypeError, match="Got unsupported ScalarType"):
        aio.asarray(Opaque())  # type: ignore[arg-type]
