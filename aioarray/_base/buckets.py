"""Shape buckets: lengths that vary are padded to the next of a few sizes, so that few programs do for all of them.

Pure functions of shapes and host arrays. ``jit`` pads the arguments of a call so, a batcher its requests.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

# Names to lengths.
Lengths: TypeAlias = dict[str, int]


def checked_sizes(name: str, what: str, sizes: Sequence[Any]) -> tuple[int, ...]:
    """``sizes`` in order, each once. ``ValueError`` unless they are whole numbers of 1 or more, at least one."""
    if not sizes or not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise ValueError(f"{name}: the buckets of {what} are {tuple(sizes)}; give at least one, all sizes of 1 or more")
    return tuple(sorted(set(sizes)))


def next_size(sizes: Sequence[int], length: int) -> int | None:
    """The smallest of the ordered ``sizes`` that ``length`` fits into; None where none is large enough."""
    place = bisect.bisect_left(sizes, length)
    return sizes[place] if place < len(sizes) else None


class LengthBuckets:
    """The sizes that each named length is padded to. ``name`` is that of the function, for messages."""

    def __init__(self, name: str, sizes: Mapping[str, Sequence[int]]) -> None:
        self._name = name
        self.sizes = {length: checked_sizes(name, repr(length), given) for length, given in sizes.items()}

    def measure(self, found: Lengths, where: str, shape: Sequence[int], axes: Iterable[tuple[int, str]]) -> None:
        """Add to ``found`` the lengths that ``shape`` has along ``axes``. ``ValueError`` where they contradict it."""
        for axis, length in axes:
            if axis >= len(shape):
                raise ValueError(
                    f"{self._name}: {where} has {len(shape)} dimensions, but axis {axis} has the length {length!r}"
                )
            if found.setdefault(length, shape[axis]) != shape[axis]:
                raise ValueError(
                    f"{self._name}: axis {axis} of {where} has length {shape[axis]}, but {length!r} is "
                    f"{found[length]} elsewhere"
                )

    def padded(self, lengths: Mapping[str, int]) -> Lengths:
        """The size for each length. ``ValueError`` where none is large enough."""
        padded: Lengths = {}
        for length, n in lengths.items():
            size = next_size(self.sizes[length], n)
            if size is None:
                largest = self.sizes[length][-1]
                raise ValueError(
                    f"{self._name}: {length!r} is {n}, and the largest bucket is {largest}; more needs a larger bucket"
                )
            padded[length] = size
        return padded

    def shortest(self, length: str, size: int) -> int:
        """The least length that is padded to ``size``."""
        sizes = self.sizes[length]
        place = sizes.index(size)
        return sizes[place - 1] + 1 if place else 1


def resized(shape: Sequence[int], axes: Iterable[tuple[int, str]], lengths: Mapping[str, int]) -> tuple[int, ...]:
    """``shape`` with those of ``axes`` whose name is in ``lengths`` as long as it says."""
    result = list(shape)
    for axis, length in axes:
        result[axis] = lengths.get(length, result[axis])
    return tuple(result)


def pad_into(target: np.ndarray[Any, Any], value: np.ndarray[Any, Any], pad: Any = 0) -> None:
    """Fill ``target`` with ``value``, and behind it along every axis with ``pad``."""
    if target.shape != value.shape:
        target[...] = pad
    target[tuple(map(slice, value.shape))] = value
