"""The window: which launches are inside PJRT. Under the scheduler's lock where no comment differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .. import _xla

if TYPE_CHECKING:
    from .._xla import Buffer
    from .launch import Launch

# Unfinished launches inside PJRT; its own limit, where dispatch begins to block, is 32.
WINDOW: Final = 16


def outcome(buffer: Buffer) -> Exception | None:
    """The error of a buffer that is ready, or None if it has a value. Gives up the GIL for a moment."""
    try:
        _xla.wait(buffer)
    except _xla.ForeignError as error:
        return error
    return None


class Window:
    """The launches in flight, how many there may be, and how many there were at most."""

    __slots__ = ("fillings", "flying", "launching", "limit", "most_in_flight")

    def __init__(self) -> None:
        self.limit = WINDOW
        # Launched, unfinished, oldest first, each with a buffer to wait on. The fast path looks whether there are any,
        # and adds to it without the lock.
        self.flying: dict[Launch, Buffer] = {}
        self.launching = 0  # launches that some thread is just giving to PJRT
        self.most_in_flight = 0
        self.fillings = 0  # how many launches have taken the last place

    @property
    def in_flight(self) -> int:
        """Launches inside PJRT, or being given to it. Any thread."""
        return len(self.flying) + self.launching

    @property
    def full(self) -> bool:
        """Whether there is no place left."""
        return len(self.flying) + self.launching >= self.limit

    def occupied(self) -> bool:
        """A launch has taken a place; whether it was the last one."""
        in_flight = self.in_flight
        self.most_in_flight = max(self.most_in_flight, in_flight)
        if in_flight < self.limit:
            return False
        self.fillings += 1
        return True

    def landed(self) -> list[tuple[Launch, Exception | None]]:
        """The launches in flight that are ready, each with its error. Best without the lock: this gives up the GIL."""
        flying = list(self.flying.items())
        return [(launch, outcome(buffer)) for launch, buffer in flying if _xla.is_ready(buffer)]
