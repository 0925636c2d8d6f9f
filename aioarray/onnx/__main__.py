"""``python -m aioarray.onnx inspect|check|compare model.onnx``: what is in a model, and whether it runs as it should.

``inspect`` lists inputs, outputs, operators and weights. ``check`` tells what keeps it from being loaded. ``compare``
runs it here and in onnxruntime, and tells the first node whose results differ.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import external_data_helper

from ..errors import FormatError
from ._compare import compare, random_inputs
from ._dtypes import type_name
from ._load import load_sync
from ._read import parse

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 if the model is as it should be."""
    parser = argparse.ArgumentParser(
        prog="python -m aioarray.onnx", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("inspect", "what is in a model"),
        ("check", "what keeps a model from being loaded"),
        ("compare", "the difference from onnxruntime, node by node"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("model", type=Path, help="an ONNX file")
        if name == "compare":
            command.add_argument("--inputs", type=Path, help="a .npz file with an array for each input; random without")
            command.add_argument(
                "--size", action="append", default=[], metavar="NAME=LENGTH", help="of a named dimension; 1 without"
            )
            command.add_argument("--tolerance", type=float, default=1e-4, help="over the greatest value; 1e-4 without")
            command.add_argument("--all", action="store_true", help="print each node, not the first that differs")
    options = parser.parse_args(arguments)
    try:
        if options.command == "inspect":
            return _inspect(options.model)
        if options.command == "check":
            return _check(options.model)
        return _compare(options)
    except (FormatError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def _inspect(path: Path) -> int:
    proto = parse(path.read_bytes(), str(path))
    print(f"{path}: IR {proto.ir_version}, by {proto.producer_name or 'unknown'} {proto.producer_version}".rstrip())
    print("opsets: " + ", ".join(f"{each.domain or 'ai.onnx'} {each.version}" for each in proto.opset_import))
    weights = {each.name for each in proto.graph.initializer}
    tensors = [*proto.graph.initializer]
    for node in proto.graph.node:
        if node.op_type == "Constant":
            tensors += [each.t for each in node.attribute if each.name == "value"]
    for what, infos in (("input", proto.graph.input), ("output", proto.graph.output)):
        for info in infos:
            if info.name not in weights:
                print(f"{what}: {info.name}: {_type(info.type)}")
    elements = sum(math.prod(each.dims) for each in tensors)
    print(f"constants: {len(tensors)} with {elements:,} elements")
    counts = Counter((node.domain, node.op_type) for node in proto.graph.node)
    for (domain, name), count in counts.most_common():
        print(f"{count:6} {domain + '.' if domain else ''}{name}")
    return 0


def _type(proto: onnx.TypeProto) -> str:
    if not proto.HasField("tensor_type"):
        return str(proto.WhichOneof("value") or "unknown").removesuffix("_type")
    shape = ", ".join(str(n.dim_param or n.dim_value) or "?" for n in proto.tensor_type.shape.dim)
    return f"{type_name(proto.tensor_type.elem_type).lower()}[{shape}]"


def _check(path: Path) -> int:
    model = load_sync(path)
    print(f"{path}: {model.name!r} can be run; its dimensions are {', '.join(model.dimensions) or 'all fixed'}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    if importlib.util.find_spec("onnxruntime") is None:
        print("compare: onnxruntime is not installed; pip install onnxruntime", file=sys.stderr)
        return 2
    onnxruntime = importlib.import_module("onnxruntime")
    path: Path = options.model
    model = load_sync(path)  # checks the file, before others read it
    proto = parse(path.read_bytes(), str(path))
    external_data_helper.load_external_data_for_model(proto, str(path.parent))
    if options.inputs is not None:
        with np.load(options.inputs, allow_pickle=False) as file:
            inputs = dict(file)
    else:
        sizes = dict(each.split("=", 1) for each in options.size)
        inputs = random_inputs(model, {name: int(length) for name, length in sizes.items()})
    worst = 0.0
    for each in compare(proto, inputs, onnxruntime):
        worst = max(worst, each.relative)
        line = f"{each.node} ({each.op}): {each.output}: "
        line += each.problem or f"{each.absolute:.3g} absolute, {each.relative:.3g} of the greatest value"
        if options.all:
            print(line)
        elif each.relative > options.tolerance:
            print(f"the first that differs: {line}")
            return 1
    print(f"{path}: the greatest difference is {worst:.3g} of the greatest value of its array")
    return int(worst > options.tolerance)


if __name__ == "__main__":
    sys.exit(main())
