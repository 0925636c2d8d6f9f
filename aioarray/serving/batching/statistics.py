"""What a batcher has done, as plain numbers."""

from __future__ import annotations

import bisect
import copy
import time
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from ..._base.errors import DeadlineError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Upper bounds of the histograms, in seconds and in rows; the last count is of what is larger.
SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
# Buckets that are told apart; further ones are counted together.
BUCKETS: Final = 256


@dataclass(slots=True)
class Histogram:
    """How many values were at most each of ``bounds``, how many more there were, and their sum."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        """Count ``value``."""
        self.counts[bisect.bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values."""
        return sum(self.counts)

    @property
    def mean(self) -> float:
        """Their mean; 0 if there are none."""
        count = self.count
        return self.total / count if count else 0.0

    def copy(self) -> Histogram:
        """Another one with the same counts."""
        return replace(self, counts=list(self.counts))

    def __add__(self, other: Histogram) -> Histogram:
        counts = [n + m for n, m in zip(self.counts, other.counts, strict=True)]
        return Histogram(self.bounds, counts, self.total + other.total)


@dataclass(slots=True)
class BucketStats:
    """The batches of one padded shape. ``seconds`` are from the call of the model to its result on the host."""

    batches: int = 0
    rows: int = 0
    padded_rows: int = 0
    elements: int = 0
    padded_elements: int = 0
    seconds: float = 0.0

    def __add__(self, other: BucketStats) -> BucketStats:
        return BucketStats(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def padding_waste(self) -> float:
        """What part of the elements that were computed was padding."""
        total = self.elements + self.padded_elements
        return self.padded_elements / total if total else 0.0

    @property
    def mean_seconds(self) -> float:
        """Seconds of a batch."""
        return self.seconds / self.batches if self.batches else 0.0


@dataclass(slots=True)
class BatcherStats:
    """Counts since a batcher was made; those in the first group are of now.

    Every accepted request ends in exactly one of ``completed``, ``failed``, ``expired`` and ``cancelled``; those that
    were not accepted are in ``invalid``, ``rejected`` and ``hopeless``.
    """

    name: str
    ready: bool
    queued: int  # requests that wait
    queued_rows: int
    running: int  # batches
    running_seconds: float  # how long the oldest of them has been running

    accepted: int
    completed: int
    failed: int  # the model raised, or its result was not finite
    expired: int  # the deadline passed
    cancelled: int  # the caller went away
    invalid: int  # not what the model takes
    rejected: int  # the queue was full, or the wait too long
    hopeless: int  # could not have made the deadline

    completed_seconds: float  # from arrival to result, of all that completed
    failed_seconds: float  # ... to the error, of those that failed or expired
    latest: float  # when the latest of them completed or failed, in seconds since 1970; 0 before

    batches: int
    rows: int
    bisections: int  # batches that were run again in halves
    batch_rows: Histogram
    queue_seconds: Histogram
    batch_seconds: Histogram
    buckets: dict[str, BucketStats]

    def without_present(self) -> BatcherStats:
        """What is left when the batcher is gone: what it has counted."""
        return replace(self, ready=False, queued=0, queued_rows=0, running=0, running_seconds=0.0)


def merged_stats(parts: Sequence[BatcherStats]) -> BatcherStats:
    """The statistics of several batchers of one model as one's; those of the longest running batch are told."""
    first, *others = parts
    for other in others:
        values = {each.name: (getattr(first, each.name), getattr(other, each.name)) for each in fields(first)}
        values.pop("name")
        left, right = values.pop("buckets")
        first = BatcherStats(
            name=first.name,
            ready=all(values.pop("ready")),
            running_seconds=max(values.pop("running_seconds")),
            latest=max(values.pop("latest")),
            buckets={
                key: left[key] + right[key] if key in left and key in right else (left | right)[key]
                for key in left | right
            },
            **{key: one + another for key, (one, another) in values.items()},
        )
    return first


class Recorder:
    """Counts for one batcher. Loop thread only."""

    def __init__(self) -> None:
        self.accepted = self.completed = self.failed = self.expired = self.cancelled = 0
        self.invalid = self.rejected = self.hopeless = 0
        self.completed_seconds = self.failed_seconds = self.latest = 0.0
        self.batches = self.rows = self.bisections = 0
        self.batch_rows: Histogram = Histogram(ROWS)
        self.queue_seconds: Histogram = Histogram(SECONDS)
        self.batch_seconds: Histogram = Histogram(SECONDS)
        self.buckets: dict[str, BucketStats] = {}

    @property
    def unanswered(self) -> int:
        """Accepted requests that have not ended."""
        return self.accepted - self.completed - self.failed - self.expired - self.cancelled

    def end(self, seconds: float, error: BaseException | None = None) -> None:
        """An accepted request has ended so long after it came, with its result or with ``error``."""
        self.latest = time.time()
        if error is None:
            self.completed += 1
            self.completed_seconds += seconds
            return
        self.failed_seconds += seconds
        if isinstance(error, DeadlineError):
            self.expired += 1
        else:
            self.failed += 1

    def batch(self, bucket: str, rows: int, size: int, elements: int, padded_elements: int, seconds: float) -> None:
        """A batch ran: ``rows`` of ``size``, and so many elements of input and of padding."""
        self.batches += 1
        self.rows += rows
        self.batch_rows.add(rows)
        self.batch_seconds.add(seconds)
        stats = self.buckets.get(bucket)
        if stats is None:
            if len(self.buckets) >= BUCKETS:
                bucket = "other"
            stats = self.buckets.setdefault(bucket, BucketStats())
        stats.batches += 1
        stats.rows += rows
        stats.padded_rows += size - rows
        stats.elements += elements
        stats.padded_elements += padded_elements
        stats.seconds += seconds

    def snapshot(self) -> dict[str, Any]:
        """The fields of ``BatcherStats`` that are counted here, copied."""
        return copy.deepcopy(vars(self))
