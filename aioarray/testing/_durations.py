"""The report on what took longest: `--aioarray-durations=N`."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._watch import Timed

KINDS: Final = ("launches", "compiles", "synchronous reads")


class Row(NamedTuple):
    """One of them, and the test that it was part of."""

    seconds: float
    text: str
    test: str


class Durations:
    """The slowest of each kind, over all tests; and of all workers, where there are several."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: dict[str, list[Row]] = {kind: [] for kind in KINDS}

    def add(self, test: str, durations: dict[str, list[Timed]]) -> None:
        """Take in what happened in ``test``."""
        for kind, timed in durations.items():
            self._merge(kind, (Row(one.seconds, one.text, test) for one in timed))

    def _merge(self, kind: str, rows: Iterable[Row]) -> None:
        self._rows[kind] = heapq.nlargest(self._limit, [*self._rows[kind], *rows])

    def as_plain(self) -> dict[str, list[tuple[float, str, str]]]:
        """In builtin types, to be sent from one process to another."""
        return {kind: [(row.seconds, row.text, row.test) for row in rows] for kind, rows in self._rows.items()}

    def take_in(self, plain: dict[str, list[tuple[float, str, str]]]) -> None:
        """What ``as_plain`` of another process gave."""
        for kind, rows in plain.items():
            self._merge(kind, (Row(*row) for row in rows))

    def lines(self) -> Iterator[str]:
        """The report."""
        for kind, rows in self._rows.items():
            if not rows:
                yield f"no {kind}"
            else:
                yield f"slowest {kind}:"
                for row in rows:
                    yield f"{row.seconds * 1000:10.2f} ms  {row.text}  [{row.test}]"
