"""The numbers of rows that batches are padded to."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_MAX: Final = 32


class BatchSizes:
    """Batch sizes: given ones, powers of two up to the largest (``sizes=None``), or every number (an empty tuple)."""

    def __init__(self, name: str, sizes: Sequence[int] | None, largest: int | None) -> None:
        if largest is not None and largest < 1:
            raise ValueError(f"{name}: max_batch_size is {largest}; it must be at least 1")
        if sizes is None:
            largest = largest or DEFAULT_MAX
            sizes = [*(1 << k for k in range((largest - 1).bit_length())), largest]
        self.sizes = tuple(sorted(set(sizes)))
        if self.sizes and self.sizes[0] < 1:
            raise ValueError(f"{name}: the buckets of batches are {tuple(sizes)}; give sizes of 1 or more")
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
