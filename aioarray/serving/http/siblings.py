"""The numbers of several processes that serve at one address, so that each of them can tell those of all.

Each has a place: a file, which it replaces every now and then by its numbers as they are, before it tells them to
anybody else, and when all that it had accepted has ended. When it is gone, what it had counted stays there. So no count
that was told ever falls, and of a process that ends by itself nothing is missing; one that is killed takes with it what
it counted in its last ``PERIOD``. The folder is one that ``aioarray serve`` made, for its own user alone.
"""

from __future__ import annotations

import logging
import os
import pickle
import threading
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from .snapshot import Snapshot, ended, merged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

logger = logging.getLogger("aioarray.serving")

# How old the numbers of the others can be, in seconds.
PERIOD: Final = 0.5
# Set for each of several processes by the one that starts them.
PLACE: Final = "AIOARRAY_PLACE"
SUFFIX: Final = ".numbers"


class Siblings:
    """The place of this process among the others'. Files are read and written off the loop's thread."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._taken = 0  # how often numbers were taken to be told; loop thread only
        self._lock = threading.Lock()
        self._told = 0  # which of them are in the place; under the lock

    @asynccontextmanager
    async def publishing(self, numbers: Callable[[], Snapshot]) -> AsyncIterator[None]:
        """Let the others know ``numbers()`` again and again, and once more at the end, however it comes."""
        group = anyio.create_task_group()
        await group.__aenter__()
        try:
            group.start_soon(self._publish, numbers)
            yield
        finally:
            group.cancel_scope.cancel()
            # Without the error of the body, which would come back in a group.
            await group.__aexit__(None, None, None)
            with anyio.CancelScope(shield=True):
                await self._tell(numbers())

    async def _publish(self, numbers: Callable[[], Snapshot]) -> None:
        while True:
            await self._tell(numbers())
            await anyio.sleep(PERIOD)

    async def _tell(self, numbers: Snapshot) -> None:
        self._taken += 1
        await anyio.to_thread.run_sync(self._write, numbers, self._taken)

    def _write(self, numbers: Snapshot, taken: int) -> None:
        try:
            with self._lock:
                if taken > self._told:  # never older numbers after newer ones
                    write(self._place, numbers)
                    self._told = taken
        except OSError as error:  # a disk that is full shall not keep anybody from being served
            logger.warning("the numbers of this process cannot be told to the others: %s", error)

    async def merged(self, own: Snapshot) -> Snapshot:
        """The numbers of all, of which ``own`` are this process's as they are now."""
        await self._tell(own)
        return merged([own, *await anyio.to_thread.run_sync(self._read_others)])

    async def any_ready(self) -> bool:
        """Whether another process can answer requests."""
        return any(other["server"]["ready"] for other in await anyio.to_thread.run_sync(self._read_others))

    def _read_others(self) -> list[Snapshot]:
        paths = sorted(path for path in self._place.parent.glob(f"*{SUFFIX}") if path != self._place)
        return [found for path in paths if (found := read(path)) is not None]


def siblings() -> Siblings | None:
    """Those of this process, if it is one of several."""
    place = os.environ.get(PLACE)
    return Siblings(Path(place)) if place else None


def end(place: Path) -> None:
    """The process that had ``place`` has ended: keep what it had counted."""
    found = read(place)
    if found is not None:
        write(place, ended(found))


def write(place: Path, numbers: Snapshot) -> None:
    """Replace what is in a place: readers have either the old numbers or the new ones."""
    unfinished = place.with_suffix(".new")
    unfinished.write_bytes(pickle.dumps(numbers))
    unfinished.replace(place)


def read(place: Path) -> Snapshot | None:
    """What is in a place; None if its process has not told anything yet."""
    try:
        found: Snapshot = pickle.loads(place.read_bytes())
    except FileNotFoundError:
        return None
    return found
