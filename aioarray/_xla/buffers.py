"""Host arrays in, host arrays out, and what can be asked of a Buffer.

A Buffer does not look at its spec: what is put there must have the shape and dtype the spec says, so `put`
checks. Waiting, copying and freeing happen without the GIL where the notes say so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import bindings
from .bindings import Buffer, Sharding, SpecLike, _jax, is_ready
from .client import Device, get_client
from .freeing import LARGE, freed_elsewhere
from .reuse import LARGE_BYTES, host_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ALIGNMENT",
    "can_alias",
    "collect_garbage",
    "copy_to_device",
    "delete",
    "empty_aligned",
    "error_buffer",
    "is_ready",
    "nbytes",
    "put",
    "put_scalar",
    "to_numpy",
    "unsafe_pointer",
    "wait",
    "wait_all",
]

# XLA's CPU programs assume this alignment of their arguments; jaxlib copies what is not so aligned.
ALIGNMENT = 64

if bindings.available:
    _COPY = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    _ALIAS = _jax.HostBufferSemantics.ZERO_COPY
_device_put = _jax.batched_device_put


def can_alias(array: np.ndarray[Any, Any]) -> bool:
    """Whether ``put(array, copy=False)`` is possible: row-major, native byte order, aligned to 64 bytes."""
    return bool(
        array.flags.c_contiguous
        and array.dtype.isnative
        and array.ctypes.data % ALIGNMENT == 0
        and not _is_packed(array.dtype)
    )


def empty_aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A host array, uninitialised, in memory that a Buffer can share."""
    size = math.prod(shape) * dtype.itemsize
    if size >= LARGE_BYTES:
        collect_garbage()  # memory that could be taken again may be there
        memory = host_memory.take(size + ALIGNMENT)
    else:
        memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def put(array: np.ndarray[Any, Any], spec: SpecLike, device: Device, *, copy: bool = True) -> Buffer:
    """A Buffer with the value of ``array``, whose shape and dtype, in any byte order, are those of ``spec``.

    With ``copy``, all has been copied when this returns. Without, the Buffer is the memory of ``array``,
    which must not change any more, and lives until jaxlib's next call after the Buffer has gone.

    Raises TypeError on another dtype, ValueError on another shape and, without ``copy``, on an array that
    cannot be shared (see `can_alias`): jaxlib would copy it, and at some later time.
    """
    if array.dtype != spec.dtype:
        if array.dtype.newbyteorder("=") != spec.dtype:
            raise TypeError(f"put: the array is of dtype {array.dtype}, but the spec says {spec.dtype}")
        if not copy:
            raise ValueError(f"put: an array of byte order {array.dtype.byteorder!r} cannot be shared, only copied")
        # jaxlib would take the bytes as they are.
        array = array.astype(spec.dtype)
    if array.shape != spec.shape:
        raise ValueError(f"put: the array is of shape {array.shape}, but the spec says {spec.shape}")
    if copy and array.nbytes >= LARGE_BYTES and not _is_packed(array.dtype):
        own = empty_aligned(array.shape, array.dtype)
        np.copyto(own, array)
        array, copy = own, False
    if copy:
        return _device_put(spec, device._sharding, [array], device._devices, True, False, _COPY, True)
    if not can_alias(array):
        raise ValueError(
            "put: an array can be shared only if it is C-contiguous, in native byte order, of a dtype of "
            f"whole bytes, and aligned to {ALIGNMENT} bytes; this one can only be copied"
        )
    return _device_put(spec, device._sharding, [array], device._devices, True, False, _ALIAS, True)


def put_scalar(value: object, spec: SpecLike, device: Device) -> Buffer:
    """A Buffer with one Python or NumPy number, converted to the dtype of ``spec``, whose shape is ()."""
    # The type matters: jaxlib makes int64, float64 or complex128 of a Python number, whatever the spec says.
    scalar = spec.dtype.type(value)
    return _device_put(spec, device._sharding, [scalar], device._devices, True, False, _COPY, True)


def to_numpy(buffer: Buffer, spec: SpecLike) -> np.ndarray[Any, Any]:
    """The value of a Buffer, read-only; waits for it without the GIL, and raises its error (a ForeignError).

    On the CPU the array is the Buffer's memory, not a copy, except for dtypes of less than a byte. It stays
    valid after the Buffer is deleted.
    """
    get_client()  # raises in a forked child, where jaxlib would wait for threads that are not there
    dtype = spec.dtype
    array, _copied = bindings.host_view(buffer, dtype)
    if array.dtype is not dtype and array.dtype != dtype:
        raise TypeError(f"to_numpy: the Buffer is of dtype {array.dtype}, but the spec says {dtype}")
    flags = array.flags
    if flags.writeable:
        flags.writeable = False
    return array if array.nbytes < LARGE else freed_elsewhere(array)


def wait(buffer: Buffer) -> None:
    """Wait without the GIL; raises the error of a failed or deleted Buffer (a ForeignError)."""
    buffer.block_until_ready()


def wait_all(buffers: Sequence[Buffer]) -> None:
    """Wait without the GIL for all of them; raises the error of one that failed (a ForeignError)."""
    bindings.block_all(buffers)


def delete(buffer: Buffer) -> None:
    """Give up the memory now, or when the computations and host views that use it end.

    Does not wait; twice is no error. The only way to delete that is safe while other threads ask `is_ready`.
    """
    bindings.delete(buffer)
    collect_garbage()  # memory that NumPy owns is freed there
    host_memory.release()


class _PlacedSpec:
    """A spec with a sharding, which jaxlib wants only when it makes an error."""

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(self, spec: SpecLike, sharding: Sharding) -> None:
        self.shape = spec.shape
        self.dtype = spec.dtype
        self.weak_type = spec.weak_type
        self.sharding = sharding


def error_buffer(spec: SpecLike, device: Device, message: str) -> Buffer:
    """A ready Buffer with an error for a value: reading it, and all computed from it, fails with ``message``.

    XLA gives the error the status INTERNAL; begin ``message`` with another code and ": " for `translate` to
    report that one.
    """
    return _jax._make_error_array(get_client(), _PlacedSpec(spec, device._sharding), message)


def copy_to_device(buffer: Buffer, spec: SpecLike, device: Device) -> Buffer:
    """An independent copy of a Buffer on ``device``, which may be its own. Does not wait.

    Raises DeletedArrayError.
    """
    return bindings.copy_to_device(buffer, device._device_list, device._sharding)


def collect_garbage() -> None:
    """Let go of what XLA's threads have let go of: jaxlib keeps such references until the next call that may drop them.

    Memory that was exported over DLPack is one of them, and what it was a view of comes after it.
    """
    for _ in range(2):
        _jax.collect_garbage()


def unsafe_pointer(buffer: Buffer) -> int:
    """The address of the Buffer's memory. Does not wait: it may still be being written."""
    return int(buffer.unsafe_buffer_pointer())


def nbytes(buffer: Buffer) -> int:
    """How many bytes of device memory a Buffer takes."""
    return int(buffer.on_device_size_in_bytes())


def _is_packed(dtype: np.dtype[Any]) -> bool:
    """Whether XLA stores the dtype in less than a byte, as NumPy does not."""
    return dtype.name in _PACKED


_PACKED = frozenset({"int2", "int4", "uint2", "uint4", "float4_e2m1fn"})
