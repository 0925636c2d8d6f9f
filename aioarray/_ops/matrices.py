"""Diagonals of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._graph import Node, definition
from . import linalg, statistical
from ._primitives import transpose
from ._rules import normalize_axes

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _in_last(function: str, x: Node, axes: tuple[int, int]) -> Node:
    """``x`` with its matrices in the last two axes."""
    if x.ndim < 2:
        raise ValueError(f"{function}: shape {x.shape} has fewer than 2 axes; it takes matrices, or stacks of them")
    rows, columns = normalize_axes(function, axes, x.ndim)
    return transpose(x, (*(k for k in range(x.ndim) if k not in (rows, columns)), rows, columns))


@definition
def diagonal(x: Node, offset: int, axes: tuple[int, int] = (-2, -1)) -> Node:
    """Diagonal ``offset`` of the matrices in two axes."""
    x = _in_last("diagonal", x, axes)
    return linalg.diagonal(x, offset)


@definition
def trace(x: Node, offset: int, dtype: DType | None, axes: tuple[int, int] = (-2, -1)) -> Node:
    """Sums of diagonal ``offset`` of the matrices in two axes."""
    x = _in_last("trace", x, axes)
    main = linalg.diagonal(x, offset)
    return statistical.sum(main, main.ndim - 1, dtype, False)
