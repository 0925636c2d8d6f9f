"""Nodes to call definitions on, where only what they refuse, or what shape they give, is of interest."""

from __future__ import annotations

import numpy as np

from aioarray._graph import Node, array_spec, input_node


def node(shape: tuple[int, ...], dtype: str = "float32") -> Node:
    return input_node(array_spec(shape, np.dtype(dtype)))
