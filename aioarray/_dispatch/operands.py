"""What a call takes, as operands: a spec, with a buffer or what will have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from .._base import dtypes
from .._base.errors import DeletedArrayError
from .._engine import engine
from .._graph import array_spec
from . import copies

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from .._graph import ArraySpec
    from .._xla import Buffer, Device

# A value that is ready, with its spec: what an Array is made of.
Operand: TypeAlias = "tuple[ArraySpec, Buffer]"


def host_operand(value: np.ndarray[Any, Any], device: Device | None, copy: bool = True) -> Operand:
    """A host array as an operand; with ``copy``, later changes of ``value`` are not seen."""
    where = engine.device() if device is None else device
    spec = array_spec(value.shape, dtypes.as_dtype(value.dtype), where)
    return spec, copies.put(value, spec, where, copy)


def common_device(name: str, specs: Sequence[ArraySpec]) -> Device:
    """The device of all of ``specs``; ``ValueError`` where they differ."""
    devices = {spec.device for spec in specs}
    if len(devices) > 1:
        listed = ", ".join(sorted(map(str, devices)))
        raise ValueError(f"{name}: the arrays are on several devices ({listed}); move them with to_device()")
    device = devices.pop() if devices else None
    return device if device is not None else engine.device()


def deleted_error(what: str) -> DeletedArrayError:
    return DeletedArrayError(
        f"{what}: this Array was deleted (by delete(), or by being donated to a jitted function); keep a copy, or do "
        "not use it afterwards"
    )
