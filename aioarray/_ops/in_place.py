"""What ``x += y`` and the like compute: an operation whose result has the shape and dtype of its first operand."""

from __future__ import annotations

from .._base import dtypes
from .._graph import Definition, Node
from ._rules import convert

_SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "matmul": "@",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>",
}


def in_place(operation: Definition[Node]) -> Definition[Node]:
    """``operation``, cast to the dtype of its first operand as NumPy's in-place operators cast: within a kind, or to a
    wider one.

    Raises ``ValueError`` where the result has another shape, ``TypeError`` where it has a wider kind.
    """

    sign = _SIGNS[operation.name]

    def body(x: Node, y: Node) -> Node:
        result: Node = operation(x, y)
        if result.shape != x.shape:
            raise ValueError(
                f"{operation.name} in place: the result has shape {result.shape}, the array {x.shape}; they must "
                f"agree. Write `x = x {sign} y` for a new array"
            )
        if not _castable(result, x):
            raise TypeError(
                f"{operation.name} in place: the result, of dtype {result.dtype.name}, cannot be cast to "
                f"{x.dtype.name}; write `x = x {sign} y` for a new array"
            )
        return convert(result, x.dtype)

    return Definition(operation.name, body)


def _castable(source: Node, target: Node) -> bool:
    """Whether NumPy's rule "same_kind" allows the cast."""
    if source.dtype in dtypes.SIGNED and target.dtype in dtypes.UNSIGNED:
        return False
    return dtypes.dtype_rank(source.dtype) <= dtypes.dtype_rank(target.dtype)
