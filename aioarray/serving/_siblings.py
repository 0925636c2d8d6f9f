"""The numbers of several processes that serve at one address, so that each of them can tell those of all.

Each has a place: a file, which it replaces every now and then by its numbers as they are. A process that takes the
place of one that has died goes on from what that one had counted, so that no count ever falls.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
import orjson

from ._numbers import ended, merged

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._numbers import Numbers

logger = logging.getLogger("aioarray.serving")

# How old the numbers of the others can be, in seconds.
PERIOD: Final = 0.5
# Set for each of several processes by the one that starts them.
FOLDER: Final = "AIOARRAY_WORKERS"
_SUFFIX: Final = ".json"


class Siblings:
    """The place of this process among the others'. Files are read and written off the loop's thread."""

    def __init__(self, folder: Path, place: str) -> None:
        self._path = _path(folder, place)
        before = _read(self._path)
        # What those counted that had this place before.
        self._ended: Numbers | None = None if before is None else before["ended"]

    async def publish(self, numbers: Callable[[], Numbers]) -> None:
        """Let the others know ``numbers()``, again and again."""
        while True:
            try:
                await anyio.to_thread.run_sync(_write, self._path, numbers(), self._ended)
            except OSError as error:  # a disk that is full shall not keep anybody from being served
                logger.warning("the numbers of this process cannot be told to the others: %s", error)
            await anyio.sleep(PERIOD)

    async def merged(self, own: Numbers) -> Numbers:
        """The numbers of all, of which ``own`` are this process's as they are now."""
        others = await anyio.to_thread.run_sync(_read_others, self._path)
        parts = [own, *([] if self._ended is None else [self._ended])]
        for other in others:
            parts += [part for part in (other["own"], other["ended"]) if part is not None]
        return merged(parts)


def siblings(place: str) -> Siblings | None:
    """Those of this process, if it is one of several."""
    folder = os.environ.get(FOLDER)
    return Siblings(Path(folder), place) if folder else None


def end(folder: Path, place: str) -> None:
    """The process that had ``place`` has died: keep what it had counted."""
    path = _path(folder, place)
    found = _read(path)
    if found is not None and found["own"] is not None:
        parts = [found["own"], *([] if found["ended"] is None else [found["ended"]])]
        _write(path, None, merged([ended(part) for part in parts]))


def _path(folder: Path, place: str) -> Path:
    return folder / f"{place}{_SUFFIX}"


def _write(path: Path, own: Numbers | None, before: Numbers | None) -> None:
    # Readers have either the old file or the new one.
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(orjson.dumps({"own": own, "ended": before}))
    unfinished.replace(path)


def _read(path: Path) -> Numbers | None:
    try:
        found: Numbers = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return found


def _read_others(own: Path) -> list[Numbers]:
    paths = sorted(path for path in own.parent.glob(f"*{_SUFFIX}") if path != own)
    return [found for path in paths if (found := _read(path)) is not None]
