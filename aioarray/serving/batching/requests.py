"""A request to a batcher, from its arrival to its one outcome, and the batches that its rows travel in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from types import TracebackType

    import numpy as np


class Request:
    """One call of a batcher. Loop thread only.

    It ends exactly once, with a value or an error; from then on ``done`` is True and it holds no data of its input.
    """

    __slots__ = (
        "arrived",
        "channel",
        "client",
        "cost",
        "deadline",
        "done",
        "error",
        "failed",
        "group",
        "leaves",
        "lengths",
        "priority",
        "queued",
        "results",
        "rows",
        "sequence",
        "single",
        "span",
        "started",
        "structure",
        "tag",
        "taken",
        "traceback",
        "turn",
        "unanswered",
        "wake",
    )

    def __init__(
        self,
        group: Hashable,
        rows: int = 1,
        *,
        single: bool = True,
        leaves: list[np.ndarray] | None = None,
        lengths: tuple[int, ...] = (),
        cost: float = 1.0,
        priority: int = 0,
        client: Hashable = None,
        deadline: float = math.inf,
        wake: Callable[[], object] = lambda: None,
    ) -> None:
        self.group: Hashable = group  # requests of one group can be in one batch
        self.rows: int = rows
        self.single: bool = single  # one example, without a batch axis
        self.leaves: list[np.ndarray[Any, Any]] = leaves or []  # the input, on the host; emptied at the end
        self.lengths: tuple[int, ...] = lengths  # the lengths that are padded, by the names' order in the specs
        self.cost: float = cost  # of one row
        self.priority: int = priority  # 0 goes first
        self.client: Hashable = client
        self.deadline: float = deadline
        self.wake: Callable[[], object] = wake  # resumes the task that waits; called once
        self.channel: Any = None  # of a stream
        self.span: Any = None  # what the task's trace was at the call

        # Set by the queue
        self.sequence: int = 0
        self.tag: float = 0.0  # when it is its turn in the fair order
        self.turn: int = 0  # which of its rows that is for: those up to here
        self.arrived: float = 0.0
        self.started: float = math.nan  # when its first rows left in a batch
        self.queued: bool = False  # has rows that are in no batch yet
        self.taken: int = 0  # rows that are, or were, in batches

        # Set by `finish`, `fail` and the batcher
        self.done: bool = False
        self.unanswered: int = rows  # rows without a result
        self.results: list[tuple[int, Any]] = []  # (first row, leaves of the results)
        self.structure: Any = None  # of the result
        self.failed: bool = False
        self.error: BaseException | None = None  # until it was raised
        self.traceback: TracebackType | None = None  # where it was raised

    def finish(self) -> None:
        """End with what is in ``results``."""
        self._end()

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        self.results = []
        self.failed = True
        self.error = error
        self.traceback = error.__traceback__
        self._end()

    def abandon(self) -> None:
        """End because nobody waits any more."""
        self.results = []
        self._end()

    def take_error(self) -> BaseException | None:
        """The error it ended with, with its traceback up to there: one error may be that of many requests. Once."""
        error, self.error = self.error, None
        traceback, self.traceback = self.traceback, None
        return None if error is None else error.with_traceback(traceback)

    def _end(self) -> None:
        assert not self.done
        self.done = True
        self.leaves = []
        self.channel = None
        self.wake()


class Part:
    """Rows ``start`` to ``stop`` of a request, in a batch."""

    __slots__ = ("answered", "request", "start", "stop")

    def __init__(self, request: Request, start: int, stop: int) -> None:
        self.request = request
        self.start = start
        self.stop = stop
        self.answered = False  # its request has its rows of the result

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.stop - self.start


class Batch:
    """Parts that are computed together."""

    __slots__ = ("expected", "group", "parts", "rows", "started")

    def __init__(self, group: Hashable, parts: list[Part], rows: int, started: float, expected: float) -> None:
        self.group: Hashable = group
        self.parts: list[Part] = parts
        self.rows: int = rows
        self.started: float = started
        self.expected: float = expected  # seconds it should take; 0 when nothing is known
