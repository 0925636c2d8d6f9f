"""Reading NumPy's files, ``.npy`` and ``.npz``: checked, without pickles, a few megabytes a step.

Nothing is allocated on the word of a header alone: an array's size must be that of its part of the file, and what a
compressed part claims to become must be within what deflate can do.
"""

from __future__ import annotations

import math
import os
import stat
import struct
import zipfile
import zlib
from io import BytesIO
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from .. import _xla
from .._array import Array, from_host
from .._base import dtypes
from .._base.errors import FormatError
from ._header import MAX_BITS, MAX_NDIM
from ._npy_write import STORED
from ._reader import next_step

if TYPE_CHECKING:
    from collections.abc import Generator

    from .._xla import Device

# Read at a time: what cancelling waits for.
_CHUNK_BYTES = 8 << 20
# More than the longest header that NumPy parses, which is 10,000 bytes.
_HEAD_BYTES = 16 << 10
# Deflate makes at most 258 bytes of 2 bits.
_DEFLATE_RATIO = 1032

_SUFFIX = ".npy"
# The key of an array that is alone in its file.
_ALONE = ""
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED = 1
# What zipfile raises for archives that are damaged or in a form that it does not know.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)


async def load(path: str | os.PathLike[str], /, *, device: Device | str | None = None) -> Array | dict[str, Array]:
    """The array of a ``.npy`` file, or the arrays of a ``.npz`` file by name, read off the event loop.

    What the file holds tells which, not its name. Cancelling ends it after the few megabytes being read. Pickled
    objects are never loaded. ``FormatError``, saying what is wrong, for files that are damaged and for dtypes that
    aioarray does not have; ``OSError`` as ``open`` raises.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npy")
    ...     await aio.save(path, aio.arange(3))
    ...     await aio.load(path)
    Array([0, 1, 2], dtype=int32)
    """
    target = _xla.find_device(device) if isinstance(device, str) else device
    arrays: dict[str, Array] = {}
    steps = _steps(os.fspath(path), target, arrays)
    archive = False
    while (step := await next_step(steps)) is not None:
        archive = step
    return arrays if archive else arrays[_ALONE]


def _steps(path: str, device: Device | None, arrays: dict[str, Array]) -> Generator[bool, None, None]:
    """Put the arrays of the file into ``arrays``; says at each step whether it is an archive.

    The file is opened and closed in here, so that a generator that is dropped between steps leaves none open.
    """
    # Asked before opening: opening a named pipe would wait for a writer.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise FormatError(f"{path}: is no regular file; give a .npy or .npz file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        magic = file.read(len(npy.MAGIC_PREFIX))
        file.seek(0)
        archive = magic.startswith(_ZIP_MAGIC)
        if not archive and magic != npy.MAGIC_PREFIX:
            raise FormatError(f"{path}: begins with {magic!r}, as neither a .npy nor a .npz file does")
        yield archive
        parts = _archive(file, size, path, device, arrays) if archive else _alone(file, size, path, device, arrays)
        for _ in parts:
            yield archive


def _alone(
    file: IO[bytes], size: int, path: str, device: Device | None, arrays: dict[str, Array]
) -> Generator[None, None, None]:
    arrays[_ALONE] = yield from _read_array(file, size, path, device)


def _archive(
    file: IO[bytes], size: int, path: str, device: Device | None, arrays: dict[str, Array]
) -> Generator[None, None, None]:
    try:
        archive = zipfile.ZipFile(file)
    except (*_BROKEN, OSError) as error:  # OSError: it seeks to where a damaged directory says
        raise FormatError(f"{path}: is no whole .npz file: {error}") from None
    with archive:
        parts = archive.infolist()
        if sum(part.compress_size for part in parts) > size:
            raise FormatError(f"{path}: its arrays overlap, or it is cut off: together they are larger than the file")
        for part in parts:
            name = part.filename.removesuffix(_SUFFIX)
            where = f"{path}: array {name!r}"
            _check_part(part, size, where)
            if name in arrays:
                raise FormatError(f"{where}: is there twice")
            try:
                with archive.open(part) as source:
                    arrays[name] = yield from _read_array(source, part.file_size, where, device)
            except FormatError:
                raise
            except _BROKEN as error:
                raise FormatError(f"{where}: is damaged: {error}") from None


