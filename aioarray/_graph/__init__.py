"""Computations as data: specs, operations, nodes, definitions, and the check between building and lowering."""

from .definition import Definition, definition
from .node import CONSTANT, INPUT, RESULT, Emitter, Graph, Node, Op, Specs, constant, input_node, result, results
from .spec import ArraySpec, array_spec
from .verify import GraphError, operations, topological, verify

__all__ = [
    "CONSTANT",
    "INPUT",
    "RESULT",
    "ArraySpec",
    "Definition",
    "Emitter",
    "Graph",
    "GraphError",
    "Node",
    "Op",
    "Specs",
    "array_spec",
    "constant",
    "definition",
    "input_node",
    "operations",
    "result",
    "results",
    "topological",
    "verify",
]
