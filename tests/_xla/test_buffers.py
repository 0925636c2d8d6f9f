"""Buffers: values of every dtype and layout go to the device and come back, copied or shared."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import _xla
from aioarray._base.errors import DeletedArrayError
from aioarray._xla.buffers import ALIGNMENT, LARGE_BYTES
from tests._xla.programs import Spec, program, put, run

ML_DTYPES = [
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e3m4,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e8m0fnu,
]
PACKED = [ml_dtypes.int2, ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn]
NUMPY_DTYPES = [np.dtype(code) for code in ("?", *"bhilBHILefdFD")]
DTYPES = [np.dtype(dtype) for dtype in (*NUMPY_DTYPES, *ML_DTYPES, *PACKED)]


def misaligned(length: int, offset: int) -> np.ndarray:
    """A float32 array whose address is `offset` bytes past a multiple of ALIGNMENT."""
    memory = np.zeros(4 * length + 2 * ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT + offset
    array = memory[start : start + 4 * length].view(np.float32)
    assert array.ctypes.data % ALIGNMENT == offset
    return array


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), (1, 0, 2)])
def test_values_of_every_dtype_come_back_bit_for_bit(dtype, shape) -> None:
    ones = [0, 1, 1, 0, 0, 1]
    array = np.resize(np.asarray(ones), shape).astype(dtype)
    spec = Spec(shape, dtype)
    back = _xla.to_numpy(_xla.put(array, spec, _xla.default_device()), spec)
    assert (back.dtype, back.shape) == (dtype, shape)
    assert back.tobytes() == array.tobytes()
    assert not back.flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1],
        np.broadcast_to(np.float32(3), (2, 3)),
        np.arange(6, dtype=">f4").reshape(2, 3),
        np.frombuffer(np.arange(24, dtype=np.uint8).tobytes(), np.float32).reshape(2, 3),
    ],
    ids=["strided", "column-major", "reversed", "broadcast", "big-endian", "read-only"],
)
def test_any_layout_can_be_put(array) -> None:
    spec = Spec((2, 3))
    back = _xla.to_numpy(_xla.put(array, spec, _xla.default_device()), spec)
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(("length", "offset"), list(itertools.product([4, 32, 4096, 5_000_000], [0, 4, 16, 32])))
def test_a_copy_is_made_before_put_returns(length, offset) -> None:
    array = misaligned(length, offset)
    array[:] = 1
    spec = Spec((length,))
    buffer = _xla.put(array, spec, _xla.default_device())
    array[:] = 7
    back = _xla.to_numpy(buffer, spec)
    assert (back == 1).all()
    assert not np.shares_memory(back, array)


@pytest.mark.parametrize("length", [4, 32, 4096, 5_000_000])
def test_an_aligned_array_is_shared_without_copy(length) -> None:
    array = misaligned(length, 0)
    spec = Spec((length,))
    assert _xla.can_alias(array)
    buffer = _xla.put(array, spec, _xla.default_device(), copy=False)
    array[:] = 7
    assert _xla.unsafe_pointer(buffer) == array.ctypes.data
    assert (_xla.to_numpy(buffer, spec) == 7).all()


@pytest.mark.parametrize("length", [4, 32, 4096, 5_000_000])
@pytest.mark.parametrize("offset", [4, 16, 32])
def test_a_misaligned_array_is_refused_without_copy(length, offset) -> None:
    array = misaligned(length, offset)
    assert not _xla.can_alias(array)
    with pytest.raises(ValueError, match="aligned to 64 bytes; this one can only be copied"):
        _xla.put(array, Spec((length,)), _xla.default_device(), copy=False)


@pytest.mark.parametrize(
    "array",
    [misaligned(16, 0)[::2], misaligned(16, 0).reshape(4, 4).T, misaligned(16, 0).view(">f4")],
    ids=["strided", "transposed", "big-endian"],
)
def test_other_layouts_are_refused_without_copy(array) -> None:
    assert not _xla.can_alias(array)
    with pytest.raises(ValueError, match="copied"):
        _xla.put(array, Spec(array.shape), _xla.default_device(), copy=False)


@pytest.mark.parametrize("dtype", PACKED, ids=str)
def test_dtypes_of_less_than_a_byte_are_refused_without_copy(dtype) -> None:
    array = misaligned(16, 0).view(np.uint8).view(dtype)
    assert not _xla.can_alias(array)
    with pytest.raises(ValueError, match="whole bytes"):
        _xla.put(array, Spec(array.shape, dtype), _xla.default_device(), copy=False)


def test_a_shared_array_lives_as_long_as_its_buffer() -> None:
    array = misaligned(1000, 0)
    array[:] = 5
    spec = Spec((1000,))
    alive = weakref.ref(array.base)
    buffer = _xla.put(array, spec, _xla.default_device(), copy=False)
    view = _xla.to_numpy(buffer, spec)
    del array
    gc.collect()
    assert alive() is not None
    del buffer
    gc.collect()
    put(0.0)
    assert alive() is not None, "the view still needs it"
    assert (view == 5).all()
    del view
    gc.collect()
    put(0.0)
    assert alive() is None


def test_the_wrong_dtype_or_shape_is_refused() -> None:
    device = _xla.default_device()
    with pytest.raises(TypeError, match="dtype int64, but the spec says float32"):
        _xla.put(np.arange(3, dtype=np.int64), Spec((3,)), device)
    with pytest.raises(TypeError, match="dtype >i4, but the spec says float32"):
        _xla.put(np.arange(3, dtype=">i4"), Spec((3,)), device)
    with pytest.raises(ValueError, match=r"shape \(3,\), but the spec says \(3, 1\)"):
        _xla.put(np.zeros(3, np.float32), Spec((3, 1)), device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scalars_take_the_dtype_of_the_spec(dtype) -> None:
    spec = Spec((), dtype)
    back = _xla.to_numpy(_xla.put_scalar(1, spec, _xla.default_device()), spec)
    assert (back.dtype, back.shape, back.item()) == (dtype, (), dtype.type(1).item())


def test_scalars_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OverflowError):
        _xla.put_scalar(2**40, Spec((), np.int32), _xla.default_device())
    with pytest.raises(TypeError):
        _xla.put_scalar(1j, Spec(()), _xla.default_device())


def test_the_host_view_is_the_memory_of_the_buffer_and_outlives_it() -> None:
    for length in (4, 1000, 1_000_000):
        buffer, spec = put(np.full(length, 5.0))
        view = _xla.to_numpy(buffer, spec)
        assert view.ctypes.data == _xla.unsafe_pointer(buffer)
        _xla.delete(buffer)
        others = [put(np.full(length, 9.0)) for _ in range(8)]
        assert (view == 5).all()
        assert len(others) == 8


def test_to_numpy_checks_the_dtype() -> None:
    buffer, _spec = put([1.0])
    with pytest.raises(TypeError, match="dtype float32, but the spec says int32"):
        _xla.to_numpy(buffer, Spec((1,), np.int32))


def test_to_numpy_waits_for_a_computation() -> None:
    # Matmuls are not run by the calling thread: this one is likely pending when it is read.
    size = 600
    buffer, spec = put(np.full((size, size), 1 / size))
    dot = _xla.compile(program("stablehlo.dot", 2, (size, size)), _xla.default_device())
    for _ in range(4):
        [buffer] = run(dot, [buffer, buffer], spec)
    np.testing.assert_allclose(_xla.to_numpy(buffer, spec), np.full((size, size), 1 / size), rtol=1e-4)
    assert _xla.is_ready(buffer)


def test_deleted_buffers() -> None:
    buffer, spec = put([1.0, 2.0])
    assert not buffer.is_deleted()
    _xla.delete(buffer)
    _xla.delete(buffer)
    assert buffer.is_deleted()
    assert _xla.is_ready(buffer)
    uses = [
        lambda: _xla.wait(buffer),
        lambda: _xla.wait_all([buffer]),
        lambda: _xla.to_numpy(buffer, spec),
        lambda: _xla.to_dlpack(buffer),
        lambda: _xla.nbytes(buffer),
        lambda: _xla.unsafe_pointer(buffer),
    ]
    for use in uses:
        with pytest.raises(_xla.ForeignError, match="deleted"):
            use()
    with pytest.raises(DeletedArrayError, match="deleted or donated"):
        _xla.copy_to_device(buffer, spec, _xla.default_device())


def test_asking_for_readiness_and_deleting_may_race() -> None:
    # Where the two do not exclude each other, jaxlib 0.10.2 ends the process within some 10,000 rounds.
    slot = [put([1.0])[0]]
    finished = threading.Event()

    def ask() -> int:
        count = 0
        while not finished.is_set():
            count += _xla.is_ready(slot[0])
        return count

    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            counts = [pool.submit(ask) for _ in range(3)]
            for _ in range(20_000):
                slot[0], _spec = put([1.0])
                _xla.delete(slot[0])
            finished.set()
            assert all(count.result() > 0 for count in counts)
    finally:
        finished.set()
        sys.setswitchinterval(switch_interval)


def test_an_input_can_be_deleted_while_it_is_used() -> None:
    size = 600
    buffer, spec = put(np.eye(size))
    dot = _xla.compile(program("stablehlo.dot", 2, (size, size)), _xla.default_device())
    [result] = run(dot, [buffer, buffer], spec)
    _xla.delete(buffer)
    np.testing.assert_array_equal(_xla.to_numpy(result, spec), np.eye(size))


def test_an_error_buffer_is_ready_and_fails_wherever_it_is_read() -> None:
    spec = Spec((2,))
    device = _xla.default_device()
    buffer = _xla.error_buffer(spec, device, "RESOURCE_EXHAUSTED: no room for it")
    good, _ = put([1.0, 2.0])
    assert _xla.is_ready(buffer)
    uses = [
        lambda: _xla.wait(buffer),
        lambda: _xla.wait_all([good, buffer]),
        lambda: _xla.to_numpy(buffer, spec),
        lambda: _xla.to_dlpack(buffer),
    ]
    for use in uses * 2:
        with pytest.raises(_xla.ForeignError) as caught:
            use()
        assert _xla.translate(caught.value) == ("RESOURCE_EXHAUSTED", "no room for it")
    assert _xla.to_numpy(good, spec).tolist() == [1.0, 2.0]


def test_computations_pass_an_error_on() -> None:
    spec = Spec((2,))
    device = _xla.default_device()
    buffer = _xla.error_buffer(spec, device, "DATA_LOSS: gone")
    negate = _xla.compile(program("stablehlo.negate", 1, (2,)), device)
    for _ in range(3):
        [buffer] = run(negate, [buffer], spec)
        with pytest.raises(_xla.ForeignError) as caught:
            _xla.to_numpy(buffer, spec)
        assert _xla.translate(caught.value) == ("DATA_LOSS", "gone")


def test_wait_all_waits_for_each() -> None:
    buffers = [put(float(value))[0] for value in range(5)]
    _xla.wait_all(buffers)
    _xla.wait_all([])
    _xla.wait(buffers[0])
    assert all(_xla.is_ready(buffer) for buffer in buffers)


def test_nbytes_is_the_memory_on_the_device() -> None:
    assert _xla.nbytes(put(np.zeros((3, 5)))[0]) == 60
    assert _xla.nbytes(put(np.zeros(3), np.complex128)[0]) == 48


def test_a_copy_is_independent() -> None:
    buffer, spec = put([1.0, 2.0])
    copied = _xla.copy_to_device(buffer, spec, _xla.default_device())
    assert _xla.unsafe_pointer(copied) != _xla.unsafe_pointer(buffer)
    _xla.delete(buffer)
    assert _xla.to_numpy(copied, spec).tolist() == [1.0, 2.0]


def test_buffers_can_be_referenced_weakly() -> None:
    buffer, _spec = put([1.0])
    reference = weakref.ref(buffer)
    assert reference() is buffer
    del buffer
    assert reference() is None


def test_reading_does_not_look_for_jax() -> None:
    """jaxlib's own way of reading a buffer imports `jax` where it is installed, and looks for it where it is not."""
    code = """
import sys

class Asked:
    def find_spec(self, name, path=None, target=None):
        assert not name.startswith("jax.") and name != "jax", f"{name} was looked for"

sys.meta_path.insert(0, Asked())
import numpy as np
import aioarray as aio

for dtype in ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64"):
    for shape in ((), (3,), (0, 2), (2, 3)):
        value = np.ones(shape, dtype)
        assert np.array_equal(np.asarray(aio.asarray(value) + aio.asarray(value)), value + value)
print(aio.asarray([1.0, 2.0]) + 1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr


LARGE = (1 << 21, 5)  # 40 MiB of float32


@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_what_is_large_is_copied_too_into_memory_that_is_given_back(dtype) -> None:
    array = np.arange(LARGE[0] * LARGE[1], dtype=dtype).reshape(LARGE)
    for source in (array, array[:, ::-1], array.T):
        expected = source.astype(np.float32)
        spec = Spec(source.shape, np.float32)
        assert expected.nbytes >= LARGE_BYTES
        buffer = _xla.put(source, spec, _xla.default_device())
        view = _xla.to_numpy(buffer, spec)
        assert view.ctypes.data % ALIGNMENT == 0
        assert not np.shares_memory(view, array)
        source[...] += 1
        assert np.array_equal(view, expected)
        assert not view.flags.writeable
        source[...] -= 1


def test_large_memory_is_free_when_delete_returns() -> None:
    array = np.ones(LARGE, np.float32)
    spec = Spec(LARGE, np.float32)
    gc.collect()
    _xla.collect_garbage()
    _xla.host_memory.release()  # or memory of a test before would be taken again
    tracemalloc.start()
    try:
        buffer = _xla.put(array, spec, _xla.default_device())
        held = tracemalloc.get_traced_memory()[0]
        assert held >= array.nbytes
        _xla.delete(buffer)
        assert tracemalloc.get_traced_memory()[0] < held - array.nbytes / 2
    finally:
        tracemalloc.stop()


def test_a_large_copy_can_be_donated() -> None:
    array = np.ones(LARGE, np.float32)
    double = aio.jit(lambda x: x + x, donate_argnames="x")
    x = aio.asarray(array)
    assert np.array_equal(np.asarray(double(x)), array + 1)
    assert x.is_deleted()
    assert np.array_equal(array, np.ones(LARGE, np.float32))
