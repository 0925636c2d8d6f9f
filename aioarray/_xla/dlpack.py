"""DLPack: Buffers out of what other libraries export, and exports of Buffers, which nobody may write into.

A capsule of DLPack 1 has flags: whether the memory is read-only, and whether it is a copy made for the consumer. An
older one has none, so nobody can tell. jaxlib shows no flags, and says "read-only" of copies too, so they are read and
written here in place: https://dmlc.github.io/dlpack/latest/c_api.html.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import bindings
from .bindings import Buffer, SpecLike, _jax
from .buffers import can_alias, copy_to_device, put

if TYPE_CHECKING:
    from .client import Device

__all__ = ["can_export_read_only", "from_dlpack", "to_dlpack"]

if bindings.available:
    _COPY = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    _ALIAS = _jax.HostBufferSemantics.ZERO_COPY

READ_ONLY: Final = 1
IS_COPIED: Final = 2

_VERSIONED: Final = b"dltensor_versioned"


class _Versioned(ctypes.Structure):
    """The beginning of ``DLManagedTensorVersioned``."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    )


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_pointer.restype = ctypes.c_void_p


def _versioned(capsule: Any) -> _Versioned | None:
    """The head of a capsule with flags that nobody has taken yet; None of another."""
    if not _is_valid(capsule, _VERSIONED):
        return None
    head = _Versioned.from_address(_pointer(capsule, _VERSIONED))
    return head if head.major == 1 else None


# ---- Out


def can_export_read_only(dtype: np.dtype[Any], max_version: tuple[int, int] | None) -> bool:
    """Whether a capsule for a consumer that reads ``max_version`` can say that the memory is not to be written into."""
    if max_version is None or tuple(max_version) < (1, 0):
        return False
    return bindings.dlpack_version is not None or _numpy_exports(dtype)


def _numpy_exports(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy makes capsules with flags of this dtype."""
    return dtype.isbuiltin == 1 and np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def to_dlpack(buffer: Buffer, *, max_version: tuple[int, int] | None = None, copied: bool = False) -> Any:
    """A DLPack capsule that shares the Buffer's memory and keeps it alive, also after the Buffer is deleted.

    Waits for the value without the GIL, and raises its error (a ForeignError). ``max_version`` is what the consumer
    understands. The capsule says that the memory is read-only, where it can, unless it is ``copied``: made for the
    consumer, to write into.
    """
    buffer.block_until_ready()  # an error has no dtype to ask for
    view, _copied = bindings.host_view(buffer, buffer.aval.dtype)
    if bindings.dlpack_version is None and not copied and can_export_read_only(view.dtype, max_version):
        view.flags.writeable = False
        return view.__dlpack__(max_version=max_version)
    semantics = _ALIAS if can_alias(view) else _COPY
    sharding = buffer._sharding
    # The capsule is made of a second Buffer on the same memory: `delete()` of a Buffer that has been exported
    # itself is a failed check inside XLA, the end of the process.
    shared = _jax.batched_device_put(buffer.aval, sharding, [view], [sharding._device], True, False, semantics, True)
    capsule = bindings.export_dlpack(shared, max_version, copied)
    head = _versioned(capsule)
    if head is not None and copied:  # jaxlib says read-only of that too
        head.flags &= ~READ_ONLY
    return capsule


# ---- In


def from_dlpack(source: Any, spec: SpecLike, device: Device, *, copy: bool | None = None) -> Buffer:
    """A Buffer from an object with ``__dlpack__``, or from a DLPack capsule.

    ``copy=True`` copies, False shares or raises (a ForeignError). None shares what the producer says that nobody
    writes into, and copies what it may write into. What is copied has been copied when this returns. Raises TypeError
    unless what comes is of ``spec``, and whatever the producer raises.
    """
    try:
        capsule = _capsule(source)
    except BufferError:
        if bindings.dlpack_version is not None:
            raise
        return _through_numpy(source, spec, device, copy)
    if copy is None and not (bindings.is_buffer(source) or _is_constant(capsule)):
        copy = True
    if not copy:
        return _import(capsule, spec, device, copy)
    # jaxlib shares aligned memory even when it is told to copy. What it cannot share it does copy.
    try:
        shared = _import(capsule, spec, device, False)
    except bindings.ForeignError:
        return _import(capsule, spec, device, None)
    buffer = copy_to_device(shared, spec, device)
    # jaxlib copies at some later time. (`_import` has waited for its own copies.)
    buffer.block_until_ready()
    return buffer


def _capsule(source: Any) -> Any:
    """A capsule that jaxlib reads."""
    if not hasattr(source, "__dlpack__"):
        return source
    if bindings.dlpack_version is None:
        return source.__dlpack__()
    try:
        return source.__dlpack__(max_version=bindings.dlpack_version)
    except TypeError:
        # Producers of before the 2023.12 revision of the array API take no max_version.
        return source.__dlpack__()


def _is_constant(capsule: Any) -> bool:
    """Whether the producer says that nobody writes into the memory, or made it for us."""
    head = _versioned(capsule)
    return head is not None and bool(head.flags & (READ_ONLY | IS_COPIED))


def _import(capsule: Any, spec: SpecLike, device: Device, copy: bool | None) -> Buffer:
    buffer = _jax.dlpack_managed_tensor_to_buffer(capsule, device._device, None, copy)
    view, _copied = bindings.host_view(buffer, spec.dtype)
    _check(view, spec)
    # jaxlib names no spec, and a sharding of its own, which 0.10.2 then cannot use.
    return buffer._rewrap_with_aval_and_sharding(spec, device._sharding)


def _through_numpy(source: Any, spec: SpecLike, device: Device, copy: bool | None) -> Buffer:
    """What is not exported without flags, for jaxlib 0.10.2, which does not read them: NumPy does."""
    array = np.from_dlpack(source)
    _check(array, spec)
    if copy is None:
        copy = array.flags.writeable or not can_alias(array)
    return put(array, spec, device, copy=copy)


def _check(array: np.ndarray[Any, Any], spec: SpecLike) -> None:
    if (array.dtype, array.shape) != (spec.dtype, spec.shape):
        raise TypeError(
            f"from_dlpack: the capsule is of dtype {array.dtype} and shape {array.shape}, but the spec says "
            f"{spec.dtype} and {spec.shape}"
        )
