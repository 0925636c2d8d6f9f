"""The numbers of rows that batches are padded to."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_MAX: Final = 32


def check_counts(name: str, counts: Mapping[str, Any]) -> None:
    """``ValueError`` for an option that is no whole number of at least 1."""
    for option, value in counts.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: {option} is {value!r}; it must be a whole number of at least 1")


def checked_sizes(name: str, what: str, sizes: Sequence[Any]) -> Sequence[int]:
    """``sizes``, which are the buckets of ``what``; ``ValueError`` unless they are whole numbers of 1 or more."""
    if not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise ValueError(f"{name}: the buckets of {what} are {tuple(sizes)}; give sizes of 1 or more")
    return sizes


class BatchSizes:
    """Batch sizes: given ones, powers of two up to the largest (``sizes=None``), or every number (an empty tuple)."""

    def __init__(self, name: str, sizes: Sequence[int] | None, largest: int | None) -> None:
        if largest is not None:
            check_counts(name, {"max_batch_size": largest})
        if sizes is None:
            largest = largest or DEFAULT_MAX
            sizes = [*(1 << k for k in range((largest - 1).bit_length())), largest]
        self.sizes = tuple(sorted(set(checked_sizes(name, "batches", sizes))))
        self.largest = largest or (self.sizes[-1] if self.sizes else DEFAULT_MAX)
        if self.sizes and self.sizes[-1] < self.largest:
            raise ValueError(
                f"{name}: max_batch_size is {self.largest}, but the largest bucket of batches is {self.sizes[-1]}; "
                "add one for it"
            )

    def padded(self, rows: int) -> int:
        """The size that a batch of ``rows`` is computed in."""
        sizes = self.sizes
        if not sizes:
            return rows
        return sizes[min(bisect.bisect_left(sizes, rows), len(sizes) - 1)]
