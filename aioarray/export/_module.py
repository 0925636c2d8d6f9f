"""Modules from files as operations of a graph: checked once, and called like any other operation."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _xla
from .._base import dtypes
from .._base.errors import FormatError
from .._graph import ArraySpec, Emitter, Node, Op, Specs
from .._graph.lower import tensor_type

if TYPE_CHECKING:
    from collections.abc import Collection

    from .._base.dtypes import DType
    from ._process import ModuleProcess

# Dialects whose operations do nothing but compute. "sdy" says how values are spread over devices, of which there is
# one.
DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo", "sdy"})
# Operations that wait for somebody else, or talk to others.
FORBIDDEN = frozenset(
    {
        "stablehlo.all_gather",
        "stablehlo.all_reduce",
        "stablehlo.all_to_all",
        "stablehlo.collective_broadcast",
        "stablehlo.collective_permute",
        "stablehlo.infeed",
        "stablehlo.outfeed",
        "stablehlo.recv",
        "stablehlo.reduce_scatter",
        "stablehlo.send",
    }
)
# Custom calls that XLA itself takes care of: marks for the partitioner, checks of shapes, and operations that StableHLO
# did not have, or has in another form by now.
BUILT_IN_CALLS = frozenset(
    {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "annotate_device_placement",
        "shape_assertion",
        "stablehlo.dynamic_reduce_window",
        "stablehlo.dynamic_rng_bit_generator",
        "stablehlo.dynamic_top_k",
        "mhlo.erf",
        "mhlo.topk",
        "mhlo.tan",
    }
)
# LAPACK's routines by jaxlib's names: they look at what they are given, and compute.
LAPACK_CALL = re.compile(
    r"lapack_[sdcz]"
    r"(trsm|getrf|geqrf|orgqr|ungqr|potrf|gesdd|gesvd|syevd|heevd|geev|gees|gehrd|sytrd|hetrd|gtsv|geqp3)_ffi"
)

_ELEMENTS = {name: dtype for dtype, name in dtypes.MLIR_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Value:
    """An argument or result of a module's main: None in ``shape`` is a length that varies."""

    text: str
    shape: tuple[int | None, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Module:
    """A module's functions in generic text; all their names begin with ``prefix``, "main" comes after it."""

    prefix: str
    text: str
    inputs: tuple[Value, ...]  # without the constants
    outputs: tuple[Value, ...]
    constants: tuple[tuple[Value, np.ndarray], ...]  # arguments that come last, and what they always are
    custom_calls: frozenset[str]
    bounded: bool

    @property
    def dynamic(self) -> bool:
        """Whether shapes in it depend on the lengths of its arguments."""
        return "tensor<?" in self.text or "x?" in self.text


def read_module(process: ModuleProcess, data: bytes, source: str, allowed: Collection[str]) -> Module:
    """The module in ``data``: MLIR text, bytecode, or a portable artifact. ``FormatError`` unless it only computes."""
    prefix = f"exported_{hashlib.sha256(data).hexdigest()[:16]}_"
    answer, content = process.ask(source, "read", data, prefix=prefix)
    operations = set(answer["operations"])
    foreign = {name for name in operations if name.partition(".")[0] not in DIALECTS} | (operations & FORBIDDEN)
    if foreign:
        raise FormatError(f"{source}: uses {_listed(foreign)}, which programs that only compute do not need")
    calls = set(answer["custom_calls"])
    unknown = {name for name in calls - BUILT_IN_CALLS - set(allowed) if not LAPACK_CALL.fullmatch(name)}
    if unknown:
        raise FormatError(
            f"{source}: calls {_listed(unknown)} outside of XLA. If you trust the file and these targets are "
            f"registered, pass allow_custom_calls={sorted(unknown)[:5]}"
        )
    loops = "stablehlo.while" in operations
    inputs = [_value(kind, source) for kind in answer["inputs"]]
    count = len(inputs) - answer["constants"]
    constants = []
    position = answer["text"]
    for kind in inputs[count:]:
        shape = tuple(n for n in kind.shape if n is not None)
        elements = np.frombuffer(content, kind.dtype, math.prod(shape), position)
        constants.append((kind, elements.reshape(shape)))
        position += elements.nbytes
    return Module(
        prefix,
        content[: answer["text"]].decode(),
        tuple(inputs[:count]),
        tuple(_value(kind, source) for kind in answer["outputs"]),
        tuple(constants),
        frozenset(calls),
        bounded=not loops and calls <= BUILT_IN_CALLS,
    )


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(sorted(names)[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _value(kind: dict[str, Any], source: str) -> Value:
    if kind.get("element") not in _ELEMENTS:
        raise FormatError(f"{source}: takes or gives {kind['text'][:100]}, which is no array that aioarray knows")
    return Value(kind["text"], tuple(kind["shape"]), _ELEMENTS[kind["element"]])


def module_op(name: str, module: Module, first: int | None) -> Op:
    """The operation that calls ``module``'s main, with the number ``first``, if any, before the other arguments.

    Its parameter ``specs`` are the specs of the results.
    """

    def infer(*operands: ArraySpec, specs: tuple[ArraySpec, ...]) -> Specs:
        return specs

    def lower(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
        if any(map(LAPACK_CALL.fullmatch, module.custom_calls)):
            _xla.register_lapack()  # before the program is compiled
        inputs = tuple(child.spec for child in node.inputs)
        assert isinstance(node.specs, tuple)
        text, symbol = _functions(module, first, inputs, node.specs)
        emitter.add_functions(text, module.dynamic)
        return emitter.op("func.call", operands, inputs, node.specs, {"callee": f"@{symbol}"})

    return Op(
        name,
        infer,
        lower,
        bounded=module.bounded,
        may_fail=not module.custom_calls <= BUILT_IN_CALLS,
        steady=module.bounded,
    )


def _functions(
    module: Module, first: int | None, inputs: tuple[ArraySpec, ...], outputs: tuple[ArraySpec, ...]
) -> tuple[str, str]:
    """The functions to be added for a call with these specs, and which to call: main with shapes that are known."""
    text, prefix = module.text, module.prefix
    if module.dynamic:
        # Functions are refined to one set of shapes, so each set needs its own.
        prefix += hashlib.sha256(repr((inputs, outputs)).encode()).hexdigest()[:8] + "_"
        text = text.replace(module.prefix, prefix)
    given, results = list(map(tensor_type, inputs)), list(map(tensor_type, outputs))
    lines, values = [], []
    kinds = [*module.inputs, *(kind for kind, _ in module.constants)]
    takes = tuple(kinds)
    if first is not None:
        kind = kinds.pop(0).text
        lines.append(f'%first = "stablehlo.constant"() <{{value = dense<{first}> : {kind}}}> : () -> {kind}')
        values.append("%first")
    for i, (static, wanted) in enumerate(zip(given, kinds, strict=True)):
        values.append(_converted(lines, f"%a{i}", static, wanted.text))
    calls = ", ".join(kind.text for kind in takes), ", ".join(value.text for value in module.outputs)
    target = f"%r:{len(results)} = " if results else ""
    lines.append(
        f'{target}"func.call"({", ".join(values)}) <{{callee = @{prefix}main}}> : ({calls[0]}) -> ({calls[1]})'
    )
    returned = [
        _converted(lines, f"%r#{i}", value.text, static)
        for i, (value, static) in enumerate(zip(module.outputs, results, strict=True))
    ]
    lines.append(f'"func.return"({", ".join(returned)}) : ({", ".join(results)}) -> ()')
    block = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(given))
    symbol = f"{prefix}call"
    body = "\n".join(lines)
    call = (
        f'"func.func"() <{{function_type = ({", ".join(given)}) -> ({", ".join(results)}), sym_name = "{symbol}", '
        f'sym_visibility = "private"}}> ({{\n{f"^bb0({block}):" if block else ""}\n{body}\n}}) : () -> ()'
    )
    return f"{text}\n{call}", symbol


def _converted(lines: list[str], value: str, kind: str, target: str) -> str:
    """``value`` as a ``target``, which says less or more about its shape."""
    if kind == target:
        return value
    name = f"%c{len(lines)}"
    lines.append(f'{name} = "stablehlo.convert"({value}) : ({kind}) -> {target}')
    return name
