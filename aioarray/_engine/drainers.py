"""Who waits for the number of unfinished launches to fall. Under the scheduler's lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .launch import Waiter

# `drain()` returns below this many unfinished launches.
HIGH_WATER: Final = 256


class Drainers:
    """Waiters, each with the number below which it goes on."""

    __slots__ = ("_limits",)

    def __init__(self) -> None:
        self._limits: dict[Waiter, int] = {}

    def __len__(self) -> int:
        return len(self._limits)

    def add(self, waiter: Waiter, limit: int) -> None:
        """Wake ``waiter`` when fewer than ``limit`` launches are unfinished."""
        self._limits[waiter] = limit

    def remove(self, waiter: Waiter) -> None:
        """Forget ``waiter``, if it is still there."""
        self._limits.pop(waiter, None)

    def take(self, unfinished: int) -> list[Waiter]:
        """Those who go on now that so many launches are unfinished."""
        done = [waiter for waiter, limit in self._limits.items() if unfinished < limit]
        for waiter in done:
            del self._limits[waiter]
        return done

    def clear(self) -> None:
        """Forget all."""
        self._limits.clear()
