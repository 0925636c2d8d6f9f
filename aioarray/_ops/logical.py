"""Logic on booleans (of other dtypes, whatever is not 0 is true), and choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._graph import Definition, Node
from . import _primitives
from ._rules import broadcast_shapes, broadcast_to
from .data_types import nonzero_mask

if TYPE_CHECKING:
    from ._builders import Binary, Unary


def _unary(name: str, rule: Unary) -> Definition[Node]:
    return Definition(name, lambda x: rule(nonzero_mask(x)))


def _binary(name: str, rule: Binary) -> Definition[Node]:
    def body(x1: Node, x2: Node) -> Node:
        shape = broadcast_shapes(name, x1.shape, x2.shape)
        return rule(broadcast_to(nonzero_mask(x1), shape), broadcast_to(nonzero_mask(x2), shape))

    return Definition(name, body)


logical_and = _binary("logical_and", _primitives.bit_and)
logical_or = _binary("logical_or", _primitives.bit_or)
logical_xor = _binary("logical_xor", _primitives.bit_xor)
logical_not = _unary("logical_not", _primitives.invert)
