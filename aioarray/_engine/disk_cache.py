"""Executables in files, for the next process: loading one takes a fraction of the time of compiling it.

One file an entry, named by its key::

    magic, SHA-256 of all that follows, length of the header, header (lines "name value"), serialised executable

An entry that is cut off, altered, of another version or for another kind of CPU is a miss, which is logged, and is
replaced by what is compiled then. Files are written under another name and renamed, so that any number of processes
may share the directory and be killed at any time. Compile workers alone come here.

The files hold machine code: the directory must be writable by this user only.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import struct
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from .. import _xla

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._xla import Device, Executable

logger = logging.getLogger("aioarray")

MAGIC: Final = b"aioarray"
FORMAT: Final = 1
SUFFIX: Final = ".executable"
LIMIT_BYTES: Final = 2 << 30
# What a process that was killed has left is swept away after so long.
STALE_SECONDS: Final = 3600.0
# The directory is looked through again after this many new entries: other processes write there, too.
ENTRIES_BETWEEN_SCANS: Final = 256
# Evict down to this part of the limit, so as not to come again for the next entry.
KEEP: Final = 0.9


class CacheEntryError(Exception):
    """What is in a file is not the entry it should be."""


_UNUSABLE: tuple[type[Exception], ...] = (CacheEntryError, *_xla.ForeignError)
_NOT_STORED: tuple[type[Exception], ...] = (OSError, *_xla.ForeignError)


class DiskCache:
    """A directory of executables. Fields are written by compile workers, without a lock: they are estimates."""

    __slots__ = ("_bytes", "_numbers", "_stores", "directory", "limit_bytes")

    def __init__(self, directory: str, limit_bytes: int = LIMIT_BYTES) -> None:
        self.directory = directory
        self.limit_bytes = limit_bytes
        self._bytes = 0
        self._numbers = itertools.count()
        self._stores = 0
        os.makedirs(directory, mode=0o700, exist_ok=True)
        check_private(directory)
        self._scan()

    def load(self, key: str, device: Device) -> Executable | None:
        """The executable under ``key``; None where there is none that can be used."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("compile cache: cannot read %s: %s", path, error)
            return None
        try:
            executable = _xla.deserialize(_unpack(content, key), device)
        except _UNUSABLE as error:
            logger.warning("compile cache: %s is of no use and will be replaced: %s", path, error)
            return None
        with contextlib.suppress(OSError):  # it may have been evicted meanwhile
            os.utime(path)
        return executable

    def store(self, key: str, executable: Executable) -> None:
        """Write ``executable`` under ``key``; a failure to do so is logged."""
        try:
            content = _pack(executable.serialize(), key)
            self._write(self._path(key), content)
        except _NOT_STORED as error:
            logger.warning("compile cache: cannot store a program in %s: %s", self.directory, error)
            return
        self._bytes += len(content)
        self._stores += 1
        if self._bytes > self.limit_bytes or self._stores % ENTRIES_BETWEEN_SCANS == 0:
            self._scan()

    def _path(self, key: str) -> str:
        return os.path.join(self.directory, key + SUFFIX)

    def _write(self, path: str, content: bytes) -> None:
        temporary = f"{path}.{os.getpid()}.{next(self._numbers)}.tmp"
        try:
            with open(temporary, "xb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _scan(self) -> None:
        """Count the bytes, evict the entries used longest ago if they are too many, sweep up old temporaries."""
        entries: list[tuple[float, int, str]] = []
        old = time.time() - STALE_SECONDS
        for path, status in self._files():
            if path.endswith(SUFFIX):
                entries.append((status.st_mtime, status.st_size, path))
            elif path.endswith(".tmp") and status.st_mtime < old:
                with contextlib.suppress(OSError):
                    os.unlink(path)
        total = sum(size for _, size, _ in entries)
        if total > self.limit_bytes:
            for _, size, path in sorted(entries):
                with contextlib.suppress(OSError):  # another process evicts the same ones
                    os.unlink(path)
                total -= size
                if total <= self.limit_bytes * KEEP:
                    break
        self._bytes = total

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(self.directory) as found:
            for item in found:
                with contextlib.suppress(OSError):  # gone since it was listed
                    yield item.path, item.stat(follow_symlinks=False)


def check_private(directory: str) -> None:
    """``PermissionError`` where others than this user could put machine code into ``directory``."""
    if not hasattr(os, "getuid"):
        return
    status = os.stat(directory)
    if status.st_uid not in (os.getuid(), 0):
        raise PermissionError(f"compile cache: {directory} belongs to another user; use a directory of your own")
    if status.st_mode & 0o022:
        raise PermissionError(
            f"compile cache: others may write to {directory} (mode {status.st_mode & 0o777:o}), and what is in it is "
            f"run; use chmod go-w {directory}"
        )


def _pack(executable: bytes, key: str) -> bytes:
    described = {**_environment(), "key": key, "bytes": len(executable)}
    header = "\n".join([f"{name} {value}" for name, value in described.items()]).encode()
    body = struct.pack("<I", len(header)) + header + executable
    return MAGIC + hashlib.sha256(body).digest() + body


def _unpack(content: bytes, key: str) -> bytes:
    start = len(MAGIC) + 32
    if not content.startswith(MAGIC):
        raise CacheEntryError("it is no entry of aioarray's compile cache")
    body = memoryview(content)[start:]
    if hashlib.sha256(body).digest() != content[len(MAGIC) : start]:
        raise CacheEntryError(f"its checksum is wrong ({len(content)} bytes)")
    (length,) = struct.unpack_from("<I", body)
    lines = bytes(body[4 : 4 + length]).decode().splitlines()
    header = dict([line.split(" ", 1) for line in lines])
    expected = {**_environment(), "key": key, "bytes": len(body) - 4 - length}
    for name, value in expected.items():
        if header.get(name) != str(value):
            raise CacheEntryError(f"it is for {name} {header.get(name)!r}, this is {value!r}")
    return bytes(body[4 + length :])


def _environment() -> dict[str, Any]:
    return {"format": FORMAT, "jaxlib": _xla.installed_version, "cpu": cpu_features()}


@lru_cache(maxsize=1)
def cpu_features() -> str:
    """A digest of what kind of CPU this is: machine code for another kind may not run here, or run slowly."""
    described = [os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_IDENTIFIER", "")]
    # Elsewhere than on Linux the machine has to do; XLA checks what it loads, too.
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        # x86 lists "flags", ARM "Features".
        described += sorted({line.strip() for line in file if line.startswith(("flags", "Features"))})
    return hashlib.sha256("\n".join(described).encode()).hexdigest()[:16]
