"""Logic on booleans (of other dtypes, whatever is not 0 is true), and choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import Definition, Node, definition
from . import _primitives
from ._rules import broadcast_shapes, broadcast_to, convert, result_dtype

if TYPE_CHECKING:
    from ._builders import Binary, Unary


def _truth(x: Node) -> Node:
    if x.dtype == dtypes.bool_:
        return x
    # Not a conversion: of a complex number that would be its real part's.
    return _primitives.not_equal(x, 0)


def _unary(name: str, rule: Unary) -> Definition[Node]:
    return Definition(name, lambda x: rule(_truth(x)))


def _binary(name: str, rule: Binary) -> Definition[Node]:
    def body(x1: Node, x2: Node) -> Node:
        shape = broadcast_shapes(name, x1.shape, x2.shape)
        return rule(broadcast_to(_truth(x1), shape), broadcast_to(_truth(x2), shape))

    return Definition(name, body)


logical_and = _binary("logical_and", _primitives.bit_and)
logical_or = _binary("logical_or", _primitives.bit_or)
logical_xor = _binary("logical_xor", _primitives.bit_xor)
logical_not = _unary("logical_not", _primitives.invert)


@definition
def where(condition: Node, x1: Node, x2: Node) -> Node:
    dtype = result_dtype("where", x1, x2)
    shape = broadcast_shapes("where", condition.shape, x1.shape, x2.shape)
    condition = broadcast_to(_truth(condition), shape)
    return _primitives.select(
        condition, broadcast_to(convert(x1, dtype), shape), broadcast_to(convert(x2, dtype), shape)
    )
