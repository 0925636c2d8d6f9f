"""Runs a ``Definition`` on NumPy arrays without the engine: build, verify, lower, compile, execute."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from aioarray import _xla
from aioarray._graph import Definition, Graph, Node, array_spec, input_node
from aioarray._graph.lower import lower
from tests.support import executables


@cache
def _compiled(module: str) -> Any:
    # Property tests run one program on many values.
    return executables.compiled(module)


def evaluate(definition: Definition, *arrays: Any, static: tuple[Any, ...] = ()) -> Any:
    """What ``definition(*arrays, *static)`` gives, as a NumPy array or a tuple of them.

    Python scalars among ``arrays`` are weak; None stays None.
    """
    device = _xla.default_device()
    inputs: list[Node] = []
    values: list[np.ndarray] = []
    nodes: list[Node | None] = []
    for array in arrays:
        if array is None:
            nodes.append(None)
            continue
        weak = isinstance(array, (bool, int, float, complex)) and not isinstance(array, np.generic)
        value = np.asarray(array)
        if weak:
            value = value.astype({"i": np.int32, "f": np.float32, "c": np.complex64, "b": np.bool_}[value.dtype.kind])
        node = input_node(array_spec(value.shape, value.dtype, None, weak))
        inputs.append(node)
        nodes.append(node)
        values.append(value)
    output = definition(*nodes, *static)
    outputs = tuple(output) if isinstance(output, (tuple, list)) else (output,)
    graph = Graph(definition.name, tuple(inputs), outputs)
    executable = _compiled(lower(graph))
    specs = [array_spec(node.shape, node.dtype, device) for node in outputs]
    buffers = [_xla.put(value, array_spec(value.shape, value.dtype, device), device) for value in values]
    results = executable.execute(buffers).consume_with_handlers(_xla.result_handlers(specs, device))
    arrays_out = tuple(np.asarray(_xla.to_numpy(b, s)) for b, s in zip(results, specs, strict=True))
    return arrays_out if isinstance(output, (tuple, list)) else arrays_out[0]
