"""Predicts how long a launch occupies the thread that makes it, and learns where the prediction was wrong.

XLA's CPU client often runs a program inside the dispatch call. A launch may be made on an event loop's thread only if
that takes well under a millisecond, so programs are in one of three classes: TINY (so little work that it is proven),
QUICK (predicted or measured short; each launch is timed), DEAR (goes to a launch worker).
"""

from __future__ import annotations

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


def predict(cost: Cost) -> float:
    """Seconds that the program may take on one core."""
    return cost.flops / FLOPS + cost.bytes_accessed / BYTES + cost.transcendentals / TRANSCENDENTALS


class LaunchClass:
    """The class of one program. Written under the scheduler's lock; read by anybody."""

    __slots__ = ("current", "needed", "proofs", "steady")

    def __init__(self, cost: Cost, bounded: bool, steady: bool = True) -> None:
        seconds = predict(cost)
        if bounded and seconds < TINY_SECONDS:
            self.current: int = TINY
        elif bounded and seconds < QUICK_SECONDS:
            self.current = QUICK
        else:
            self.current = DEAR
        self.proofs: int = 0
        self.steady: bool = steady  # otherwise short launches prove nothing about the next one
        # Doubles with each disappointment, so that a program on the border does not go back and forth.
        self.needed: int = 2

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
