"""From a file to a ``Graph``. Nothing in the file is trusted, and nothing in it is executed.

What is wrong is a ``FormatError`` that names the node, its operator and the attribute.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx
from google.protobuf.message import DecodeError, Message
from onnx import defs, helper

from ..errors import FormatError
from ._dtypes import DTYPES
from ._graph import Function, Graph, Node, Reference, ValueInfo
from ._registry import find
from ._tensors import sparse_tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np

_TYPES = onnx.AttributeProto
_TYPE_NAMES = {value: name.lower() for name, value in _TYPES.AttributeType.items()}
_STANDARD = ("", "ai.onnx")
OLDEST = 1
# A protocol buffer holds less than this, by its own rules.
MAX_BYTES = (1 << 31) - 1


@dataclass(frozen=True)
class Program:
    """All of a model: its graph, its own functions, and what it says about itself."""

    source: str
    graph: Graph
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str, str], Function]  # by domain, name and overload
    doc: str
    producer: str
    metadata: Mapping[str, str]


def parse(data: bytes, source: str) -> onnx.ModelProto:
    """The message in ``data``."""
    if len(data) > MAX_BYTES:
        raise FormatError(
            f"{source}: has {len(data)} bytes; an ONNX file has at most {MAX_BYTES}, and others beside it"
        )
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        raise FormatError(f"{source}: is no ONNX model, or was cut off") from None
    return proto


def _check_texts(message: Message, source: str) -> None:
    """``FormatError`` for a text that is no UTF-8: protobuf gives it as bytes."""
    for name in _fields(message.DESCRIPTOR):
        value = getattr(message, name)
        if isinstance(value, Message):
            if message.HasField(name):
                _check_texts(value, source)
            continue
        for each in (value,) if isinstance(value, (str, bytes)) else value:
            if isinstance(each, bytes):
                raise FormatError(f"{source}: a text ({name!r}) is {each[:40]!r}, which is no UTF-8")
            if isinstance(each, Message):
                _check_texts(each, source)


@functools.cache
def _fields(descriptor: Any) -> tuple[str, ...]:
    """The names of a message's fields that are texts or messages."""
    kinds = (descriptor.fields[0].TYPE_STRING, descriptor.fields[0].TYPE_MESSAGE) if descriptor.fields else ()
    return tuple(field.name for field in descriptor.fields if field.type in kinds)


def read(proto: onnx.ModelProto, source: str, folder: Path | None) -> Program:
    """The model in ``proto``, checked; external data is read from ``folder``."""
    _check_texts(proto, source)
    if not proto.HasField("graph"):
        raise FormatError(f"{source}: has no graph; it is no ONNX model")
    opsets = _opsets(proto.opset_import, source)
    reader = _Reader(source, folder)
    functions: dict[tuple[str, str, str], Function] = {}
    for function in proto.functions:
        read_function = reader.function(function, opsets)
        key = (read_function.domain, read_function.name, function.overload)
        if key in functions:
            raise FormatError(f"{source}: the function {key[1]!r} of {key[0]!r} is there twice")
        functions[key] = read_function
    graph = reader.graph(proto.graph, opsets, frozenset())
    program = Program(
        source,
        graph,
        opsets,
        functions,
        proto.doc_string or proto.graph.doc_string,
        f"{proto.producer_name} {proto.producer_version}".strip(),
        {entry.key: entry.value for entry in proto.metadata_props},
    )
    _check_recursion(program)
    return _with_bodies(program)


def _opsets(imports: Iterable[onnx.OperatorSetIdProto], source: str) -> dict[str, int]:
    opsets = {"" if entry.domain in _STANDARD else entry.domain: entry.version for entry in imports}
    version = opsets.setdefault("", 1)
    newest = defs.onnx_opset_version()
    if len(opsets) == 1 and not OLDEST <= version <= newest:
        raise FormatError(
            f"{source}: is of opset {version}; aioarray takes {OLDEST} to {newest}"
            + ("" if version < OLDEST else "; install a newer onnx")
        )
    return opsets


