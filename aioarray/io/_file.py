"""One safetensors file: its header, checked, and reading tensors out of it."""

from __future__ import annotations

import mmap
import os
import stat
import threading
from typing import TYPE_CHECKING

import numpy as np

from .. import _xla
from .._array import Array, from_host
from .._base import dtypes
from .._base.errors import FormatError
from . import _header
from ._header import LENGTH_BYTES, Entry

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from .._xla import Device

# Read at a time: what an asynchronous read waits for when it is cancelled, and how often progress is reported.
CHUNK_BYTES = 8 << 20

# One step of reading: so many bytes more are there, and the tensors that they completed.
Step = tuple[int, dict[str, Array]]


class File:
    """An open file. Any thread; ``_file`` is positioned, read and closed under ``_lock``."""

    def __init__(self, path: str, *, memory_map: bool) -> None:
        self.path = path
        # Asked before opening: opening a named pipe would wait for a writer.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise FormatError(f"{path}: is no regular file; give a safetensors file, an index file or their folder")
        self._lock = threading.Lock()
        self._closing = False  # set by whoever closes; who holds the lock then closes the file
        self._map: mmap.mmap | None = None
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # closed by close()
        try:
            size = os.fstat(self._file.fileno()).st_size
            length = _header.header_length(self._file.read(LENGTH_BYTES), size, path)
            text = bytearray(length)
            self._read_into(memoryview(text), LENGTH_BYTES)
            header = _header.parse(bytes(text), size, path)
            if memory_map:
                self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        except BaseException:
            self._file.close()
            raise
        self.entries = header.entries
        self.metadata = header.metadata

    def close(self) -> None:
        """Close at once, or as soon as a read that another thread is in has ended; does not wait for it."""
        self._closing = True
        self._close_if_asked()
        self._map = None  # unmapped when no Array uses its pages any more

    def _close_if_asked(self) -> None:
        # Whoever reads meanwhile has the lock, and comes here afterwards.
        if self._closing and self._lock.acquire(blocking=False):
            try:
                self._file.close()
            finally:
                self._lock.release()

    def steps(self, names: Iterable[str], device: Device | None) -> Generator[Step, None, None]:
        """Read the tensors called ``names``, in the order of the file, some CHUNK_BYTES at a time.

        Small tensors share a step, large ones take several. Each step may be taken on another thread.
        """
        count = 0
        completed: dict[str, Array] = {}
        for name, entry in sorted(((name, self.entries[name]) for name in names), key=lambda item: item[1].start):
            if entry.dtype is None:
                raise FormatError(
                    f"{self.path}: tensor {name!r} has dtype {entry.stored}, for which aioarray has none; leave it out"
                )
            pages = self._map
            if pages is not None:
                raw = np.frombuffer(pages, np.uint8, entry.nbytes, entry.start)
                count += entry.nbytes
            else:
                raw = _xla.empty_aligned((entry.nbytes,), dtypes.uint8)
                for begin in range(0, entry.nbytes, CHUNK_BYTES):
                    piece = memoryview(raw.data)[begin : begin + CHUNK_BYTES]
                    if count and count + len(piece) > CHUNK_BYTES:
                        yield count, completed
                        count, completed = 0, {}
                    self._read_into(piece, entry.start + begin)
                    count += len(piece)
            value = self._value(name, entry, entry.dtype, raw)
            # The memory is this Array's alone, or mapped: no copy, unless the device wants it elsewhere or otherwise.
            completed[name] = from_host(value, device, copy=not (value.size and _xla.can_alias(value)))
        yield count, completed

    def _read_into(self, target: memoryview, start: int) -> None:
        with self._lock:
            if self._closing:
                raise ValueError(f"{self.path} is closed; read before close(), or before its `with` ends")
            self._file.seek(start)
            done = 0
            while done < len(target):
                count = self._file.readinto(target[done:])
                if not count:
                    raise FormatError(f"{self.path}: ends at byte {start + done}; it was cut off while it was read")
                done += count
        self._close_if_asked()

    def _value(self, name: str, entry: Entry, dtype: np.dtype, raw: np.ndarray) -> np.ndarray:
        if dtype == dtypes.bool_ and raw.size and raw.max() > 1:
            raise FormatError(f"{self.path}: tensor {name!r} has a boolean {raw.max()}, which must be 0 or 1")
        if dtype in (dtypes.int4, dtypes.uint4):
            whole = raw.view(np.int8 if dtype == dtypes.int4 else np.uint8)
            bounds = dtypes.iinfo(dtype)
            if whole.size and not (bounds.min <= whole.min() and whole.max() <= bounds.max):
                raise FormatError(
                    f"{self.path}: tensor {name!r} should be {dtype.name}, which holds {bounds.min}..{bounds.max}, but "
                    f"has values {whole.min()}..{whole.max()}"
                )
            return whole.astype(dtype).reshape(entry.shape)
        return raw.view(dtype).reshape(entry.shape)
