"""How other array libraries take an Array: DLPack and the array API's entry point."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .. import _xla

if TYPE_CHECKING:
    from types import FrameType, ModuleType

    from .value import Value

# Revisions of the standard that programs may ask for; each is contained in the latest.
API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


# Packages whose from_dlpack takes no notice of the read-only flag: PyTorch's tensors are all writable.
WRITING = frozenset({"torch"})


def _writes_into_read_only(caller: FrameType) -> bool:
    name: object = caller.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in WRITING


def dlpack(
    x: Value,
    /,
    *,
    stream: int | Any | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    if dl_device is not None and tuple(dl_device) != dlpack_device(x):
        raise BufferError(f"__dlpack__: the array is on {dlpack_device(x)}, not on {dl_device}")
    x._host_value("__dlpack__")
    buffer = x._buffer
    if copy is None:
        # Values never change. Where the capsule cannot say so, or nobody listens, the consumer gets its own memory.
        copy = not _xla.can_export_read_only(x._spec.dtype, max_version) or _writes_into_read_only(sys._getframe(1))
    if copy:
        buffer = _xla.copy_to_device(buffer, x._spec, x.device)
        _xla.wait(buffer)
    return _xla.to_dlpack(buffer, max_version=max_version, copied=bool(copy))


def dlpack_device(x: Value, /) -> tuple[int, int]:
    # kDLCPU is 1, kDLCUDA 2 (dlpack.h).
    return (1, 0) if x.device.platform == "cpu" else (2, x.device.id)


def array_namespace(x: Value, /, *, api_version: str | None = None) -> ModuleType:
    if api_version is not None and api_version not in API_VERSIONS:
        raise ValueError(f"__array_namespace__: api_version {api_version!r} is not known; use '2025.12'")
    return sys.modules["aioarray"]