class _Reader:
    def __init__(self, source: str, folder: Path | None) -> None:
        self.source = source
        self.folder = folder

    def graph(self, proto: onnx.GraphProto, opsets: Mapping[str, int], around: frozenset[str]) -> Graph:
        constants: dict[str, np.ndarray[Any, Any]] = {}
        for initializer in proto.initializer:
            where = f"{self.source}: initializer {initializer.name!r}"
            if initializer.name in constants:
                raise FormatError(f"{where}: is there twice")
            constants[initializer.name] = tensor(initializer, where, self.folder)
        for sparse in proto.sparse_initializer:
            where = f"{self.source}: initializer {sparse.values.name!r}"
            constants[sparse.values.name] = sparse_tensor(sparse, where, self.folder)
        inputs = tuple(self._value(info) for info in proto.input)
        names = [info.name for info in inputs]
        if len(set(names)) != len(names):
            raise FormatError(f"{self.source}: graph {proto.name!r} has inputs of the same name: {names}")
        known = around | set(names) | set(constants)
        nodes = self._nodes(proto.node, opsets, known)
        given = known.union(*(node.outputs for node in nodes))
        outputs = tuple(self._value(info) for info in proto.output)
        missing = [info.name for info in outputs if info.name not in given]
        if missing:
            raise FormatError(f"{self.source}: graph {proto.name!r} gives {missing}, which nothing in it makes")
        return Graph(proto.name, inputs, outputs, nodes, constants)

    def _nodes(
        self, protos: Iterable[onnx.NodeProto], opsets: Mapping[str, int], known: frozenset[str]
    ) -> tuple[Node, ...]:
        names = set(known)
        nodes = []
        for index, proto in enumerate(protos):
            node = self._node(proto, index, opsets, names)
            again = [name for name in node.outputs if name and name in names]
            if again or len({*node.outputs} - {""}) != sum(map(bool, node.outputs)):
                raise node.error(f"gives {again or node.outputs}, but each name is to be given once")
            names.update(node.outputs)
            nodes.append(node)
        return tuple(nodes)

    def _node(self, proto: onnx.NodeProto, index: int, opsets: Mapping[str, int], known: set[str]) -> Node:
        domain = "" if proto.domain in _STANDARD else proto.domain
        attributes: dict[str, Any] = {}
        node = Node(
            self.source,
            proto.name or (proto.output[0] if proto.output else "") or f"number {index}",
            proto.op_type,
            domain,
            opsets.get(domain, 0),
            tuple(proto.input),
            tuple(proto.output),
            attributes,
            proto.overload,
        )
        missing = [name for name in node.inputs if name and name not in known]
        if missing:
            raise node.error(f"takes {missing}, which nothing before it gives")
        for attribute in proto.attribute:
            if attribute.name in attributes:
                raise node.error("is there twice", attribute.name)
            attributes[attribute.name] = self._attribute(attribute, node, opsets, frozenset(known))
        _check_against_schema(node)
        return node

    def _attribute(
        self, proto: onnx.AttributeProto, node: Node, opsets: Mapping[str, int], known: frozenset[str]
    ) -> Any:
        if proto.ref_attr_name:
            return Reference(proto.ref_attr_name)
        where = f"{self.source}: node {node.name!r} ({node.label}), attribute {proto.name!r}"
        kind = proto.type
        if kind == _TYPES.FLOAT:
            return float(proto.f)
        if kind == _TYPES.INT:
            return int(proto.i)
        if kind == _TYPES.STRING:
            return _text(proto.s, where)
        if kind == _TYPES.TENSOR:
            return tensor(proto.t, where, self.folder)
        if kind == _TYPES.SPARSE_TENSOR:
            return sparse_tensor(proto.sparse_tensor, where, self.folder)
        if kind == _TYPES.GRAPH:
            return self.graph(proto.g, opsets, known)
        if kind == _TYPES.FLOATS:
            return tuple(map(float, proto.floats))
        if kind == _TYPES.INTS:
            return tuple(map(int, proto.ints))
        if kind == _TYPES.STRINGS:
            return tuple(_text(data, where) for data in proto.strings)
        if kind == _TYPES.TENSORS:
            return tuple(tensor(each, where, self.folder) for each in proto.tensors)
        if kind == _TYPES.TYPE_PROTO:
            return _tensor_type(proto.tp)[0]
        raise FormatError(f"{where}: is of the kind {_TYPE_NAMES.get(kind, kind)}, which aioarray does not have")

    def function(self, proto: onnx.FunctionProto, around: Mapping[str, int]) -> Function:
        imports = _opsets(proto.opset_import, f"{self.source}: function {proto.name!r}")
        opsets = {**around, **imports} if proto.opset_import else around
        attributes: dict[str, Any] = dict.fromkeys(proto.attribute)
        nowhere = Node(self.source, proto.name, proto.name, proto.domain, 0, (), (), {})
        for attribute in proto.attribute_proto:
            attributes[attribute.name] = self._attribute(attribute, nowhere, opsets, frozenset())
        nodes = self._nodes(proto.node, opsets, frozenset(proto.input))
        given = {*proto.input}.union(*(node.outputs for node in nodes))
        missing = [name for name in proto.output if name not in given]
        if missing:
            raise FormatError(f"{self.source}: function {proto.name!r} gives {missing}, which nothing in it makes")
        domain = "" if proto.domain in _STANDARD else proto.domain
        return Function(domain, proto.name, tuple(proto.input), tuple(proto.output), attributes, nodes)

    def _value(self, info: onnx.ValueInfoProto) -> ValueInfo:
        dtype, shape = _tensor_type(info.type)
        return ValueInfo(info.name, dtype, shape, info.doc_string)


