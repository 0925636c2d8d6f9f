"""Branches and loops: operations whose parameters are graphs.

A graph that is a body takes its own arguments and then values of the graph around it. Those are inputs of the operation
like any other; in StableHLO the region does not take them as arguments, it names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._base import dtypes
from .._graph import ArraySpec, Emitter, Graph, Node, Op, Specs, array_spec, results
from ._gather import DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE
from ._primitives import maximum, minimum, reshape
from ._rules import convert, scalar

if TYPE_CHECKING:
    from collections.abc import Sequence


class Body(NamedTuple):
    """A graph, and the nodes around it that its last inputs stand for."""

    graph: Graph
    around: tuple[Node, ...]


def _looped(*specs: ArraySpec, condition: Graph, body: Graph, carried: int, around: int) -> Specs:
    return specs[:carried]


def _lower_loop(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    carried, around = node.params["carried"], node.params["around"]
    condition = emitter.region(node.params["condition"], operands[carried : carried + around])
    body = emitter.region(node.params["body"], operands[carried + around :])
    specs = tuple(child.spec for child in node.inputs[:carried])
    return emitter.op("stablehlo.while", operands[:carried], specs, node.specs, None, (condition, body))


# Carried values, values for ``condition``, values for ``body`` -> carried values at the end. XLA's cost analysis counts
# one turn. The first makes as many turns at each run.
_COUNTED_LOOP = Op("loop", _looped, _lower_loop, bounded=False)
_LOOP = Op("while_loop", _looped, _lower_loop, bounded=False, steady=False)


def loop(condition: Body, body: Body, initial: Sequence[Node], *, counted: bool) -> tuple[Node, ...]:
    """Apply ``body`` to the ``initial`` values while ``condition`` of them holds.

    ``counted`` says that the number of turns does not depend on values.
    """
    op = _COUNTED_LOOP if counted else _LOOP
    node = op(
        *initial,
        *condition.around,
        *body.around,
        condition=condition.graph,
        body=body.graph,
        carried=len(initial),
        around=len(condition.around),
    )
    return results(node)


def _branched(index: ArraySpec, *around: ArraySpec, branches: tuple[Graph, ...], counts: tuple[int, ...]) -> Specs:
    return tuple(array_spec(node.shape, node.dtype) for node in branches[0].outputs)


def _lower_case(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    regions = []
    start = 1
    for graph, count in zip(node.params["branches"], node.params["counts"], strict=True):
        regions.append(emitter.region(graph, operands[start : start + count]))
        start += count
    return emitter.op("stablehlo.case", operands[:1], (node.inputs[0].spec,), node.specs, None, tuple(regions))


# Index, values for each branch -> results of the branch with that index, of the last one if there is none.
_CASE = Op("switch", _branched, _lower_case)


def switch(index: Node, branches: Sequence[Body]) -> tuple[Node, ...]:
    """The results of branch number ``index``, which is brought into their range; they agree in their specs."""
    if index.dtype.itemsize < 4:
        index = convert(index, dtypes.int32)  # there may be more branches than it counts
    index = convert(minimum(maximum(index, 0), len(branches) - 1), dtypes.int32)
    around = [node for branch in branches for node in branch.around]
    graphs = tuple(branch.graph for branch in branches)
    counts = tuple(len(branch.around) for branch in branches)
    return results(_CASE(index, *around, branches=graphs, counts=counts))


def row(x: Node, index: Node) -> Node:
    """``x[index]`` along the first axis; ``index`` is in range."""
    zero = scalar(0, index.dtype)
    piece = DYNAMIC_SLICE(x, index, *[zero] * (x.ndim - 1), sizes=(1, *x.shape[1:]))
    return reshape(piece, x.shape[1:])


def with_row(x: Node, index: Node, value: Node) -> Node:
    """``x`` with ``value`` at ``index`` along the first axis."""
    zero = scalar(0, index.dtype)
    return DYNAMIC_UPDATE_SLICE(x, reshape(value, (1, *value.shape)), index, *[zero] * (x.ndim - 1))
