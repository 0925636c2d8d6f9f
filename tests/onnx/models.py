"""Small models for tests, as text or node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


def parsed(text: str, opset: int = 21, ir: int = 10) -> onnx.ModelProto:
    """The model of a graph in ONNX's own notation."""
    return onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["": {opset}]>\n{text}')


def node(
    op: str,
    inputs: list[str],
    outputs: list[str],
    infos: dict[str, Any],
    constants: dict[str, Any] | None = None,
    opset: int = 21,
    domain: str = "",
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node. ``infos`` has shape and dtype of what is no constant: ``{"x": ("float32", (2, 3))}``."""
    made = helper.make_node(op, inputs, outputs, name="it", domain=domain, **attributes)
    constants = constants or {}

    def info(name: str) -> onnx.ValueInfoProto:
        dtype, shape = infos.get(name, ("float32", None))
        number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, number, shape)

    graph = helper.make_graph(
        [made],
        "one",
        [info(name) for name in dict.fromkeys(inputs) if name and name not in constants],
        [info(name) for name in outputs if name],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=10)
