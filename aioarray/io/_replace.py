"""A file takes the place of an old one in one step: readers see the old file or the new, never a part."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

# Written at a time: what an asynchronous save waits for when it is cancelled.
_CHUNK_BYTES = 8 << 20


class Stopped(Exception):
    """Ends a write that nobody waits for any more."""


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file, which is at ``path`` when the ``with`` ends, and is gone when it fails."""
    # Beside the target, so that it can take its place in one step.
    temporary = f"{path}.{os.urandom(4).hex()}.tmp"
    file = open(temporary, "xb")  # noqa: SIM115  # there is nothing to remove if this fails
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_pieces(file: IO[bytes], data: memoryview, stop: threading.Event | None) -> None:
    """Write ``data`` piece by piece; ``Stopped`` once ``stop`` is set."""
    for begin in range(0, len(data), _CHUNK_BYTES):
        if stop is not None and stop.is_set():
            raise Stopped
        file.write(data[begin : begin + _CHUNK_BYTES])
