"""Checks a graph between its building and its lowering, so that a broken rule is found where it broke."""

from __future__ import annotations

import numpy as np

from .node import CONSTANT, INPUT, RESULT, Graph, Node, Op


class GraphError(AssertionError):
    """A graph that breaks an invariant: a mistake in an ``Op``'s rules, not in the user's program."""


def topological(outputs: tuple[Node, ...]) -> list[Node]:
    """Every node that ``outputs`` need, inputs before users, each once; no recursion, so depth has no limit."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node in reversed(outputs)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order.append(node)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(node.inputs) if id(child) not in seen)
    return order


def operations(outputs: tuple[Node, ...]) -> set[Op]:
    """The operations that ``outputs`` are made of, those in the bodies of loops and branches too."""
    found: set[Op] = set()
    unseen = [outputs]
    while unseen:
        for node in topological(unseen.pop()):
            found.add(node.op)
            unseen.extend(value.outputs for value in node.params.values() if isinstance(value, Graph))
            unseen.extend(graph.outputs for graph in node.params.get("branches", ()))
    return found


def verify(graph: Graph) -> list[Node]:
    """The nodes of ``graph`` in topological order; ``GraphError`` where a node breaks an invariant."""
    known = {id(node) for node in graph.inputs}
    order = topological(graph.outputs)
    for node in order:
        where = f"{graph.name}: {node!r}"
        if node.op is INPUT:
            if id(node) not in known:
                raise GraphError(f"{where} is an input of another graph")
            continue
        if node.op is CONSTANT:
            value = node.params["value"]
            if not isinstance(value, np.ndarray) or value.dtype != node.spec.dtype or value.shape != node.spec.shape:
                raise GraphError(f"{where} does not describe its value")
            continue
        if node.op is RESULT:
            specs = node.inputs[0].specs
            if not isinstance(specs, tuple) or specs[node.params["index"]] is not node.specs:
                raise GraphError(f"{where} is not a result of {node.inputs[0]!r}")
            continue
        inferred = node.op.infer(*[child.spec for child in node.inputs], **node.params)
        if inferred != node.specs:
            raise GraphError(f"{where} should be {inferred}")
    return order
