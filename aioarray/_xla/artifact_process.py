"""A program of its own: reads and writes MLIR modules in a process that may die of them.

jaxlib's readers end the process, or never return, on some modules that are damaged or made to do so. So modules from
outside are read here. ``python artifact_process.py`` answers requests on its standard input until that ends. It imports
nothing of aioarray, so that it starts quickly.

A request is a line of JSON with ``do``, ``size`` and ``seconds``, and ``size`` bytes; an answer is a line of JSON
with ``size``, and as many bytes. What there is to ask for:

"read"
    The bytes are a module: text, bytecode, or a portable artifact. Gives its functions in generic text, with ``prefix``
    before their names and "main" private, and what there is to know about them; then the elements of ``constants``
    large constants, which main takes as its last arguments.
"write"
    The bytes are a module's text. Gives a portable artifact of StableHLO, some months old, so that others can read it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
from typing import Any, BinaryIO

import numpy as np
from jaxlib import _jax  # type: ignore[attr-defined]
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

MAGIC = b"ML\xefR"
# After functions are put in place of their calls; a large model has some hundred thousand.
MOST_OPERATIONS = 5_000_000
# Constants of so many bytes become arguments; element types that NumPy has, with their sizes.
LARGE = 1 << 16
HOISTED = {
    "f16": 2,
    "f32": 4,
    "f64": 8,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "ui8": 1,
    "ui16": 2,
    "ui32": 4,
    "ui64": 8,
}
# What main says about its arguments and results is for whoever calls it, which is another now.
KEPT_ARGUMENT_ATTRIBUTES = ("jax.global_constant",)


class Unreadable(Exception):
    """The module is not what it should be."""


def make_context(messages: list[str]) -> ir.Context:
    """A context with the dialects of StableHLO modules, whose diagnostics go to ``messages``."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    context.load_all_available_dialects()

    def keep(diagnostic: Any) -> bool:
        messages.append(str(diagnostic.message)[:500])
        return True

    context.attach_diagnostic_handler(keep)
    return context


def parse(data: bytes) -> Any:
    """The module in ``data``, verified."""
    if data.startswith(MAGIC):
        # After the version, of one to nine bytes, the producer's name, ended by a zero.
        producer = data[5:300].partition(b"\0")[0]
        if b"StableHLO" in producer:
            module = _jax.mlir.deserialize_portable_artifact(data)
        else:
            module = ir.Module.parse(data)
    else:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Unreadable("it is neither text nor MLIR bytecode") from None
        module = ir.Module.parse(text)
    if not module.operation.verify():
        raise Unreadable("the module breaks a rule of MLIR")
    return module


def tensor_type(kind: ir.Type) -> dict[str, Any]:
    """A type by its text and, if it is a tensor, its shape (None for unknown lengths) and element type."""
    if not isinstance(kind, ir.RankedTensorType):
        return {"text": str(kind)}
    shape = [None if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank)]
    return {"text": str(kind), "shape": shape, "element": str(kind.element_type)}


def survey(module: Any) -> dict[str, list[str]]:
    """The names of all operations, and of what custom calls call."""
    operations: set[str] = set()
    targets: set[str] = set()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        operations.add(operation.name)
        if operation.name.endswith("custom_call"):
            attributes = operation.attributes
            target = attributes.get("call_target_name", None)
            targets.add(target.value if isinstance(target, ir.StringAttr) else str(target))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return {"operations": sorted(operations), "custom_calls": sorted(targets)}


