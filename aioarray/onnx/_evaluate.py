"""The walk over a graph: each node's function is called on the values of its inputs.

``Evaluation`` walks while ``aio.jit`` traces, so a whole model becomes one program. An operator that has to know a
value then raises ``NeedsValue``. ``Splitting`` walks outside of a trace, on a thread that may wait: what is between
such operators are programs of their own, and they themselves read the values.

An object belongs to one walk, on one thread.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import aioarray as aio

from ..errors import FormatError, TracedValueError
from ._graph import Function, Graph, Node, Reference, ValueInfo, node_uses
from ._read import Program, function_of
from ._registry import find
from ._values import LARGEST, Tensor, as_array, cast, is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

# name -> value; those of a graph in another one look there for what is not theirs.
Scope = ChainMap[str, Tensor]

# The operators that ``precision="bfloat16"`` is for; all others compute as the file says.
PRODUCTS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum", "FusedMatMul", "FusedGemm", "FusedConv"})


class NeedsValue(Exception):
    """An operator has to know a value that is not known while the model is traced."""

    def __init__(self, node: Node, what: str) -> None:
        super().__init__(f"{node.source}: node {node.name!r} ({node.label}) needs {what}, which depends on values")
        self.index = -1  # of the node in the outermost walk


class Call:
    """What an operator's function may ask about the node that it is called for."""

    __slots__ = ("_evaluation", "_scope", "node")

    def __init__(self, node: Node, evaluation: Evaluation, scope: Scope) -> None:
        self.node = node
        self._evaluation = evaluation
        self._scope = scope

    @property
    def version(self) -> int:
        """The version of the operator's domain that the model is written for."""
        return self.node.version

    @property
    def eager(self) -> bool:
        """Whether values may be read."""
        return self._evaluation.eager

    @property
    def outputs(self) -> int:
        """How many outputs the node has, those left out at the end not counted."""
        return len(self.node.outputs)

    def wants(self, output: int) -> bool:
        """Whether the output of this number is there."""
        return output < len(self.node.outputs) and bool(self.node.outputs[output])

    def integer(self, name: str, *default: Any) -> int:
        """The integer attribute ``name``."""
        return self.node.integer(name, *default)

    def number(self, name: str, *default: Any) -> float:
        """The attribute ``name``, a float."""
        return self.node.number(name, *default)

    def text(self, name: str, *default: Any) -> str:
        """The attribute ``name``, a text."""
        return self.node.text(name, *default)

    def items(self, name: str, *default: Any) -> tuple[Any, ...]:
        """The attribute ``name``, a tuple."""
        return self.node.items(name, *default)

    def get(self, name: str) -> Any:
        """The attribute ``name`` as it is; None if it is not there."""
        return self.node.get(name)

    def error(self, text: str, attribute: str | None = None) -> FormatError:
        """A ``FormatError`` that names the node."""
        return self.node.error(text, attribute)

    def host(self, x: Tensor, what: str) -> np.ndarray[Any, Any]:
        """The value of ``x``; ``what`` is its name in the message where it is not known."""
        if is_known(x):
            return x  # type: ignore[no-any-return]
        try:
            with aio.sync_reads("allow"):
                return np.asarray(x)
        except TracedValueError:
            raise NeedsValue(self.node, what) from None

    def ints(self, x: Tensor, what: str) -> tuple[Any, ...]:
        """The value of ``x``, an array of one axis or none, as a tuple of ints."""
        value = self.host(x, what)
        if value.ndim > 1 or value.dtype.kind not in "iu":
            raise self.error(f"{what} are of shape {value.shape} and dtype {value.dtype.name}; it takes a list of ints")
        return tuple(map(int, value.reshape(-1)))

    def scalar(self, x: Tensor, what: str) -> Any:
        """The value of ``x``, which has one element, as a Python number."""
        value = self.host(x, what)
        if value.size != 1:
            raise self.error(f"{what} has the shape {value.shape}; it takes one element")
        return value.reshape(-1)[0].item()

    def needs_value(self, what: str) -> NeedsValue:
        """What to raise where a value has to be known."""
        return NeedsValue(self.node, what)

    def graph(self, name: str) -> Graph:
        """The attribute ``name``, a graph."""
        return self.node.graph(name)

    def evaluate(self, graph: Graph, values: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of a graph in an attribute, given its inputs."""
        if len(values) != len(graph.inputs):
            raise self.error(f"its graph {graph.name!r} takes {len(graph.inputs)} inputs, not {len(values)}")
        return self._evaluation.graph(graph, values, self._scope)

    def newer(self, name: str, version: int, *values: Tensor) -> Any:
        """What the function of ONNX's operator ``name`` in another version gives for these inputs."""
        found = find("", name, version)
        assert found is not None, name
        return found.function(self, *values)


class Evaluation:
    """A walk while tracing. ``constants`` holds, by graph and name, what was made of the file's constants."""

    eager = False

    def __init__(self, program: Program, constants: Mapping[int, Mapping[str, Tensor]], precision: str | None) -> None:
        self._program = program
        self._constants = constants
        self._precision = precision

    def graph(self, graph: Graph, values: Sequence[Tensor], around: Scope | None = None) -> list[Tensor]:
        """The outputs of ``graph``, given its inputs; other names are looked up in ``around``."""
        scope: Scope = ChainMap() if around is None else around.new_child()
        scope.update(self._constants.get(id(graph), graph.constants))
        scope.update({info.name: x for info, x in zip(graph.inputs, values, strict=True) if info.name})
        outputs = [info.name for info in graph.outputs]
        self.walk(graph.nodes, scope, outputs)
        return [scope[name] for name in outputs]

    def walk(self, nodes: Sequence[Node], scope: Scope, wanted: Sequence[str]) -> None:
        """Put the outputs of ``nodes`` into ``scope``; at the end those of ``wanted`` will be taken from it."""
        for index, node in enumerate(nodes):
            try:
                self.step(node, scope)
            except NeedsValue as error:
                error.index = index
                raise

    def step(self, node: Node, scope: Scope) -> None:
        """Put the outputs of one node into ``scope``."""
        values = [scope[name] if name else None for name in node.inputs]
        function = function_of(node, self._program.functions)
        if function is not None:
            results: Any = self._function(node, function, values)
        else:
            results = self._operator(node, values, scope)
        if not isinstance(results, tuple):
            results = (results,)
        for name, value in zip(node.outputs, results, strict=False):
            if getattr(value, "nbytes", 0) > LARGEST:
                raise node.error(
                    f"gives an array of shape {value.shape}, {value.nbytes} bytes; it takes up to {LARGEST}"
                )
            if name:
                scope[name] = np.asarray(value) if isinstance(value, np.generic) else value
        given = len(results)
        missing = [name for name in node.outputs[given:] if name]
        if missing:
            raise node.error(f"its outputs {missing} are not to be had; aioarray gives the first {given}")

    def _operator(self, node: Node, values: list[Tensor], scope: Scope) -> Any:
        found = find(node.domain, node.op, node.version)
        assert found is not None, node.label  # told at load otherwise
        narrow = self._precision == "bfloat16" and node.op in PRODUCTS
        if narrow:
            values = [_narrowed(x) for x in values]
        while values and values[-1] is None:
            values.pop()
        try:
            with np.errstate(all="ignore"):
                results = found.function(Call(node, self, scope), *values)
        except FormatError:
            raise
        except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError) as error:
            shapes = ", ".join("none" if x is None else _spec(x) for x in values)
            raise ValueError(
                f"{node.source}: node {node.name!r} ({node.label}) with inputs {shapes}: {error}"
            ) from error
        if narrow:
            return cast(results, np.float32) if results.dtype == ml_dtypes.bfloat16 else results
        return results

    def _function(self, node: Node, function: Function, values: list[Tensor]) -> tuple[Tensor, ...]:
        given = {**{k: v for k, v in function.attributes.items() if v is not None}, **node.attributes}
        scope: Scope = ChainMap(dict.fromkeys(function.inputs))
        scope.update(zip(function.inputs, values, strict=False))
        self.walk([resolve(each, given) for each in function.nodes], scope, function.outputs)
        return tuple(scope[name] for name in function.outputs)


