"""The numbers of several processes that serve at one address, so that each of them can tell those of all.

Each has a place: a file, which it replaces every now and then by its numbers as they are. A process that takes the
place of one that has died goes on from what that one had counted, so that no count ever falls. The folder is one that
``aioarray serve`` made, for its own user alone.
"""

from __future__ import annotations

import logging
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
import anyio.to_thread

from .snapshot import WORKER, Snapshot, ended, merged

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger("aioarray.serving")

# How old the numbers of the others can be, in seconds.
PERIOD: Final = 0.5
# Set for each of several processes by the one that starts them.
FOLDER: Final = "AIOARRAY_WORKERS"
_SUFFIX: Final = ".numbers"


class _Kept(NamedTuple):
    """What a place's file holds."""

    own: Snapshot | None  # of the process that has it
    before: Snapshot | None  # what those counted that had it before

    def parts(self) -> list[Snapshot]:
        return [part for part in self if part is not None]


class Siblings:
    """The place of this process among the others'. Files are read and written off the loop's thread."""

    def __init__(self, folder: Path, place: str) -> None:
        self._path = _path(folder, place)
        self._before = _read(self._path).before

    async def publish(self, numbers: Callable[[], Snapshot]) -> None:
        """Let the others know ``numbers()``, again and again."""
        while True:
            try:
                await anyio.to_thread.run_sync(_write, self._path, _Kept(numbers(), self._before))
            except OSError as error:  # a disk that is full shall not keep anybody from being served
                logger.warning("the numbers of this process cannot be told to the others: %s", error)
            await anyio.sleep(PERIOD)

    async def merged(self, own: Snapshot) -> Snapshot:
        """The numbers of all, of which ``own`` are this process's as they are now."""
        return merged([*_Kept(own, self._before).parts(), *await anyio.to_thread.run_sync(_read_others, self._path)])


def siblings() -> Siblings | None:
    """Those of this process, if it is one of several."""
    folder = os.environ.get(FOLDER)
    return Siblings(Path(folder), os.environ[WORKER]) if folder else None


def end(folder: Path, place: str) -> None:
    """The process that had ``place`` has died: keep what it had counted."""
    path = _path(folder, place)
    kept = _read(path)
    if kept.own is not None:
        _write(path, _Kept(None, merged([ended(part) for part in kept.parts()])))


def _path(folder: Path, place: str) -> Path:
    return folder / f"{place}{_SUFFIX}"


def _write(path: Path, kept: _Kept) -> None:
    # Readers have either the old file or the new one.
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(pickle.dumps(tuple(kept)))
    unfinished.replace(path)


def _read(path: Path) -> _Kept:
    try:
        return _Kept(*pickle.loads(path.read_bytes()))
    except FileNotFoundError:
        return _Kept(None, None)


def _read_others(own: Path) -> list[Snapshot]:
    paths = sorted(path for path in own.parent.glob(f"*{_SUFFIX}") if path != own)
    return [part for path in paths for part in _read(path).parts()]