def _tensor_type(proto: onnx.TypeProto) -> tuple[Any, tuple[int | str | None, ...] | None]:
    """The dtype, or None for what is no tensor, and the shape where it is told."""
    if not proto.HasField("tensor_type"):
        return None, None
    dtype = DTYPES.get(proto.tensor_type.elem_type)
    if not proto.tensor_type.HasField("shape"):
        return dtype, None
    lengths: list[int | str | None] = []
    for dimension in proto.tensor_type.shape.dim:
        if dimension.HasField("dim_value"):
            # Some exporters write -1 for a length that may vary, and "?" for its name.
            lengths.append(int(dimension.dim_value) if dimension.dim_value >= 0 else None)
        else:
            lengths.append(dimension.dim_param.strip("?") or None)
    return dtype, tuple(lengths)


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{where}: is no UTF-8: {data[:40]!r}") from None


def schema_of(node: Node) -> Any:
    """What ONNX says about the operator in the model's version, or None where it does not know it."""
    try:
        return defs.get_schema(node.op, node.version, node.domain)
    except defs.SchemaError:
        return None


def _check_against_schema(node: Node) -> None:
    """``FormatError`` for attributes or numbers of inputs and outputs that the operator does not have."""
    schema = schema_of(node)
    if schema is None:
        return
    for name, value in node.attributes.items():
        allowed = schema.attributes.get(name)
        if allowed is None:
            raise node.error(
                f"the operator has no such attribute in version {schema.since_version}; it has "
                f"{', '.join(sorted(schema.attributes)) or 'none'}",
                name,
            )
        wanted = allowed.type.name
        if not isinstance(value, Reference) and not _fits(value, wanted):
            raise node.error(f"is {value!r:.60}; the operator takes {wanted.lower()}", name)
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in node.attributes:
            raise node.error("is missing; the operator needs it", name)
    for what, count, least, most in (
        ("inputs", len(node.inputs), schema.min_input, schema.max_input),
        ("outputs", len(node.outputs), schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            raise node.error(f"has {count} {what}; the operator takes {least} to {most}")
    for place, parameter in enumerate(schema.inputs):
        needed = parameter.option == defs.OpSchema.FormalParameterOption.Single
        if needed and place < len(node.inputs) and not node.inputs[place]:
            raise node.error(f"its input {parameter.name!r} is missing")


def _fits(value: Any, wanted: str) -> bool:
    if wanted == "FLOAT":
        return isinstance(value, float)
    if wanted == "INT":
        return isinstance(value, int)
    if wanted == "STRING":
        return isinstance(value, str)
    if wanted in ("TENSOR", "SPARSE_TENSOR"):
        return hasattr(value, "dtype")
    if wanted == "GRAPH":
        return isinstance(value, Graph)
    if wanted in ("FLOATS", "INTS", "STRINGS"):
        kind = {"FLOATS": float, "INTS": int, "STRINGS": str}[wanted]
        return isinstance(value, tuple) and all(isinstance(each, kind) for each in value)
    return True


def all_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, and those of the graphs in them."""
    for node in nodes:
        yield node
        for graph in node.graphs().values():
            yield from all_nodes(graph.nodes)


def function_of(node: Node, functions: Mapping[tuple[str, str, str], Function]) -> Function | None:
    """The function that a node calls, if it is one."""
    return functions.get((node.domain, node.op, node.overload))


def _check_recursion(program: Program) -> None:
    """``FormatError`` for functions that call themselves, if only by way of others."""
    done: set[int] = set()

    def visit(function: Function, trail: tuple[Function, ...]) -> None:
        if function in trail:
            raise FormatError(f"{program.source}: the function {function.name!r} of {function.domain!r} calls itself")
        if id(function) in done:
            return
        if len(trail) > 100:
            raise FormatError(f"{program.source}: functions call each other more than 100 deep")
        for node in all_nodes(function.nodes):
            callee = function_of(node, program.functions)
            if callee is not None:
                visit(callee, (*trail, function))
        done.add(id(function))

    for function in program.functions.values():
        visit(function, ())


def _with_bodies(program: Program) -> Program:
    """The program with the bodies by which ONNX defines operators that are not declared here.

    ``FormatError`` that tells all operators that there are no functions for.
    """
    functions = dict(program.functions)
    missing: dict[tuple[str, str, int], int] = {}
    waiting = [*program.graph.nodes]
    for function in program.functions.values():
        waiting += function.nodes
    while waiting:
        batch, waiting = waiting, []
        for node in all_nodes(batch):
            if function_of(node, functions) is not None or find(node.domain, node.op, node.version) is not None:
                continue
            schema = schema_of(node)
            if schema is not None and schema.has_function:
                reader = _Reader(f"{program.source}: body of {node.op}", None)
                body = reader.function(schema.function_body, program.opsets)
                defaults = {
                    name: helper.get_attribute_value(attribute.default_value)
                    for name, attribute in schema.attributes.items()
                    if attribute.default_value.type
                }
                defaults = {name: x.decode() if isinstance(x, bytes) else x for name, x in defaults.items()}
                body = dataclasses.replace(body, attributes={**body.attributes, **defaults})
                functions[node.domain, node.op, node.overload] = body
                waiting += body.nodes
            else:
                key = (node.domain, node.op, node.version)
                missing[key] = missing.get(key, 0) + 1
    if missing:
        names = ", ".join(
            f"{domain or 'ai.onnx'}.{name} (version {version}, {count} node{'s' * (count > 1)})"
            for (domain, name, version), count in sorted(missing.items())
        )
        raise FormatError(f"{program.source}: needs operators that aioarray does not have: {names}")
    return Program(
        program.source, program.graph, program.opsets, functions, program.doc, program.producer, program.metadata
    )
