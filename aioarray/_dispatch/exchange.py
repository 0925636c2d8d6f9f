"""Arrays of other libraries as operands and as host arrays, by DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _xla
from .._base import dtypes
from .._base.host_values import host_array
from .._engine import engine
from .._graph import array_spec
from .operands import host_operand

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._xla import Device
    from .operands import Operand

KDL_CPU = 1  # dlpack.h


def dlpack_operand(x: Any, device: Device | None, copy: bool | None) -> Operand:
    """What ``x`` exports by DLPack, on ``device``; ``copy`` as for ``from_dlpack``. Raises ``BufferError``."""
    kind, number = x.__dlpack_device__()
    host = kind == KDL_CPU
    if device is None:
        device = engine.device() if host else _xla.find_device(f"gpu:{number}")
    if host != (device.platform == "cpu"):
        if copy is False:
            raise BufferError(f"from_dlpack: moving to {device} takes a copy, and copy=False; use copy=None")
        if host:
            return host_operand(np.from_dlpack(x), device)
        spec, buffer = dlpack_operand(x, None, None)
        target = spec.on(device)
        return target, _xla.copy_to_device(buffer, target, device)
    spec = array_spec(tuple(x.shape), _dtype(x), device)
    try:
        return spec, _xla.from_dlpack(x, spec, device, copy=copy)
    except _xla.ForeignError as error:
        if copy is False or not host:
            raise BufferError(f"from_dlpack: {error}") from None
        # Strided, which NumPy reads and jaxlib does not.
        return host_operand(np.from_dlpack(x), device)
    except ValueError as error:  # of `put`
        raise BufferError(f"from_dlpack: {error}") from None


def _dtype(x: Any) -> DType:
    # Every library has a dtype object of its own; the last part of its name is common to all.
    return dtypes.as_dtype(str(x.dtype).rpartition(".")[2])


def host_value(function: str, x: Any, dtype: DType | None = None) -> np.ndarray:
    """``host_array``, which reads more: arrays of dtypes that NumPy does not have, such as PyTorch's of 8 bits."""
    try:
        return host_array(function, x, dtype)
    except (TypeError, BufferError):
        if isinstance(x, (np.ndarray, np.generic)) or not hasattr(x, "__dlpack__") or not hasattr(x, "dtype"):
            raise
        try:
            spec, buffer = dlpack_operand(x, None, True)
        except TypeError:  # no dtype of ours either: the first error says so better
            buffer = None
        if buffer is None:
            raise
    return _xla.to_numpy(buffer, spec)
