"""The window: which launches are inside PJRT, and how many of each kind there may be.

Short launches, of level 0, have places of their own. So have the long ones of each level: as many as keep the cores
busy. So no launch waits for those that run much longer, and long ones are not held up by a stream of short ones. A
launch whose inputs are unfinished is *ahead*: it has one of few other places, since it cannot run.

Under the scheduler's lock where no comment differs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol

from .. import _xla
from .cost import LEVELS
from .priority import BACKGROUND, HIGH

if TYPE_CHECKING:
    from .._xla import Buffer
    from .launch import Launch

# Short launches that come by way of the queue. PJRT's own limit, where dispatch begins to block, is 32 in all.
WINDOW: Final = 16
# Beyond that there is room for the long ones, and for those of the fast path, which are over in microseconds.
RESERVE: Final = 12

CORES: Final = min(os.cpu_count() or 1, 4)
# Places of each level. Of those that are over soon some wait inside PJRT, so that no core does while one is launched.
PLACES: Final = (WINDOW, 4 * CORES, 3 * CORES, *[CORES] * (LEVELS - 3))
BACKGROUND_PLACES: Final = 1


def outcome(buffer: Buffer) -> Exception | None:
    """The error of a buffer that is ready, or None if it has a value. Gives up the GIL for a moment."""
    try:
        _xla.wait(buffer)
    except _xla.ForeignError as error:
        return error
    return None


class Placed(Protocol):
    """What has a place: a ``Launch``, or a ``Place``."""

    rank: int
    level: int
    ahead: bool
    launching: bool  # some thread is just giving it to PJRT
    placed: bool


class Place:
    """The place of a launch that the caller's thread makes, as long as it has no ``Launch``."""

    __slots__ = ("ahead", "launching", "level", "placed", "rank")

    def __init__(self, rank: int, level: int) -> None:
        self.rank = rank
        self.level = level
        self.ahead = False
        self.launching = self.placed = False


class Window:
    """The launches in flight, and the places they have.

    Methods that change counts call nothing between the first change and the last: Python raises ``KeyboardInterrupt``
    only where something is called. So a place is either taken, and its holder says so, or it is not.
    """

    __slots__ = (
        "_ahead",
        "_background",
        "_long",
        "_running",
        "fillings",
        "flying",
        "launching",
        "limit",
        "most_in_flight",
        "reserve",
    )

    def __init__(self) -> None:
        self.limit = WINDOW
        self.reserve = RESERVE
        # Launched, unfinished, oldest first, each with a buffer to wait on. The fast path looks whether there are any,
        # and adds to it without the lock.
        self.flying: dict[Launch, Buffer] = {}
        self.launching = 0  # launches that some thread is just giving to PJRT
        self.most_in_flight = 0
        self.fillings = 0  # how many launches have taken the last place
        self._running = [0] * LEVELS  # long ones, by level
        self._long = 0  # all long ones, those ahead too
        self._ahead = 0  # long ones whose inputs are unfinished
        self._background = 0

    @property
    def in_flight(self) -> int:
        """Launches inside PJRT, or being given to it. Any thread."""
        return len(self.flying) + self.launching

    @property
    def full(self) -> bool:
        """Whether nothing may be launched at all."""
        return len(self.flying) + self.launching >= self.limit + self.reserve

    @property
    def crowded(self) -> bool:
        """Whether as many long launches run as there are cores: another one, of whatever length, has to share them."""
        return self._long - self._ahead >= CORES

    def crowded_beside(self, launch: Launch) -> bool:
        """The same for ``launch``, which is in flight: not counted itself."""
        return self._long - self._ahead - (launch.level > 0) >= CORES

    def has_place(self, level: int, ahead: bool, rank: int) -> bool:
        """Whether there is a place for a launch like this."""
        in_flight = self.in_flight
        if in_flight >= self.limit + self.reserve:
            return False
        if rank >= BACKGROUND and (self._background >= BACKGROUND_PLACES or ahead or self.crowded):
            return False
        if level == 0:
            return in_flight - self._long < self.limit
        if ahead:
            return self._ahead < CORES
        return self._running[level] < PLACES[level] + (rank == HIGH)

    def begin(self, place: Placed) -> None:
        """Take ``place`` for what is to be given to PJRT."""
        self.launching += 1
        place.launching = True
        self.enter(place)

    def enter(self, place: Placed) -> None:
        """Take ``place``."""
        place.placed = True
        if place.rank >= BACKGROUND:
            self._background += 1
        if place.level:
            self._long += 1
            if place.ahead:
                self._ahead += 1
            else:
                self._running[place.level] += 1

    def launched(self, place: Placed) -> None:
        """PJRT has it, or will not get it."""
        if place.launching:
            place.launching = False
            self.launching -= 1

    def leave(self, place: Placed) -> None:
        """Give ``place`` up, if it is taken."""
        if not place.placed:
            return
        place.placed = False
        if place.rank >= BACKGROUND:
            self._background -= 1
        if place.level:
            self._long -= 1
            if place.ahead:
                self._ahead -= 1
            else:
                self._running[place.level] -= 1

    def run(self, launch: Launch) -> None:
        """The inputs of ``launch``, which was ahead, are finished."""
        launch.ahead = False
        if launch.level and launch.placed:
            self._ahead -= 1
            self._running[launch.level] += 1

    def land(self, launch: Launch) -> None:
        """``launch`` is over."""
        self.flying.pop(launch, None)
        self.leave(launch)

    def occupied(self) -> bool:
        """A launch is in flight that was not; whether there is room for no other."""
        in_flight = self.in_flight
        self.most_in_flight = max(self.most_in_flight, in_flight)
        if in_flight < self.limit + self.reserve:
            return False
        self.fillings += 1
        return True

    def landed(self) -> list[tuple[Launch, Exception | None]]:
        """The launches in flight that are ready, each with its error. Best without the lock: this gives up the GIL."""
        flying = list(self.flying.items())
        return [(launch, outcome(buffer)) for launch, buffer in flying if _xla.is_ready(buffer)]