def _check_part(part: zipfile.ZipInfo, size: int, where: str) -> None:
    if not 0 <= part.header_offset <= size - part.compress_size:
        raise FormatError(f"{where}: begins at byte {part.header_offset} of {size}; the archive is damaged or cut off")
    if not part.filename.endswith(_SUFFIX):
        raise FormatError(f"{where}: is no array: a .npz file holds files *{_SUFFIX}, and this is {part.filename!r}")
    if part.flag_bits & _ENCRYPTED or part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(f"{where}: is encrypted, or compressed otherwise than NumPy does")
    ratio = 1 if part.compress_type == zipfile.ZIP_STORED else _DEFLATE_RATIO
    if part.file_size > part.compress_size * ratio:
        raise FormatError(f"{where}: {part.compress_size} bytes cannot become {part.file_size}, as the archive says")


def _read_array(source: IO[bytes], size: int, where: str, device: Device | None) -> Generator[None, None, Array]:
    """The array of a ``.npy`` file of ``size`` bytes; a step every few megabytes."""
    head = BytesIO(source.read(min(size, _HEAD_BYTES)))
    shape, fortran, dtype = _header(head, where)
    nbytes = math.prod(shape) * dtype.itemsize
    there = size - head.tell()
    if nbytes != there:
        problem = "it is cut off" if nbytes > there else "what follows the array would be lost"
        raise FormatError(f"{where}: {dtype.name} of shape {shape} takes {nbytes} bytes, but has {there}; {problem}")
    raw = _xla.empty_aligned((nbytes,), dtypes.uint8)
    target = memoryview(raw.data)
    done = head.readinto(target)
    while done < nbytes:
        count = source.readinto(target[done : done + _CHUNK_BYTES])  # type: ignore[attr-defined]
        if not count:
            raise FormatError(f"{where}: ends {nbytes - done} bytes early; it is cut off")
        done += count
        yield
    # At its end a part of an archive compares its checksum.
    source.read(1)
    native = dtype.newbyteorder("=")
    if native == dtypes.bool_ and raw.size and raw.max() > 1:
        raise FormatError(f"{where}: has a boolean {raw.max()}, which must be 0 or 1")
    value = raw.view(dtype).reshape(shape, order="F" if fortran else "C")
    value = np.ascontiguousarray(value, native).reshape(shape)
    yield
    # The memory is this Array's alone: no copy, unless the device wants it elsewhere or otherwise.
    return from_host(value, device, copy=not (value.size and _xla.can_alias(value)))


def _header(head: BytesIO, where: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        version = npy.read_magic(head)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if read is None:  # 3.0 is that of records, for their names
            raise ValueError(f"version {version} of the format is not one of arrays of numbers")
        shape, fortran, dtype = read(head)
    except Exception as error:  # Python's parser and NumPy's dtypes raise many kinds, and nothing is read here
        raise FormatError(f"{where}: has no header of a .npy file that can be read: {error}") from None
    if dtype.newbyteorder("=") not in STORED:
        allowed = ", ".join(sorted(d.name for d in STORED))
        raise FormatError(f"{where}: holds {dtype!r}, not one of {allowed}; NumPy's files have no dtypes but its own")
    if len(shape) > MAX_NDIM or any(type(n) is not int or n < 0 for n in shape):
        raise FormatError(f"{where}: shape {shape} is no tuple of at most {MAX_NDIM} lengths")
    if math.prod(filter(None, shape)) * dtype.itemsize * 8 >= MAX_BITS:
        raise FormatError(f"{where}: shape {shape} is too large for an array")
    return shape, fortran, dtype