class Hoisting:
    """Makes arguments of large constants: main takes them after its own, and functions that it calls are given theirs.

    As text they would take time and memory for each program that is compiled; as arrays they are there once.
    """

    def __init__(self, module: Any) -> None:
        self.constants: list[Any] = []  # attributes
        self._numbers: dict[Any, int] = {}
        self._functions: dict[str, Any] = {
            ir.StringAttr(operation.attributes["sym_name"]).value: operation
            for operation in module.body.operations
            if operation.operation.name == "func.func" and list(operation.regions[0].blocks)
        }
        self._calls: dict[str, list[Any]] = {}
        self._uses: dict[str, list[str]] = {}  # functions that one refers to, as often as it does
        self._sizes: dict[str, int] = {}
        self._fixed = self._find_fixed(module)
        self._check_expansion()
        self._done: dict[str, list[int]] = {}

    def _find_fixed(self, module: Any) -> set[str]:
        """Functions that must keep their arguments: those not only called from the body of one that does not."""
        fixed: set[str] = set()
        callers: dict[str, set[str]] = {}
        for name, function in self._functions.items():
            calls = self._calls[name] = []
            self._uses[name], self._sizes[name] = [], 0
            body = function.regions[0].blocks[0]

            def visit(operation: Any, name: str = name, body: Any = body, calls: list[Any] = calls) -> Any:
                self._sizes[name] += 1
                for symbol in _symbols(operation):
                    self._uses[name].append(symbol)
                    if operation.name == "func.call" and operation.block == body:
                        callers.setdefault(symbol, set()).add(name)
                    else:
                        fixed.add(symbol)
                if operation.name == "func.call" and operation.block == body:
                    calls.append(operation)
                return ir.WalkResult.ADVANCE

            function.operation.walk(visit)
        before = -1
        while before != len(fixed):
            before = len(fixed)
            fixed |= {name for name in self._functions if name != "main" and not callers.get(name)}
            fixed |= {name for name, sources in callers.items() if sources & fixed}
        return fixed

    def _check_expansion(self) -> None:
        """Raise where XLA, which puts functions in place of their calls, would not end, or have no memory left."""
        expanded: dict[str, int] = {}
        remaining = {name: [use for use in uses if use in self._functions] for name, uses in self._uses.items()}
        while remaining:
            free = [name for name, uses in remaining.items() if expanded.keys() >= set(uses)]
            if not free:
                raise Unreadable(f"functions call themselves: {', '.join(sorted(remaining)[:5])}")
            for name in free:
                expanded[name] = self._sizes[name] + sum(expanded[use] for use in remaining.pop(name))
        largest = max(expanded.values(), default=0)
        if largest > MOST_OPERATIONS:
            raise Unreadable(f"{largest} operations, with those of all functions where they are called, are too many")

    def function(self, name: str) -> list[int]:
        """Hoist out of a function and those it calls; gives the numbers of the constants that it now takes."""
        if name in self._done:
            return self._done[name]
        if name in self._fixed or name not in self._functions:
            return []
        function = self._functions[name]
        body = function.regions[0].blocks[0]
        given: dict[int, Any] = {}

        def argument(number: int) -> Any:
            if number not in given:
                given[number] = body.add_argument(self.constants[number].type, ir.Location.unknown())
            return given[number]

        for operation in list(body.operations):
            if operation.operation.name == "stablehlo.constant" and self._is_large(operation, body):
                operation.results[0].replace_all_uses_with(argument(self._number(operation.attributes["value"])))
                operation.operation.erase()
        for call in self._calls[name]:
            more = self.function(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
            if more:
                with ir.InsertionPoint(call):
                    new = ir.Operation.create(
                        "func.call",
                        results=[result.type for result in call.results],
                        operands=[*call.operands, *map(argument, more)],
                        attributes={"callee": call.attributes["callee"]},
                    )
                for old, result in zip(call.results, new.results, strict=True):
                    old.replace_all_uses_with(result)
                call.erase()
        self._extend(function, [self.constants[number].type for number in given])
        self._done[name] = list(given)
        return self._done[name]

    def _is_large(self, operation: Any, body: Any) -> bool:
        kind = operation.results[0].type
        if not isinstance(kind, ir.RankedTensorType) or str(kind.element_type) not in HOISTED:
            return False
        if math.prod(kind.shape) * HOISTED[str(kind.element_type)] < LARGE:
            return False
        if ir.DenseElementsAttr(operation.attributes["value"]).is_splat:
            return False
        return all(use.owner.operation.block == body for use in operation.results[0].uses)

    def _number(self, value: Any) -> int:
        if value not in self._numbers:
            self._numbers[value] = len(self.constants)
            self.constants.append(value)
        return self._numbers[value]

    def _extend(self, function: Any, kinds: list[Any]) -> None:
        signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        new = ir.FunctionType.get([*signature.inputs, *kinds], signature.results)
        function.attributes["function_type"] = ir.TypeAttr.get(new)
        if "arg_attrs" in function.attributes:
            attributes: Any = ir.ArrayAttr(function.attributes["arg_attrs"])
            function.attributes["arg_attrs"] = ir.ArrayAttr.get([*attributes, *[ir.DictAttr.get({})] * len(kinds)])


def _symbols(operation: Any) -> list[str]:
    """The symbols that an operation refers to."""
    found: list[str] = []
    if operation.name == "stablehlo.constant":
        return found  # to look at a constant of complex numbers ends the process
    attributes = operation.attributes
    waiting: list[Any] = [attributes[i].attr for i in range(len(attributes))]
    while waiting:
        attribute = waiting.pop()
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            found.append(attribute.value)
        elif isinstance(attribute, ir.ArrayAttr):
            waiting.extend(attribute)
        elif isinstance(attribute, ir.DictAttr):
            waiting.extend(attribute[i].attr for i in range(len(attribute)))
    return found


def constant_bytes(value: Any) -> bytes:
    """The elements of a constant, row by row."""
    return bytes(np.ascontiguousarray(np.asarray(ir.DenseElementsAttr(value))).data.cast("B"))


def read(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What "read" gives."""
    module: Any = parse(data)
    answer: dict[str, Any] = survey(module)
    symbols = ir.SymbolTable(module.operation)
    if "main" not in symbols or symbols["main"].operation.name != "func.func":
        raise Unreadable('the module has no function "main"')
    main: Any = symbols["main"]
    for operation in module.body.operations:
        # XLA calls what is only declared, and the process ends.
        if operation.operation.name == "func.func" and not list(operation.regions[0].blocks):
            raise Unreadable(f"the function {operation.attributes['sym_name']} has no body")
    hoisting = Hoisting(module)
    constants = [hoisting.constants[number] for number in hoisting.function("main")]
    answer["constants"] = len(constants)
    signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    answer["inputs"] = [tensor_type(kind) for kind in signature.inputs]
    answer["outputs"] = [tensor_type(kind) for kind in signature.results]
    main.attributes["sym_visibility"] = ir.StringAttr.get("private")
    if "arg_attrs" in main.attributes:
        attributes: Any = ir.ArrayAttr(main.attributes["arg_attrs"])
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [
                ir.DictAttr.get({a.name: a.attr for a in each if a.name in KEPT_ARGUMENT_ATTRIBUTES})
                for each in attributes
            ]
        )
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]
    names = [
        ir.StringAttr(operation.attributes["sym_name"]).value
        for operation in module.body.operations
        if "sym_name" in operation.attributes
    ]
    for name in names:
        new = request["prefix"] + name
        ir.SymbolTable.replace_all_symbol_uses(name, new, module.operation)
        ir.SymbolTable.set_symbol_name(symbols[name], new)
    pieces = [
        operation.operation.get_asm(print_generic_op_form=True, use_local_scope=True)
        for operation in module.body.operations
    ]
    text = "\n".join(pieces).encode()
    answer["text"] = len(text)
    return answer, b"".join([text, *map(constant_bytes, constants)])


def write(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What "write" gives."""
    module = ir.Module.parse(data.decode())
    age = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = stablehlo.get_version_from_compatibility_requirement(age)
    return {"version": version}, bytes(_jax.mlir.serialize_portable_artifact(module, version, False))


def answer_request(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What a request gives: {"error": …} if it cannot be done."""
    messages: list[str] = []
    try:
        with make_context(messages), ir.Location.unknown():
            return (read if request["do"] == "read" else write)(request, data)
    except Exception as error:  # whatever it is, it is the answer
        texts = [*messages, str(error)]
        return {"error": "; ".join(text for text in texts if text)[:2000] or type(error).__name__}, b""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more requests."""
    while line := requests.readline():
        request = json.loads(line)
        content = requests.read(request["size"])
        # The system ends this process if it takes longer, whatever it is doing, and whether or not anybody waits.
        limit_time(request["seconds"])
        answer, data = answer_request(request, content)
        limit_time(0)
        answers.write(json.dumps({**answer, "size": len(data)}).encode() + b"\n" + data)
        answers.flush()


def limit_time(seconds: float) -> None:
    """End this process in so many seconds, where the system knows how; 0 takes it back."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def limit_memory(limit: int) -> None:
    """Have allocations of more than ``limit`` bytes fail, where the system knows how."""
    if resource is not None:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    limit_memory(int(sys.argv[1]))
    # The libraries write to standard output and error as they like.
    with open(os.dup(1), "wb") as answers:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        serve(sys.stdin.buffer, answers)
