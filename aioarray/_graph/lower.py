"""Graph to StableHLO text, in MLIR's generic form (one syntax for every operation).

Text, not objects of the MLIR bindings: they would be built one by one holding the GIL, while parsing takes little
(``_xla.modules``); and the text itself is the key under which equal programs are shared.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import numpy as np

from .. import _xla
from .._base import dtypes
from . import CONSTANT, INPUT, RESULT, ArraySpec, Graph, Node, Specs, verify

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .._base.dtypes import DType

# Lowering runs on a compile worker; after this many nodes it lets waiting threads have the GIL, since the
# interpreter itself would only do so every 5 ms.
NODES_BETWEEN_YIELDS = 64

# When the first of two numbers is the one that a reducer keeps.
_DIRECTIONS = {"maximum": "GE", "minimum": "LE"}


def tensor_type(spec: ArraySpec) -> str:
    """``tensor<2x3xf32>`` for float32 of shape (2, 3)."""
    return f"tensor<{''.join(f'{n}x' for n in spec.shape)}{dtypes.MLIR_NAMES[spec.dtype]}>"


def dense(value: np.ndarray) -> str:
    """``value`` as an MLIR dense attribute, exact to the bit."""
    if value.size == 0:
        return "dense<>"
    flat = np.ascontiguousarray(value).reshape(-1)
    if flat.size > 1 and flat.tobytes() == flat[:1].tobytes() * flat.size:
        flat = flat[:1]
    if flat.dtype == dtypes.bool_ or flat.dtype in (dtypes.int4, dtypes.uint4):
        words = [str(v.item()).lower() if flat.dtype == dtypes.bool_ else str(int(v)) for v in flat]
        return f"dense<{words[0]}>" if len(words) == 1 else f"dense<{_nested(words, value.shape)}>"
    return f'dense<"0x{flat.tobytes().hex().upper()}">'


def _nested(words: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return words[0]
    step = len(words) // shape[0]
    return f"[{', '.join(_nested(words[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))}]"


class ModuleEmitter:
    """Writes one module; given to the lowering rules as their ``Emitter``. One thread, one use."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0
        self.functions: dict[str, None] = {}  # texts of functions beside main, in order
        self.dynamic = False

    def fresh(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def op(
        self,
        name: str,
        operands: tuple[str, ...],
        operand_specs: tuple[ArraySpec, ...],
        results: Specs,
        attributes: Mapping[str, str] | None = None,
        regions: tuple[str, ...] = (),
        properties: bool = True,
    ) -> str:
        """Write one operation and give its result's name (of several results, the name to index)."""
        types = ", ".join(map(tensor_type, operand_specs))
        value = self.fresh()
        if isinstance(results, tuple):
            target = f"{value}:{len(results)}"
            result_types = f"({', '.join(map(tensor_type, results))})"
        else:
            target, result_types = value, tensor_type(results)
        text = f'{target} = "{name}"({", ".join(operands)})'
        if attributes and properties:
            text += f" <{{{', '.join(f'{k} = {v}' for k, v in attributes.items())}}}>"
        if regions:
            text += f" ({', '.join(regions)})"
        if attributes and not properties:
            text += f" {{{', '.join(f'{k} = {v}' for k, v in attributes.items())}}}"
        self._lines.append(f"{text} : ({types}) -> {result_types}")
        return value

    def reducer(self, name: str, dtype: DType) -> str:
        """A region that combines two scalars with the StableHLO operation ``name``, or "maximum" or "minimum".

        These two propagate NaN, which "stablehlo.maximum" does not: XLA's CPU compiler hands large reductions with it
        to a library that drops NaN. It is only for where NaN makes no difference.
        """
        scalar = f"tensor<{dtypes.MLIR_NAMES[dtype]}>"
        a, b, c = self.fresh(), self.fresh(), self.fresh()
        opening, closing = f"{{\n^bb0({a}: {scalar}, {b}: {scalar}):", f'"stablehlo.return"({c}) : ({scalar}) -> ()\n}}'
        if name not in _DIRECTIONS or dtype not in dtypes.REAL_FLOATING:
            operation = name if name.startswith("stablehlo.") else f"stablehlo.{name}"
            return f'{opening}\n{c} = "{operation}"({a}, {b}) : ({scalar}, {scalar}) -> {scalar}\n{closing}'
        ahead, is_nan, first = self.fresh(), self.fresh(), self.fresh()
        direction = "{{comparison_direction = #stablehlo<comparison_direction {}>}}".format
        to_bool = f"({scalar}, {scalar}) -> tensor<i1>"
        compare = (
            f'{ahead} = "stablehlo.compare"({a}, {b}) {direction(_DIRECTIONS[name])} : {to_bool}\n'
            f'{is_nan} = "stablehlo.compare"({a}, {a}) {direction("NE")} : {to_bool}\n'
            f'{first} = "stablehlo.or"({ahead}, {is_nan}) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n'
            f'{c} = "stablehlo.select"({first}, {a}, {b}) : (tensor<i1>, {scalar}, {scalar}) -> {scalar}'
        )
        return f"{opening}\n{compare}\n{closing}"

    def region(self, graph: Graph, bound: tuple[str, ...] = ()) -> str:
        """``graph`` as a region, whose outputs are returned.

        Its last inputs are the values ``bound`` of the enclosing block, its other inputs the region's arguments.
        """
        outer, self._lines = self._lines, []
        parameters = graph.inputs[: len(graph.inputs) - len(bound)]
        names = {id(node): self.fresh() for node in parameters}
        names.update(zip(map(id, graph.inputs[len(parameters) :]), bound, strict=True))
        arguments = ", ".join(f"{names[id(node)]}: {tensor_type(node.spec)}" for node in parameters)
        values = self.body(graph, names)
        types = ", ".join(tensor_type(node.spec) for node in graph.outputs)
        self._lines.append(f'"stablehlo.return"({", ".join(values)}) : ({types}) -> ()')
        body, self._lines = "\n".join(self._lines), outer
        return f"{{\n^bb0({arguments}):\n{body}\n}}" if arguments else f"{{\n{body}\n}}"

    def body(self, graph: Graph, names: dict[int, str]) -> list[str]:
        """Write the nodes of ``graph``; give the names of its outputs."""
        for position, node in enumerate(verify(graph)):
            if position % NODES_BETWEEN_YIELDS == NODES_BETWEEN_YIELDS - 1:
                time.sleep(0)  # releases the GIL
            if id(node) not in names:
                names[id(node)] = self._node(node, names)
        return [names[id(node)] for node in graph.outputs]

    def _node(self, node: Node, names: dict[int, str]) -> str:
        if node.op is RESULT:
            return f"{names[id(node.inputs[0])]}#{node.params['index']}"
        if node.op is CONSTANT:
            value = self.fresh()
            kind = tensor_type(node.spec)
            attribute = f"<{{value = {dense(node.params['value'])} : {kind}}}>"
            self._lines.append(f'{value} = "stablehlo.constant"() {attribute} : () -> {kind}')
            return value
        assert node.op is not INPUT, "inputs are named before the body is written"
        return node.op.lower(self, node, tuple(names[id(child)] for child in node.inputs))

    def add_functions(self, text: str, dynamic: bool) -> None:
        """Have functions in the module, for ``func.call``: once, however often they are added.

        ``dynamic`` says that there are shapes in them which XLA first has to derive from those of main's arguments.
        """
        self.functions[text] = None
        self.dynamic = self.dynamic or dynamic

    def lines(self) -> list[str]:
        return self._lines


def lower(graph: Graph, donated: Collection[int] = ()) -> str:
    """The StableHLO module of ``graph``, whose ``main`` takes its inputs and returns its outputs.

    The buffers of the inputs whose positions are in ``donated`` may be reused for results.
    """
    emitter = ModuleEmitter()
    names = {id(node): emitter.fresh() for node in graph.inputs}
    arguments = ", ".join(
        f"{names[id(node)]}: {tensor_type(node.spec)}{' {jax.buffer_donor = true}' if i in donated else ''}"
        for i, node in enumerate(graph.inputs)
    )
    values = emitter.body(graph, names)
    types = ", ".join(tensor_type(node.spec) for node in graph.outputs)
    body = "\n    ".join(emitter.lines())
    functions = "".join(f"{text}\n" for text in emitter.functions)
    return (
        f"module @{_symbol(graph.name)}{_xla.DYNAMIC if emitter.dynamic else ''} {{\n"
        f"  func.func public @main({arguments}) -> ({types}) {{\n"
        f"    {body}\n"
        f'    "func.return"({", ".join(values)}) : ({types}) -> ()\n'
        f"  }}\n{functions}}}\n"
    )


def _symbol(name: str) -> str:
    return re.sub(r"\W", "_", name) or "program"
