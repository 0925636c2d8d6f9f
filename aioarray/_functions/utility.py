"""Utility functions of the array API standard: truth of many elements, differences of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import ArrayLike, call
from .._dispatch.arguments import Axes, axes_of, axis_of, integer_of
from .._ops import manipulation, statistical

if TYPE_CHECKING:
    from .._array import Array

__all__ = ["all", "any", "diff"]


def all(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Whether all elements along ``axis`` (one, several, None for all) are not zero; of nothing, True.

    >>> aio.all(aio.asarray([[True, False], [True, True]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    return call(statistical.all, (x,), axes_of("all", axis), bool(keepdims))


def any(x: ArrayLike, /, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Whether an element along ``axis`` (one, several, None for all) is not zero; of nothing, False.

    >>> aio.any(aio.asarray([[0, 0], [0, 2]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    return call(statistical.any, (x,), axes_of("any", axis), bool(keepdims))


def diff(
    x: ArrayLike,
    /,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """Differences of neighbours along ``axis``, taken ``n`` times, with ``prepend`` and ``append`` joined on before.

    ``ValueError`` for a negative ``n``, and where shapes do not fit.

    >>> aio.diff(aio.asarray([1, 4, 9]))
    Array([3, 5], dtype=int32)
    >>> aio.diff(aio.asarray([1, 4, 9]), prepend=aio.asarray([0]))
    Array([1, 3, 5], dtype=int32)
    """
    return call(manipulation.diff, (x, prepend, append), axis_of("diff", axis), integer_of("diff", "n", n))
