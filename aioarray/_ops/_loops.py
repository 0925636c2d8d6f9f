"""Loops of algorithms, written as functions on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._graph import Graph, Node, input_node
from .lax import Body, loop

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
