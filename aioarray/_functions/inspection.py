"""What the namespace can do, in the array API standard's terms ("Inspection")."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from .. import _xla
from .._base import config, dtypes
from .data_types import isdtype

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._xla import Device

__all__ = ["__array_namespace_info__"]

Capabilities = TypedDict(
    "Capabilities",
    {"boolean indexing": bool, "data-dependent shapes": bool, "max dimensions": None},
)
DefaultDTypes = TypedDict(
    "DefaultDTypes",
    {
        "real floating": "DType",
        "complex floating": "DType",
        "integral": "DType",
        "indexing": "DType",
    },
)

# Those of the standard; others are not listed, so that programs that go through the list can use every one.
_STANDARD: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        dtypes.bool_,
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint8,
        dtypes.uint16,
        dtypes.uint32,
        dtypes.uint64,
        dtypes.float32,
        dtypes.float64,
        dtypes.complex64,
        dtypes.complex128,
    )
}


class NamespaceInfo:
    """What ``__array_namespace_info__`` gives."""

    __slots__ = ()

    def capabilities(self) -> Capabilities:
        """Boolean indexing and data-dependent shapes are there (they read the value); dimensions have no limit."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> Device:
        """The device on which arrays are created when none is named."""
        return _xla.default_device()

    def devices(self) -> tuple[Device, ...]:
        """All devices of this process."""
        return _xla.devices()

    def default_dtypes(self, *, device: Device | str | None = None) -> DefaultDTypes:
        """The dtypes of what comes without one, the same on every device; see ``aio.default_dtypes``."""
        defaults = config.current()
        return {
            "real floating": defaults.real,
            "complex floating": defaults.complex,
            "integral": defaults.integral,
            "indexing": defaults.integral,
        }

    def dtypes(
        self, *, device: Device | str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The standard's dtypes by name, of ``kind`` if one is given, as ``isdtype`` takes it."""
        if kind is None:
            return dict(_STANDARD)
        return {name: dtype for name, dtype in _STANDARD.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Devices, dtypes and capabilities, in the standard's form.

    >>> sorted(aio.__array_namespace_info__().dtypes(kind="real floating"))
    ['float32', 'float64']
    """
    return NamespaceInfo()
