"""The values of a model here beside those of onnxruntime, node by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

import aioarray as aio

from ..errors import TracedValueError
from ._load import load_sync

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from ._model import Model


@dataclass(frozen=True, slots=True)
class Difference:
    """One output of one node: the greatest difference, absolute and over the greatest value; or what is wrong."""

    node: str
    op: str
    output: str
    absolute: float
    relative: float
    problem: str = ""


def random_inputs(model: Model, lengths: Mapping[str, int], seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Inputs for a model: lengths without a name, or of a name that is not told, are 1."""
    rng = np.random.default_rng(seed)
    inputs = {}
    for info in model.inputs:
        if info.dtype is None or info.dtype == np.dtype(object):
            raise TypeError(f"{model.name}: the input {info.name!r} is no tensor of numbers; give inputs as a file")
        shape = [n if isinstance(n, int) else lengths.get(n or "", 1) for n in info.shape or ()]
        value: Any
        if aio.isdtype(info.dtype, "real floating"):
            value = rng.uniform(-1, 1, shape)
        else:
            value = rng.integers(0, 2, shape)
        inputs[info.name] = np.asarray(value).astype(info.dtype)
    return inputs


def with_all_outputs(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a model that gives what each node of its outermost graph gives."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    given = {info.name for info in copy.graph.output}
    for node in copy.graph.node:
        for name in node.output:
            if name and name not in given:
                copy.graph.output.append(onnx.ValueInfoProto(name=name))
                given.add(name)
    return copy


def compare(
    proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray[Any, Any]], onnxruntime: ModuleType
) -> Iterator[Difference]:
    """The difference from onnxruntime for each output of each node, in the order in which they are computed."""
    whole = with_all_outputs(proto)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [info.name for info in session.get_outputs()]
    expected = dict(zip(names, session.run(names, dict(inputs)), strict=True))
    model = load_sync(whole)
    try:
        results = model(**inputs)
    except TracedValueError:
        results = model.run_sync(**inputs)
    found = dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))
    for node in proto.graph.node:
        for name in node.output:
            if name:
                yield _difference(node.name or node.output[0], node.op_type, name, found[name], expected[name])


def _difference(node: str, op: str, output: str, found: Any, expected: Any) -> Difference:
    if not isinstance(expected, np.ndarray) or not hasattr(found, "dtype"):
        return Difference(node, op, output, 0.0, 0.0)
    value = np.asarray(found)
    if value.shape != expected.shape or value.dtype != expected.dtype:
        return Difference(
            node,
            op,
            output,
            np.inf,
            np.inf,
            f"{value.dtype.name}{list(value.shape)} instead of {expected.dtype.name}{list(expected.shape)}",
        )
    if expected.dtype.kind not in "biufc" or not expected.size:
        return Difference(node, op, output, 0.0, 0.0)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = value.astype(wide), expected.astype(wide)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.abs(one - other))
    finite = np.abs(other[np.isfinite(other)])
    absolute = float(np.nan_to_num(distance, nan=np.inf).max())
    return Difference(node, op, output, absolute, absolute / max(float(finite.max(initial=0.0)), 1e-30))
