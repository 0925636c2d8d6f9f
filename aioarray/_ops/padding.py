"""Padding: more elements around an array."""

from __future__ import annotations

from .._graph import Node, definition
from ._primitives import concatenate, slice_axis
from ._rules import broadcast_to, convert
from .manipulation import PAD, REVERSE

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@definition
def pad(x: Node, value: Node, width: tuple[tuple[int, int], ...], mode: str) -> Node:
    """``x`` with ``width[axis]`` = (before, after) elements more along every axis.

    ``mode`` is "constant" (they are ``value``), "edge", "reflect", "symmetric" or "wrap", as in NumPy.
    """
    if len(width) != x.ndim or any(n < 0 for pair in width for n in pair):
        raise ValueError(
            f"pad: width {width} must give (before, after), both at least 0, for each axis of shape {x.shape}"
        )
    if mode == "constant":
        if value.ndim:
            raise ValueError(f"pad: the value has shape {value.shape}; it takes a scalar")
        low, high = tuple(before for before, _ in width), tuple(after for _, after in width)
        return PAD(x, convert(value, x.dtype), low=low, high=high, interior=(0,) * x.ndim)
    if mode not in MODES:
        raise ValueError(f"pad: mode {mode!r} is not known; use {', '.join(map(repr, MODES))}")
    for axis, (before, after) in enumerate(width):
        if x.shape[axis] == 0 and before + after:
            raise ValueError(f"pad: axis {axis} has length 0; mode {mode!r} has nothing to repeat")
        if before or after:
            x = _continued(x, axis, before, after, mode)
    return x


def _continued(x: Node, axis: int, before: int, after: int, mode: str) -> Node:
    length = x.shape[axis]
    if mode == "edge":
        first, last = slice_axis(x, axis, 0, 1), slice_axis(x, axis, length - 1, length)
        pieces = (_stretched(first, axis, before), x, _stretched(last, axis, after))
        return concatenate(pieces, axis)
    period = _period(x, axis, mode)
    step = period.shape[axis]
    copies_before, copies_after = -(-before // step), -(-(length + after) // step)
    whole = concatenate((period,) * (copies_before + copies_after), axis)
    start = copies_before * step - before
    return slice_axis(whole, axis, start, start + before + length + after)


def _stretched(x: Node, axis: int, length: int) -> Node:
    return broadcast_to(x, (*x.shape[:axis], length, *x.shape[axis + 1 :]))


def _period(x: Node, axis: int, mode: str) -> Node:
    """What ``x`` repeats beyond its ends along ``axis``: "reflect" turns at the last element, "symmetric" after it."""
    length = x.shape[axis]
    if mode == "wrap" or (mode == "reflect" and length == 1):
        return x
    back = REVERSE(x, axes=(axis,))
    if mode == "reflect":
        back = slice_axis(back, axis, 1, length - 1)
    return concatenate((x, back), axis)
