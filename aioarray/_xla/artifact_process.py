"""A program of its own: reads and writes MLIR modules in a process that may die of them.

jaxlib's readers end the process, or never return, on some modules that are damaged or made to do so. So modules from
outside are read here. ``python artifact_process.py`` answers requests on its standard input until that ends. It imports
nothing of aioarray, so that it starts quickly.

A request is a line of JSON with ``do`` and ``size``, and ``size`` bytes; an answer is a line of JSON with ``size``, and
as many bytes. What there is to ask for:

"read"
    The bytes are a module: text, bytecode, or a portable artifact. Gives its functions in generic text, with ``prefix``
    before their names and "main" private, and what there is to know about them.
"write"
    The bytes are a module's text. Gives a portable artifact of StableHLO, some months old, so that others can read it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, BinaryIO

from jaxlib import _jax  # type: ignore[attr-defined]
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

MAGIC = b"ML\xefR"
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


def read(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What "read" gives."""
    module: Any = parse(data)
    answer: dict[str, Any] = survey(module)
    symbols = ir.SymbolTable(module.operation)
    if "main" not in symbols or symbols["main"].operation.name != "func.func":
        raise Unreadable('the module has no function "main"')
    main: Any = symbols["main"]
    if not list(main.regions[0].blocks):
        raise Unreadable('the function "main" has no body')
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
    return answer, "\n".join(pieces).encode()


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
        answer, data = answer_request(request, requests.read(request["size"]))
        answers.write(json.dumps({**answer, "size": len(data)}).encode() + b"\n" + data)
        answers.flush()


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
