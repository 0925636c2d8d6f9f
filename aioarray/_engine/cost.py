"""How long programs take: predicted at first, then measured.

Two things are asked. How long does a launch occupy the thread that makes it? XLA's CPU client often runs a program
inside the dispatch call, and a launch may be made on an event loop's thread only if that takes well under a
millisecond. So programs are TINY (so little work that it is proven), QUICK (predicted or measured short; each launch is
timed) or DEAR (goes to a launch worker). And how long does the program run, wherever? That decides what is launched
first, and is counted in levels: level 0 is short, each further one four times as long as the one before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .._xla import Cost

TINY: Final = 2
QUICK: Final = 1
DEAR: Final = 0

# Slow ends of what one core does; a prediction must err on the long side. Per second.
FLOPS: Final = 4e9
BYTES: Final = 4e9
TRANSCENDENTALS: Final = 1e8

TINY_SECONDS: Final = 50e-6
QUICK_SECONDS: Final = 300e-6
# A launch on the caller's thread longer than this makes its program dear.
LIMIT_SECONDS: Final = 1e-3
# A dear program whose launches with ready inputs stay below this becomes quick: XLA runs it on its own threads.
PROVEN_SECONDS: Final = 200e-6

# Programs that run for less are of level 0. The levels above begin at 0.25, 1, 4, 16 and 64 ms.
SHORT_SECONDS: Final = 250e-6
LEVELS: Final = 6
# From this one on a launch may hold a worker for long.
LONG: Final = 3
# A program comes down a level only when it is clearly below it, so that one on the border does not go back and forth.
CLEARLY: Final = 0.7
SETTLED: Final = 16


def predict(cost: Cost) -> float:
    """Seconds that the program may take on one core."""
    return cost.flops / FLOPS + cost.bytes_accessed / BYTES + cost.transcendentals / TRANSCENDENTALS


def level_of(seconds: float) -> int:
    """The level of a program that runs that long."""
    level, border = 0, SHORT_SECONDS
    while seconds >= border and level < LEVELS - 1:
        level += 1
        border *= 4
    return level


class LaunchClass:
    """What is known of the time of one program. Written under the scheduler's lock; read by anybody."""

    __slots__ = ("_ceiling", "_measured", "current", "expected", "level", "needed", "proofs", "settled", "steady")

    def __init__(self, cost: Cost, bounded: bool, steady: bool = True) -> None:
        seconds = predict(cost)
        if bounded and seconds < TINY_SECONDS:
            self.current: int = TINY
        elif bounded and seconds < QUICK_SECONDS:
            self.current = QUICK
        else:
            self.current = DEAR
        self.proofs: int = 0
        self.steady: bool = steady  # otherwise one launch proves nothing about the next one
        # Doubles with each disappointment, so that a program on the border does not go back and forth.
        self.needed: int = 2
        self.expected: float = seconds  # that the next launch will run
        self.level: int = level_of(seconds)
        # A launch that seems to take longer than predicted has waited for a core.
        self._ceiling = seconds if bounded and steady else math.inf
        self._measured = 0  # how many times
        self.settled = False  # measured often enough to be believed as long as it stays short

    def launched_inline(self, seconds: float) -> None:
        """A launch on the caller's thread took ``seconds``."""
        if seconds > LIMIT_SECONDS and self.current == QUICK:
            self.current = DEAR
            self.proofs = 0
            self.needed = min(self.needed * 2, 64)

    def launched_on_worker(self, seconds: float) -> None:
        """A launch on a worker, all of its inputs ready, took ``seconds``."""
        if self.current != DEAR or not self.steady:
            return
        self.proofs = self.proofs + 1 if seconds < PROVEN_SECONDS else 0
        if self.proofs >= self.needed:
            self.current = QUICK

    def ran(self, seconds: float, at_most: bool) -> None:
        """A launch ran for ``seconds``; or for less, if ``at_most``: it was noticed late, or had to share the cores.

        The measure follows shorter times quickly and longer ones slowly, since what disturbs a measurement adds to it.
        Where the time depends on the values, the longest time counts, and fades.
        """
        expected = self.expected
        if seconds < expected:
            expected = seconds if not self._measured else expected + (seconds - expected) / (2 if self.steady else 16)
        elif at_most:
            return
        elif not self._measured or not self.steady:
            expected = seconds
        else:
            expected += (min(seconds, 4 * expected) - expected) / 8
        self._measured += 1
        self.settled = self._measured >= SETTLED
        self._expect(expected)

    def runs(self, seconds: float) -> None:
        """A launch has been running for ``seconds`` and is not over: the next ones will take as long."""
        if seconds > self.expected:
            self._expect(seconds)

    def _expect(self, expected: float) -> None:
        self.expected = expected = min(expected, self._ceiling)
        level = level_of(expected)
        if level > self.level or (level < self.level and level_of(expected / CLEARLY) < self.level):
            self.level = level
