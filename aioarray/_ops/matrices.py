"""Diagonals of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._graph import Node, definition
from . import linalg, statistical

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _check_matrices(function: str, x: Node) -> None:
    if x.ndim < 2:
        raise ValueError(f"{function}: shape {x.shape} has fewer than 2 axes; it takes matrices, or stacks of them")


@definition
def diagonal(x: Node, offset: int) -> Node:
    """Diagonal ``offset`` of the matrices in the last two axes."""
    _check_matrices("diagonal", x)
    return linalg.diagonal(x, offset)


@definition
def trace(x: Node, offset: int, dtype: DType | None) -> Node:
    """Sums of diagonal ``offset`` of the matrices in the last two axes."""
    _check_matrices("trace", x)
    main = linalg.diagonal(x, offset)
    return statistical.sum(main, main.ndim - 1, dtype, False)
