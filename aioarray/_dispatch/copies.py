"""Copies between host and device, shown to the instruments that want to see them."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _xla
from .._engine import Failure, instruments

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from .._graph import ArraySpec
    from .._xla import Buffer, Device

T = TypeVar("T")


def to_numpy(buffer: Buffer, spec: ArraySpec) -> np.ndarray[Any, Any]:
    """The value of ``buffer``, which is ready, as a read-only array."""
    seen_by = instruments.current()
    if seen_by:
        return _observed(seen_by, "to_host", spec, lambda: _xla.to_numpy(buffer, spec))
    return _xla.to_numpy(buffer, spec)


def put(value: np.ndarray[Any, Any], spec: ArraySpec, device: Device, copy: bool) -> Buffer:
    """``value`` on the device."""
    seen_by = instruments.current()
    if seen_by:
        return _observed(seen_by, "device_put", spec, lambda: _xla.put(value, spec, device, copy=copy))
    return _xla.put(value, spec, device, copy=copy)


def _observed(seen_by: tuple[instruments.Instrument, ...], name: str, spec: ArraySpec, function: Callable[[], T]) -> T:
    copy = instruments.Copy(name, spec)
    for instrument in seen_by:
        fault = instrument.on_copying(copy)
        if fault is not None:
            raise Failure(name, copy.origin, fault.status, fault.message).exception()
    result = function()
    copy.done = perf_counter()
    for instrument in seen_by:
        instrument.on_copied(copy)
    return result
