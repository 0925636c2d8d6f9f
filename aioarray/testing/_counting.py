"""Counting what code does, and limits to it, for the code under a ``with``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._array.sync_reads import sync_reads
from .._observe import Counter, Event, LoopWatch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

__all__ = ["Counter", "Event", "assert_no_sync_reads", "count", "max_loop_lag"]

# So many are listed in a message.
_LISTED = 10


def count() -> Counter:
    """Count what the code in the ``with`` does: launches, compiles, host copies, synchronous reads, what was dropped.

    Only tasks started in the ``with`` are counted too. The counts may be read inside and after it.

    >>> from aioarray import testing
    >>> x = aio.ones(3)
    >>> with testing.count() as c:
    ...     _ = await (x + 1).to_host()
    >>> c.launches, c.host_copies, c.sync_reads
    (1, 1, 0)
    """
    return Counter()


class assert_no_sync_reads:
    """Fail at the end of the ``with`` if event-loop code in it has read values that were not awaited.

    ``AssertionError`` with the line of every such read. Until then the reads are made without warnings or errors, so
    that no ``except`` can hide one.

    >>> from aioarray import testing
    >>> with testing.assert_no_sync_reads():
    ...     float(await (aio.ones(()) + 1))
    2.0
    """

    def __init__(self) -> None:
        self._counter = Counter()
        self._policy: sync_reads | None = None

    def __enter__(self) -> Counter:
        # Made here, since making it changes the policy for all until it is entered.
        self._policy = sync_reads("allow").__enter__()
        return self._counter.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._counter.__exit__(kind, error, traceback)
        assert self._policy is not None
        self._policy.__exit__(kind, error, traceback)
        reads = self._counter.read_synchronously
        if reads and error is None:
            were = "1 synchronous read" if len(reads) == 1 else f"{len(reads)} synchronous reads"
            raise AssertionError(
                f"{were} in an event loop of Arrays that were not awaited; await them first, or use aio.run_sync:"
                + _listed(reads)
            )


class max_loop_lag:
    """Fail at the end of the ``with`` if the event loop was held for more than ``milliseconds`` at a time in it.

    ``AssertionError`` says for how long and by which line. The loop is watched from a thread. ``RuntimeError`` where no
    loop runs.

    >>> from aioarray import testing
    >>> async def main():
    ...     with testing.max_loop_lag(1000):
    ...         await (aio.ones((100, 100)) @ aio.ones((100, 100)))
    >>> import asyncio
    >>> asyncio.run(main())
    """

    def __init__(self, milliseconds: float) -> None:
        if not 0 < milliseconds < math.inf:
            raise ValueError(f"max_loop_lag: {milliseconds} milliseconds; it must be a number above 0")
        self._milliseconds = milliseconds
        limit = milliseconds / 1e3
        self._watch = LoopWatch(noticed=limit, interval=min(limit / 4, 0.01))

    def __enter__(self) -> LoopWatch:
        return self._watch.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._watch.stop()
        if self._watch.blocked and error is None:
            raise AssertionError(
                f"the event loop was held for {self._watch.largest * 1e3:.0f} ms, "
                f"allowed are {self._milliseconds:g} ms:" + _listed(self._watch.blocked)
            )


def _listed(things: Sequence[object]) -> str:
    more = f"\n  ... and {len(things) - _LISTED} more" if len(things) > _LISTED else ""
    return "".join(f"\n  {thing}" for thing in things[:_LISTED]) + more