def _spec(x: Tensor) -> str:
    return f"{x.dtype.name}{list(x.shape)}" if hasattr(x, "dtype") else type(x).__name__


def _narrowed(x: Tensor) -> Tensor:
    if x is None or x.dtype != np.dtype(np.float32):
        return x
    return cast(x, ml_dtypes.bfloat16)


def resolve(node: Node, given: Mapping[str, Any]) -> Node:
    """A function's node with the attributes of the function in place of references to them."""
    attributes = {}
    for name, value in node.attributes.items():
        if isinstance(value, Reference):
            if value.name in given:
                attributes[name] = given[value.name]
        elif isinstance(value, Graph):
            attributes[name] = dataclasses.replace(value, nodes=tuple(resolve(each, given) for each in value.nodes))
        else:
            attributes[name] = value
    return dataclasses.replace(node, attributes=attributes)


class Segment:
    """The nodes from ``start`` to ``stop`` of a graph as one program, for one set of known values."""

    def __init__(self, stop: int, names: tuple[str, ...], function: Any) -> None:
        self.stop = stop
        self.names = names  # of the results that are Arrays
        self.known: dict[str, Tensor] = {}  # the results that were known at the trace
        self.function = function


class Splitting(Evaluation):
    """A walk that may wait: programs up to an operator that has to know values, then that one, and so on."""

    eager = True

    def __init__(
        self,
        program: Program,
        constants: Mapping[int, Mapping[str, Tensor]],
        precision: str | None,
        segments: MutableMapping[Any, Segment],
    ) -> None:
        super().__init__(program, constants, precision)
        self._segments = segments  # shared by the walks of a model, on any thread; entries are only added

    def walk(self, nodes: Sequence[Node], scope: Scope, wanted: Sequence[str]) -> None:
        """As ``Evaluation.walk``, in segments."""
        start = 0
        while start < len(nodes):
            start = self._segment(nodes, start, scope, wanted)
            if start < len(nodes):
                self.step(nodes[start], scope)
                start += 1

    def _segment(self, nodes: Sequence[Node], start: int, scope: Scope, wanted: Sequence[str]) -> int:
        used = dict.fromkeys(name for node in nodes[start:] for name in node_uses(node))
        taken = {name: scope[name] for name in used if name in scope}
        arrays = {name: x for name, x in taken.items() if not is_known(x) and x is not None}
        known = {name: x for name, x in taken.items() if is_known(x) or x is None}
        key = (
            tuple(map(id, nodes[start:])) if start == 0 else (id(nodes[0]), len(nodes), start),
            tuple((name, _key(x)) for name, x in arrays.items()),
            tuple((name, _key(x)) for name, x in known.items()),
        )
        segment = self._segments.get(key)
        if segment is None:
            segment = self._build(nodes, start, arrays, known, wanted)
            self._segments[key] = segment
        if segment.stop > start:
            results = segment.function(arrays)
            scope.update(zip(segment.names, results, strict=True))
            scope.update(segment.known)
        return segment.stop

    def _build(
        self,
        nodes: Sequence[Node],
        start: int,
        arrays: Mapping[str, Tensor],
        known: Mapping[str, Tensor],
        wanted: Sequence[str],
    ) -> Segment:
        tracing = Evaluation(self._program, self._constants, self._precision)
        segment = Segment(len(nodes), (), None)

        def part(given: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
            scope: Scope = ChainMap({**known, **given})
            stop = segment.stop
            tracing.walk(nodes[start:stop], scope, ())
            made = dict.fromkeys(name for node in nodes[start:stop] for name in node.outputs if name in scope)
            later = {*wanted}.union(*(node_uses(node) for node in nodes[stop:]))
            results = {name: scope[name] for name in made if name in later}
            segment.known = {name: x for name, x in results.items() if is_known(x) or x is None}
            segment.names = tuple(name for name in results if name not in segment.known)
            return tuple(results[name] for name in segment.names)

        try:
            aio.eval_shape(part, arrays)
        except NeedsValue as error:
            segment.stop = start + error.index
            if segment.stop > start:
                aio.eval_shape(part, arrays)
        segment.function = aio.jit(part, name=f"nodes {start} to {segment.stop}")
        return segment


def _key(x: Tensor) -> Any:
    if x is None:
        return None
    if isinstance(x, (list, tuple)):
        return tuple(map(_key, x))
    if is_known(x):
        return x.shape, x.dtype, x.tobytes() if x.dtype != object else tuple(x.reshape(-1).tolist())
    return x.shape, x.dtype


def place(value: np.ndarray[Any, Any], limit: int) -> Tensor:
    """A constant as it is computed with: known up to ``limit`` elements, an Array beyond that."""
    if value.size <= limit or value.dtype == object:
        return value
    return as_array(value)


def map_graphs(graph: Graph, visit: Callable[[Graph], None]) -> None:
    """Call ``visit`` with ``graph`` and all those in its nodes."""
    visit(graph)
    for node in graph.nodes:
        for inner in node.graphs().values():
            map_graphs(inner, visit)


__all__ = ["PRODUCTS", "Call", "Evaluation", "NeedsValue", "Scope", "Splitting", "ValueInfo", "map_graphs", "place"]
