"""What is done to a model once, at load: dead nodes go, what follows from constants is computed, weights are placed.

The constants of a program stay here as NumPy arrays where they are small, so that shapes can follow from them, and are
Arrays otherwise, which all programs of the model share.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import aioarray as aio

from ._evaluate import PRODUCTS, Evaluation, NeedsValue, Scope, map_graphs, place
from ._folding import without_batch_norms
from ._graph import Graph, Node, node_uses
from ._read import Program, function_of
from ._registry import find
from ._values import Tensor, is_known

if TYPE_CHECKING:
    from collections.abc import Mapping

# Constants up to this many elements become a part of programs: biases and scales, which XLA computes with then.
SMALL = 1024
# Integers are likelier to be shapes and positions.
SMALL_INTEGERS = 16384


def optimised(program: Program) -> Program:
    """The program without nodes that nothing needs, and with batch norms in the weights of convolutions."""
    graph = without_dead_nodes(without_batch_norms(with_constants(program.graph), program.opsets.get("", 0)))
    return dataclasses.replace(program, graph=graph)


def with_constants(graph: Graph) -> Graph:
    """The graph, and those in it, with its ``Constant`` nodes among its constants."""
    constants = dict(graph.constants)
    nodes = []
    for node in graph.nodes:
        value = constant_of(node)
        if value is not None:
            constants[node.outputs[0]] = value
        else:
            inner = {name: with_constants(x) if isinstance(x, Graph) else x for name, x in node.attributes.items()}
            nodes.append(dataclasses.replace(node, attributes=inner) if node.graphs() else node)
    return dataclasses.replace(graph, nodes=tuple(nodes), constants=constants)


def constant_of(node: Node) -> np.ndarray[Any, Any] | None:
    """The value of a ``Constant`` node; None for others."""
    if node.op != "Constant" or node.domain or len(node.attributes) != 1:
        return None
    ((name, value),) = node.attributes.items()
    if name in ("value", "sparse_value") and isinstance(value, np.ndarray):
        return value
    dtypes = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
        "value_string": object,
        "value_strings": object,
    }
    return np.asarray(value, dtypes[name]) if name in dtypes and isinstance(value, (int, float, str, tuple)) else None


def without_dead_nodes(graph: Graph) -> Graph:
    """The graph without nodes and constants that no output needs."""
    needed = {info.name for info in graph.outputs}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if needed.isdisjoint(name for name in node.outputs if name):
            continue
        needed.update(node_uses(node))
        kept.append(node)
    inputs = {info.name for info in graph.inputs}
    constants = {name: x for name, x in graph.constants.items() if name in needed or name in inputs}
    return dataclasses.replace(graph, nodes=tuple(reversed(kept)), constants=constants)


def placed(program: Program, precision: str | None) -> dict[int, Mapping[str, Tensor]]:
    """By graph and name, the constants as they are computed with, and what follows from them in the outermost graph."""
    constants: dict[int, dict[str, Tensor]] = {}
    narrow = _only_in_products(program.graph) if precision == "bfloat16" else frozenset()

    def visit(graph: Graph) -> None:
        values = {}
        for name, value in graph.constants.items():
            if graph is program.graph and name in narrow and value.dtype == np.float32:
                value = value.astype(ml_dtypes.bfloat16)
            limit = SMALL_INTEGERS if value.dtype.kind in "iu" else SMALL
            values[name] = place(value, limit)
        constants[id(graph)] = values

    map_graphs(program.graph, visit)
    for function in program.functions.values():
        for node in function.nodes:
            for graph in node.graphs().values():
                map_graphs(graph, visit)
    constants[id(program.graph)].update(_computed(program, constants, precision))
    return dict(constants)


def _only_in_products(graph: Graph) -> frozenset[str]:
    """The constants that only products and convolutions take."""
    found = set(graph.constants) - {info.name for info in graph.outputs} - {info.name for info in graph.inputs}
    for node in graph.nodes:
        if node.domain or node.op not in PRODUCTS:
            found.difference_update(node_uses(node))
    return frozenset(found)


def _computed(
    program: Program, constants: Mapping[int, Mapping[str, Tensor]], precision: str | None
) -> dict[str, Tensor]:
    """What nodes of the outermost graph give whose inputs are constants: one program computes it, once."""
    graph = program.graph
    inputs = {info.name for info in graph.inputs}
    given = {name: x for name, x in constants[id(graph)].items() if name not in inputs}
    fixed = set(given)
    nodes = []
    for node in graph.nodes:
        if all(name in fixed for name in node_uses(node)) and not _is_random(node, program):
            nodes.append(node)
            fixed.update(node.outputs)
    if not nodes:
        return {}
    taken = {name for node in nodes for name in node_uses(node)}
    arrays = {name: x for name, x in given.items() if name in taken and not is_known(x)}
    later = {info.name for info in graph.outputs}
    chosen = set(map(id, nodes))
    for node in graph.nodes:
        if id(node) not in chosen:
            later.update(node_uses(node))
    known: dict[str, Tensor] = {}
    names: list[str] = []
    unknown: set[str] = set()  # for what values would be needed

    def compute(arrays: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        evaluation = Evaluation(program, constants, precision)
        scope: Scope = ChainMap({**given, **arrays})
        known.clear(), names.clear(), unknown.clear()  # type: ignore[func-returns-value]
        for node in nodes:
            if unknown.isdisjoint(node_uses(node)):
                try:
                    evaluation.step(node, scope)
                    continue
                except (NeedsValue, ValueError):
                    pass
            # Told where it is computed with the inputs: it may be in a branch that is never taken.
            unknown.update(node.outputs)
        made = {name: scope[name] for node in nodes for name in node.outputs if name in later and name in scope}
        known.update({name: x for name, x in made.items() if not isinstance(x, aio.Array)})
        names.extend(name for name in made if name not in known)
        return tuple(made[name] for name in names)

    results = aio.jit(compute, name=f"constants of {graph.name or 'model'}")(arrays)
    found = {**known, **dict(zip(names, results, strict=True))}
    aio.block_until_ready(list(results))
    with aio.sync_reads("allow"):
        return {name: _small(x) for name, x in found.items()}


def _small(x: Tensor) -> Tensor:
    if isinstance(x, aio.Array) and x.size <= SMALL:
        return np.asarray(x)
    return x


def _is_random(node: Node, program: Program) -> bool:
    if function_of(node, program.functions) is not None:
        return False
    found = find(node.domain, node.op, node.version)
    return found is None or found.random or bool(node.graphs())
