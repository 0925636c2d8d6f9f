"""How long batches take, by what was measured."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

# The latest measurements that count, for each group and size.
WINDOW: Final = 16
# Groups and sizes that are remembered; the one used longest ago goes first.
ENTRIES: Final = 1024
# A measurement is stale after so many seconds, and so many times what it says: then the next request may go and see.
STALE_SECONDS: Final = 1.0
STALE_TIMES: Final = 10.0
# Weight of the latest measurement in the mean.
WEIGHT: Final = 0.2


class _Entry:
    __slots__ = ("least", "mean", "measured", "recent")

    def __init__(self) -> None:
        self.recent: deque[float] = deque(maxlen=WINDOW)
        self.mean = self.least = self.measured = 0.0


class Estimates:
    """Seconds that a batch of some group and number of rows takes. Loop thread only.

    ``size`` maps rows to the padded size that is really computed. With ``least=False`` nothing is known about what a
    batch takes at least.
    """

    def __init__(self, size: Callable[[int], int], *, least: bool = True) -> None:
        self.padded = size
        self._knows_least = least
        self._entries: OrderedDict[tuple[Hashable, int], _Entry] = OrderedDict()

    def add(self, group: Hashable, rows: int, seconds: float, now: float, *, first_counts: bool = False) -> None:
        """A batch of ``rows`` took ``seconds``. The first of its size may have had to be compiled, and is left out."""
        key = group, self.padded(rows)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry()
            if len(self._entries) > ENTRIES:
                self._entries.popitem(last=False)
            if not first_counts:
                return
        self._entries.move_to_end(key)
        entry.recent.append(seconds)
        entry.least = min(entry.recent)
        entry.mean += (WEIGHT if entry.measured else 1.0) * (seconds - entry.mean)
        entry.measured = now

    def mean(self, group: Hashable, rows: int) -> float:
        """What such a batch takes on average; 0 when that was never measured."""
        entry = self._entries.get((group, self.padded(rows)))
        return 0.0 if entry is None else entry.mean

    def least(self, group: Hashable, rows: int, now: float) -> float:
        """What such a batch takes at least, by recent measurements; 0 when there are none."""
        entry = self._entries.get((group, self.padded(rows)))
        if (
            entry is None
            or not self._knows_least
            or now - entry.measured > max(STALE_SECONDS, STALE_TIMES * entry.least)
        ):
            return 0.0
        return entry.least
