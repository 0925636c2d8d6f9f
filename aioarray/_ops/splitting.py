"""Taking an array apart."""

from __future__ import annotations

from .._graph import Node, definition
from ._primitives import slice_axis


@definition
def split(x: Node, pieces: tuple[tuple[int, int], ...], axis: int) -> tuple[Node, ...]:
    """``x[start:stop]`` along ``axis`` for each (start, stop) of ``pieces``, which lie within it."""
    return tuple(slice_axis(x, axis, start, stop) for start, stop in pieces)
