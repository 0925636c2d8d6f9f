"""The program of a call: found by the specs of its operands and its static arguments, or built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import config
from .._engine import Program, engine
from .._graph import ArraySpec, Definition, Graph, Node, input_node, operations
from .launch import fast_entry
from .operands import common_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._xla import Device


class Alias:
    """In place of a program whose result is its argument number ``index``: there is nothing to launch."""

    __slots__ = ("index", "used")

    def __init__(self, index: int) -> None:
        self.index = index
        self.used = True


def find_program(
    definition: Definition[Any], specs: tuple[ArraySpec | None, ...], static: tuple[Any, ...], device: Device | None
) -> Program | Alias:
    """The program of ``definition`` for arguments of these specs (None where one is left out), built if need be.

    Raises whatever the definition raises on shapes, dtypes and static arguments that it does not take.
    """
    key = _key(specs, static)
    if device is not None:
        key = (key, device)  # the same key as without would do, but not for another device
    program: Program | Alias | None = definition.programs.get(key)
    if program is None:
        where = device or common_device(definition.name, [spec for spec in specs if spec is not None])
        program = _build(definition, specs, static, where)
        compiled = None if isinstance(program, Alias) else program
        program = engine.programs.add(program, definition, key, compiled, lambda: _explain(definition, specs, static))
    else:
        program.used = True
    if type(program) is Program and program.single and key not in definition.fast and not config.overridden():
        entry = fast_entry(program)
        if entry is not None:
            definition.fast[key] = entry
    return program


def _key(specs: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
    """What the graph of a program depends on. Calls on the fast path make the same keys."""
    if config.overridden():
        return specs, static, config.current()
    arguments = specs if len(specs) != 1 else specs[0]
    return (arguments, static) if static else arguments


def _build(
    definition: Definition[Any], specs: tuple[ArraySpec | None, ...], static: tuple[Any, ...], device: Device
) -> Program | Alias:
    nodes: list[Node | None] = [None if spec is None else input_node(spec) for spec in specs]
    output = definition(*nodes, *static)
    outputs: tuple[Node, ...] = tuple(output) if isinstance(output, (tuple, list)) else (output,)
    inputs = tuple(node for node in nodes if node is not None)
    single = not isinstance(output, (tuple, list))
    if single and outputs[0] in inputs:
        return Alias(inputs.index(outputs[0]))
    return make_program(definition.name, inputs, outputs, device, single=single)


def make_program(
    name: str,
    inputs: tuple[Node, ...],
    outputs: tuple[Node, ...],
    device: Device,
    *,
    single: bool,
    donated: frozenset[int] = frozenset(),
    options: tuple[tuple[str, Any], ...] = (),
) -> Program:
    """A program, not yet compiled, that gives ``outputs`` from ``inputs``."""
    ops = operations(outputs)
    return Program(
        name,
        Graph(name, inputs, outputs),
        device,
        tuple(node.spec.on(device) for node in inputs),
        tuple(node.spec.on(device) for node in outputs),
        bounded=all(op.bounded for op in ops),
        may_fail=any(op.may_fail for op in ops),
        steady=all(op.steady for op in ops),
        single=single,
        donated=donated,
        options=options,
    )


def _explain(definition: Definition[Any], specs: Sequence[ArraySpec | None], static: tuple[Any, ...]) -> str:
    """What is new about a program, for messages."""
    arguments = ", ".join([str(spec) for spec in specs if spec is not None])
    options = f" and {static}" if static else ""
    number = len(definition.programs)
    return f"for {arguments or 'no arrays'}{options}; it has {number} already" if number else ""
