"""Writing NumPy's files, ``.npy`` and ``.npz``, off the event loop."""

from __future__ import annotations

import os
import threading
import zipfile
from typing import IO, TYPE_CHECKING, Any, Final

import anyio.to_thread
import numpy as np
from numpy.lib import format as npy

from .._array import as_array
from .._base import dtypes
from ._replace import replacing, write_pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._array import ArrayLike

# NumPy's files name only dtypes that are NumPy's own: bfloat16 would come back as raw bytes.
STORED: Final = frozenset(dtype for dtype in dtypes.ALL if dtype.isbuiltin == 1)

# The date of all parts of an archive: the same arrays give the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


async def save(path: str | os.PathLike[str], x: ArrayLike, /) -> None:
    """Write ``x`` to a ``.npy`` file, which ``load`` and ``numpy.load`` read, off the event loop.

    ``path`` gets the ending ``.npy`` if it has another, as with NumPy. Either the old file is there or the new, also
    when it is cancelled. ``TypeError`` for dtypes that NumPy does not have, such as bfloat16: convert those, or use
    ``io.save_safetensors_async``.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     await aio.save(os.path.join(folder, "x.npy"), aio.ones(2) + 1)
    ...     await aio.load(os.path.join(folder, "x.npy"))
    Array([2., 2.], dtype=float32)
    """
    value = await _value("save", "", x)
    await _in_thread(_write_array, _ending(path, ".npy"), value)


async def savez(path: str | os.PathLike[str], /, *arrays: ArrayLike, **named: ArrayLike) -> None:
    """Write arrays to a ``.npz`` file, which ``load`` and ``numpy.load`` read, off the event loop.

    Arrays without a name are ``arr_0``, ``arr_1`` and so on. ``path`` and errors as for ``save``; ``ValueError`` for a
    name that is there twice.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     await aio.savez(os.path.join(folder, "x.npz"), w=aio.ones(2), b=aio.zeros(1))
    ...     await aio.load(os.path.join(folder, "x.npz"))
    {'w': Array([1., 1.], dtype=float32), 'b': Array([0.], dtype=float32)}
    """
    await _savez("savez", zipfile.ZIP_STORED, path, arrays, named)


async def savez_compressed(path: str | os.PathLike[str], /, *arrays: ArrayLike, **named: ArrayLike) -> None:
    """Write arrays to a ``.npz`` file as ``savez`` does, compressed by deflate.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npz")
    ...     await aio.savez_compressed(path, aio.zeros(10_000))
    ...     os.path.getsize(path) < 1000, (await aio.load(path))["arr_0"].shape
    (True, (10000,))
    """
    await _savez("savez_compressed", zipfile.ZIP_DEFLATED, path, arrays, named)


async def _savez(
    function: str,
    compression: int,
    path: str | os.PathLike[str],
    arrays: tuple[ArrayLike, ...],
    named: dict[str, ArrayLike],
) -> None:
    unnamed = {f"arr_{i}": x for i, x in enumerate(arrays)}
    if twice := unnamed.keys() & named.keys():
        raise ValueError(f"{function}: {min(twice)!r} is the name of an array without one; name it otherwise")
    values = {name: await _value(function, name, x) for name, x in {**unnamed, **named}.items()}
    await _in_thread(_write_archive, _ending(path, ".npz"), values, compression)


def _ending(path: str | os.PathLike[str], suffix: str) -> str:
    text = os.fspath(path)
    return text if text.endswith(suffix) else text + suffix


async def _value(function: str, name: str, x: ArrayLike) -> np.ndarray:
    which = f" (array {name!r})" if name else ""
    try:
        array = as_array(function, x)
    except TypeError as error:
        raise TypeError(f"{error}{which}") from None
    if array.dtype not in STORED:
        raise TypeError(
            f"{function}: NumPy's files have no dtype {array.dtype.name}{which}; convert it, e.g. "
            "x.astype(aio.float32), or use aio.io.save_safetensors_async"
        )
    return await array.to_host()


async def _in_thread(write: Callable[..., None], *arguments: Any) -> None:
    stop = threading.Event()
    try:
        await anyio.to_thread.run_sync(write, stop, *arguments, abandon_on_cancel=True)
    finally:
        stop.set()


def _write_array(stop: threading.Event, path: str, value: np.ndarray) -> None:
    with replacing(path) as file:
        _write_npy(file, value, stop)


def _write_archive(stop: threading.Event, path: str, values: dict[str, np.ndarray], compression: int) -> None:
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, value in values.items():
            part = zipfile.ZipInfo(f"{name}.npy", _DATE)
            part.compress_type = compression
            with archive.open(part, "w", force_zip64=True) as member:
                _write_npy(member, value, stop)


def _write_npy(file: IO[bytes], value: np.ndarray, stop: threading.Event) -> None:
    npy.write_array_header_1_0(
        file, {"descr": npy.dtype_to_descr(value.dtype), "fortran_order": False, "shape": value.shape}
    )
    write_pieces(file, memoryview(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data), stop)
