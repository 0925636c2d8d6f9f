"""Loops of algorithms, written as functions on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import Graph, Node, input_node
from ._rules import convert
from .lax import Body, loop, switch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def while_loop(
    condition: Callable[..., Node],
    body: Callable[..., Sequence[Node]],
    initial: Sequence[Node],
    *,
    counted: bool = False,
) -> tuple[Node, ...]:
    """Apply ``body`` to ``initial`` while ``condition`` holds; neither may use nodes that it is not given.

    ``counted`` says that the number of turns does not depend on values.
    """
    inputs = tuple(input_node(node.spec) for node in initial)
    going = Graph("condition", inputs, (condition(*inputs),))
    inputs = tuple(input_node(node.spec) for node in initial)
    step = Graph("body", inputs, tuple(body(*inputs)))
    assert [node.spec for node in step.outputs] == [node.spec for node in initial], (step.outputs, initial)
    return loop(Body(going, ()), Body(step, ()), initial, counted=counted)


def choose(
    condition: Node, then: Callable[..., Node], otherwise: Callable[..., Node], operands: Sequence[Node]
) -> Node:
    """``then(*operands)`` where ``condition``, of no dimensions, is true, else ``otherwise(*operands)``; only one runs.

    Neither may use nodes that it is not given.
    """
    bodies = []
    for branch in (otherwise, then):
        inputs = tuple(input_node(node.spec) for node in operands)
        bodies.append(Body(Graph("branch", inputs, (branch(*inputs),)), tuple(operands)))
    return switch(convert(condition, dtypes.int32), bodies)[0]
