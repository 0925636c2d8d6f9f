"""Buffers over DLPack: shared or copied, with old and new producers and consumers."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from aioarray import _xla
from tests._xla.programs import Spec, program, put, run
from tests._xla.test_buffers import misaligned


class Exported:
    """A Buffer as an object with ``__dlpack__``."""

    def __init__(self, buffer) -> None:
        self.buffer = buffer
        self.asked: list[dict] = []

    def __dlpack__(self, *, max_version=None, stream=None, copy=None, dl_device=None):
        self.asked.append({"max_version": max_version})
        return _xla.to_dlpack(self.buffer, max_version=max_version)

    def __dlpack_device__(self):
        return (1, 0)


class OldProducer(Exported):
    def __dlpack__(self, stream=None):
        return _xla.to_dlpack(self.buffer)


def test_numpy_takes_a_buffer_without_a_copy() -> None:
    buffer, _spec = put([[1.0, 2.0], [3.0, 4.0]])
    array = np.from_dlpack(Exported(buffer))
    assert array.ctypes.data == _xla.unsafe_pointer(buffer)
    _xla.delete(buffer)
    others = [put(np.full((2, 2), 9.0)) for _ in range(8)]
    assert array.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert len(others) == 8


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "bfloat16"])
@pytest.mark.parametrize("copy", [None, True])
def test_buffers_make_the_round_trip(dtype, copy) -> None:
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    buffer, spec = put([[1, 0, 1]], dtype)
    again = _xla.from_dlpack(Exported(buffer), spec, _xla.default_device(), copy=copy)
    back = _xla.to_numpy(again, spec)
    assert back.dtype == dtype
    assert back.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize("producer", [Exported, OldProducer])
def test_old_and_new_producers_are_understood(producer) -> None:
    buffer, spec = put([1.0, 2.0])
    again = _xla.from_dlpack(producer(buffer), spec, _xla.default_device())
    assert _xla.to_numpy(again, spec).tolist() == [1.0, 2.0]


def test_a_bare_capsule_is_understood() -> None:
    buffer, spec = put([1.0, 2.0])
    again = _xla.from_dlpack(_xla.to_dlpack(buffer), spec, _xla.default_device(), copy=False)
    assert _xla.unsafe_pointer(again) == _xla.unsafe_pointer(buffer)


@pytest.mark.parametrize(("length", "offset"), list(itertools.product([4, 4096, 5_000_000], [0, 4])))
def test_a_copy_is_made_before_it_returns(length, offset) -> None:
    array = misaligned(length, offset)
    array[:] = 1
    spec = Spec((length,))
    buffer = _xla.from_dlpack(array, spec, _xla.default_device(), copy=True)
    array[:] = 7
    assert (_xla.to_numpy(buffer, spec) == 1).all()


def test_an_aligned_array_is_shared_if_nobody_writes_into_it() -> None:
    array = misaligned(100, 0)
    spec = Spec((100,))
    buffer = _xla.from_dlpack(array, spec, _xla.default_device(), copy=False)
    assert _xla.unsafe_pointer(buffer) == array.ctypes.data
    buffer = _xla.from_dlpack(array, spec, _xla.default_device())
    assert _xla.unsafe_pointer(buffer) != array.ctypes.data
    array.flags.writeable = False
    for copy in (None, False):
        buffer = _xla.from_dlpack(array, spec, _xla.default_device(), copy=copy)
        assert _xla.unsafe_pointer(buffer) == array.ctypes.data


def test_a_misaligned_array_is_shared_or_refused() -> None:
    array = misaligned(100, 4)
    with pytest.raises(_xla.ForeignError, match="not aligned to 64 bytes"):
        _xla.from_dlpack(array, Spec((100,)), _xla.default_device(), copy=False)
    buffer = _xla.from_dlpack(array, Spec((100,)), _xla.default_device())
    assert _xla.unsafe_pointer(buffer) != array.ctypes.data


def test_what_comes_must_be_of_the_spec() -> None:
    for spec in (Spec((3,), np.int32), Spec((3, 1)), Spec((4,))):
        for copy in (None, True):
            with pytest.raises(TypeError, match=r"dtype float32 and shape \(3,\), but the spec says"):
                _xla.from_dlpack(np.zeros(3, np.float32), spec, _xla.default_device(), copy=copy)


def test_imported_buffers_can_be_computed_with() -> None:
    device = _xla.default_device()
    spec = Spec((3,))
    buffer = _xla.from_dlpack(np.arange(3, dtype=np.float32), spec, device)
    [result] = run(_xla.compile(program("stablehlo.negate", 1, (3,)), device), [buffer], spec)
    assert _xla.to_numpy(result, spec).tolist() == [0, -1, -2]
    copied = _xla.copy_to_device(buffer, spec, device)
    assert _xla.to_numpy(copied, spec).tolist() == [0, 1, 2]
