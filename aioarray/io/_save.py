"""Writing safetensors files."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import numpy as np

from .._array import Array, as_array
from .._base import dtypes
from . import _header
from ._replace import replacing, write_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._array import ArrayLike


def save_safetensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, ArrayLike],
    /,
    *,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write ``tensors`` to the file ``path``, in place of one that is there: either the old file is there or the new.

    Waits for the values and holds the calling thread. The same tensors give the same bytes. int4, uint4, complex128
    and float8_e4m3b11fnuz, which the format does not have, are written as I8, U8, F64 (pairs) and U8 (bytes), with a
    note that ``load_safetensors`` understands. ``TypeError`` for names and metadata that are no strings.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.safetensors")
    ...     aio.io.save_safetensors(path, {"w": aio.arange(3)}, metadata={"step": "7"})
    ...     aio.io.load_safetensors(path)
    {'w': Array([0, 1, 2], dtype=int32)}
    """
    _check(tensors, metadata)
    _write(os.fspath(path), {name: np.asarray(_as_array(name, x)) for name, x in tensors.items()}, metadata or {})


async def save_safetensors_async(
    path: str | os.PathLike[str],
    tensors: Mapping[str, ArrayLike],
    /,
    *,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write ``tensors`` to the file ``path`` as ``save_safetensors`` does, without holding the event loop.

    Cancelled, it leaves what was there before, or has just completed the new file.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.safetensors")
    ...     await aio.io.save_safetensors_async(path, {"w": aio.ones(2) + 1})
    ...     await aio.io.load_safetensors_async(path)
    {'w': Array([2., 2.], dtype=float32)}
    """
    _check(tensors, metadata)
    values = {name: await _as_array(name, x).to_host() for name, x in tensors.items()}
    stop = threading.Event()
    try:
        await anyio.to_thread.run_sync(
            _write, os.fspath(path), values, dict(metadata or {}), stop, abandon_on_cancel=True
        )
    finally:
        stop.set()


def _check(tensors: Mapping[Any, Any], metadata: Mapping[Any, Any] | None) -> None:
    for name in tensors:
        if not isinstance(name, str):
            raise TypeError(f"save_safetensors: the name {name!r} is no string")
        if name == _header.METADATA:
            raise ValueError(f"save_safetensors: {name!r} is reserved; name the tensor otherwise")
    for key, text in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"save_safetensors: metadata {key!r}: {text!r}: both must be strings")
        if key == _header.DTYPES_NOTE:
            raise ValueError(f"save_safetensors: metadata {key!r} is reserved; name it otherwise")


def _as_array(name: str, x: ArrayLike) -> Array:
    try:
        return as_array("save_safetensors", x)
    except TypeError as error:
        raise TypeError(f"{error} (tensor {name!r})") from None


def _stored(value: np.ndarray) -> np.ndarray:
    """The bytes of ``value`` as they go into the file."""
    if value.dtype in (dtypes.int4, dtypes.uint4):
        value = value.astype(np.int8 if value.dtype == dtypes.int4 else np.uint8)
    # reshape first: a 0-d array has no other dtype's view.
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8)


def _write(
    path: str, values: Mapping[str, np.ndarray], metadata: Mapping[str, str], stop: threading.Event | None = None
) -> None:
    listed = [(name, x.dtype, x.shape, x.size * x.dtype.itemsize) for name, x in values.items()]
    head, order = _header.compose(listed, metadata)
    with replacing(path) as file:
        file.write(head)
        for name in order:
            write_pieces(file, memoryview(_stored(values[name]).data), stop)
