"""Batch norms as a part of the convolutions before them: one product less for each element."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ._graph import Graph, Node, node_uses

if TYPE_CHECKING:
    from collections.abc import Mapping


def without_batch_norms(graph: Graph, version: int) -> Graph:
    """The graph with each ``BatchNormalization`` of a ``Conv``'s only result folded into its weights."""
    uses: dict[str, int] = {}
    for node in graph.nodes:
        for name in node_uses(node):
            uses[name] = uses.get(name, 0) + 1
    for info in graph.outputs:
        uses[info.name] = uses.get(info.name, 0) + 1
    inputs = {info.name for info in graph.inputs}
    constants = dict(graph.constants)
    fixed = {name: x for name, x in constants.items() if name not in inputs}
    makers: dict[str, int] = {}
    nodes: list[Node | None] = []
    for node in graph.nodes:
        place = makers.get(node.inputs[0]) if node.op == "BatchNormalization" and node.inputs else None
        conv = nodes[place] if place is not None else None
        folded = None if conv is None or uses[node.inputs[0]] != 1 else _folded(conv, node, fixed, version)
        if folded is None:
            nodes.append(node)
        else:
            conv, added = folded
            constants.update(added)
            fixed.update(added)
            assert place is not None
            nodes[place] = None
            nodes.append(conv)
        if nodes[-1] is not None and nodes[-1].op == "Conv" and not nodes[-1].domain:
            makers[nodes[-1].outputs[0]] = len(nodes) - 1
    return dataclasses.replace(graph, nodes=tuple(node for node in nodes if node is not None), constants=constants)


def _folded(
    conv: Node, norm: Node, fixed: Mapping[str, np.ndarray[Any, Any]], version: int
) -> tuple[Node, dict[str, np.ndarray[Any, Any]]] | None:
    """The convolution that gives what both do, with its weights; None if they are not constants."""
    trained = norm.domain or len(norm.inputs) != 5 or len([name for name in norm.outputs if name]) != 1
    if trained or norm.attributes.get("training_mode") or norm.attributes.get("spatial", 1) != 1 or version < 7:
        return None
    names = [*conv.inputs[1:], *norm.inputs[1:]]
    if any(name and name not in fixed for name in names):
        return None
    kernel = fixed[conv.inputs[1]]
    scale, shift, mean, variance = (fixed[name] for name in norm.inputs[1:])
    if kernel.dtype not in (np.float32, np.float64) or any(
        x.shape != kernel.shape[:1] for x in (scale, shift, mean, variance)
    ):
        return None
    wide = np.float64
    factor = scale.astype(wide) / np.sqrt(variance.astype(wide) + norm.number("epsilon", 1e-5))
    if not np.isfinite(factor).all():
        return None
    bias = fixed[conv.inputs[2]].astype(wide) if len(conv.inputs) > 2 and conv.inputs[2] else 0.0
    new_kernel = (kernel * factor.reshape(-1, *[1] * (kernel.ndim - 1))).astype(kernel.dtype)
    new_bias = (shift + (bias - mean) * factor).astype(kernel.dtype)
    output = norm.outputs[0]
    added = {f"{output}/folded kernel": new_kernel, f"{output}/folded bias": new_bias}
    return dataclasses.replace(conv, inputs=(conv.inputs[0], *added), outputs=(output,)), added
