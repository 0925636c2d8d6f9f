"""NumPy's everyday ways of taking arrays apart: one launch for all the pieces."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from .._array import Array, ArrayLike, as_array, call
from .._dispatch.arguments import axis_of
from .._ops import splitting
from .._ops._rules import normalize_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["array_split", "dsplit", "hsplit", "split", "vsplit"]


def split(x: ArrayLike, /, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]:
    """So many equal pieces of ``x`` along ``axis``, or the pieces between the positions given.

    ``ValueError`` where the length does not divide; see ``array_split``.

    >>> aio.split(aio.arange(6), 3)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32), Array([4, 5], dtype=int32)]
    >>> aio.split(aio.arange(6), [1, 4])
    [Array([0], dtype=int32), Array([1, 2, 3], dtype=int32), Array([4, 5], dtype=int32)]
    """
    return _split("split", x, indices_or_sections, axis, equal=True)


def array_split(x: ArrayLike, /, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]:
    """As ``split``; where the length does not divide, the first pieces are longer by one.

    >>> aio.array_split(aio.arange(3), 2)
    [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _split("array_split", x, indices_or_sections, axis, equal=False)


def vsplit(x: ArrayLike, /, indices_or_sections: int | Sequence[int]) -> list[Array]:
    """``split`` along the first axis. ``ValueError`` below two axes.

    >>> [piece.shape for piece in aio.vsplit(aio.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    return _split("vsplit", _with_axes("vsplit", x, 2), indices_or_sections, 0, equal=True)


def hsplit(x: ArrayLike, /, indices_or_sections: int | Sequence[int]) -> list[Array]:
    """``split`` along the second axis, of a vector along its only one. ``ValueError`` for no axes.

    >>> [piece.shape for piece in aio.hsplit(aio.ones((4, 2)), 2)]
    [(4, 1), (4, 1)]
    """
    array = _with_axes("hsplit", x, 1)
    return _split("hsplit", array, indices_or_sections, min(1, array.ndim - 1), equal=True)


def dsplit(x: ArrayLike, /, indices_or_sections: int | Sequence[int]) -> list[Array]:
    """``split`` along the third axis. ``ValueError`` below three axes.

    >>> [piece.shape for piece in aio.dsplit(aio.ones((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    return _split("dsplit", _with_axes("dsplit", x, 3), indices_or_sections, 2, equal=True)


def _with_axes(function: str, x: ArrayLike, count: int) -> Array:
    array = as_array(function, x)
    if array.ndim < count:
        raise ValueError(f"{function}: shape {array.shape} has fewer than {count} axes; use split() with axis=")
    return array


def _split(
    function: str, x: ArrayLike, indices_or_sections: int | Sequence[int], axis: int, *, equal: bool
) -> list[Array]:
    array = as_array(function, x)
    k = normalize_axis(function, axis_of(function, axis), array.ndim)
    length = array.shape[k]
    if not isinstance(indices_or_sections, SupportsIndex) or np.ndim(indices_or_sections):
        cuts = [operator.index(i) for i in indices_or_sections]  # type: ignore[union-attr]
        bounds = [0, *cuts, length]
        spans = [slice(start, stop).indices(length) for start, stop in pairwise(bounds[:-1])]
        spans.append(slice(bounds[-2], None).indices(length))
        pieces = tuple((start, max(start, stop)) for start, stop, _ in spans)
    else:
        sections = operator.index(indices_or_sections)
        if sections < 1:
            raise ValueError(f"{function}: {sections} sections; there must be 1 or more")
        if equal and length % sections:
            raise ValueError(
                f"{function}: axis {axis} of shape {array.shape} does not divide into {sections} equal pieces; "
                "use array_split()"
            )
        short, longer = divmod(length, sections)
        starts = [i * short + min(i, longer) for i in range(sections + 1)]
        pieces = tuple(pairwise(starts))
    return list(call(splitting.split, (array,), pieces, k))
