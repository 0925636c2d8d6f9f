"""From the arguments of a call to what the engine takes: buffers, and the program for them."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from .. import _xla
from .._base import config, dtypes
from .._base.errors import DeletedArrayError
from .._engine import DEAR, LIMIT_SECONDS, QUICK, Pending, Program, engine
from .._graph import ArraySpec, Definition, Graph, Node, array_spec, input_node, operations
from . import copies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.dtypes import DType, Scalar
    from .._xla import Buffer, Device

# A value with its spec: what an Array is to this module.
Operand: TypeAlias = "tuple[ArraySpec, Buffer | Pending]"

T = TypeVar("T")
SCALARS = (bool, int, float, complex)


class ScalarCache(Generic[T]):
    """Operands made of Python numbers lately: putting one on the device takes longer than launching an addition.

    Any thread. Emptied when full: the numbers of a program's source are soon back.
    """

    __slots__ = ("_operands", "get")
    LIMIT = 4096

    def __init__(self) -> None:
        self._operands: dict[Any, T] = {}
        # The operand of a key that `scalar_key` gives, or None.
        self.get: Callable[[Any], T | None] = self._operands.get

    def put(self, key: Any, operand: T) -> T:
        if len(self._operands) >= self.LIMIT:
            self._operands.clear()
        self._operands[key] = operand
        return operand


def scalar_key(spec: ArraySpec, value: Scalar) -> Any:
    """What tells apart operands made of Python numbers beside, or as, an array of ``spec``."""
    kind = type(value)
    # 0.0 and -0.0 are equal, and so are complex numbers that have them as parts.
    return spec, kind, repr(value) if kind is complex or not value else value


class Alias:
    """In place of a program whose result is its argument number ``index``: there is nothing to launch."""

    __slots__ = ("index", "spec", "used")

    tiny = False  # read by the fast path, as a program's

    def __init__(self, index: int, spec: ArraySpec) -> None:
        self.index = index
        self.spec = spec
        self.used = True


# What a Python integer stands for that the dtype of the other operand does not hold: all of it is less, or greater.
_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


def beyond_range(name: str, number: int) -> float | None:
    """A float that gives the operation ``name`` the result it has with ``number``; None if there is none."""
    if name in _COMPARISONS:
        return math.copysign(math.inf, number)
    return float(number) if name == "divide" else None


def checked_scalar(value: Scalar, dtype: DType) -> Scalar:
    """A Python number as one that ``dtype`` holds; ``OverflowError`` for integers that it does not."""
    if dtype not in dtypes.INTEGRAL:
        return value
    number = int(value.real)
    information = np.iinfo(dtype) if dtype.kind in "iu" else dtypes.iinfo(dtype)
    if not information.min <= number <= information.max:
        raise OverflowError(
            f"Python integer {number} is out of bounds for {dtype.name}, which holds "
            f"{information.min}..{information.max}; cast the array to a wider dtype with astype() first"
        )
    return number


def _put_scalar(value: Scalar, spec: ArraySpec) -> Buffer:
    assert spec.device is not None
    return _xla.put_scalar(checked_scalar(value, spec.dtype), spec, spec.device)


def scalar_operand(value: Scalar, dtype: DType, device: Device, weak: bool = True) -> Operand:
    """A Python number as a 0-d operand, which promotes by its kind only if ``weak``."""
    spec = array_spec((), dtype, device, weak)
    return spec, _put_scalar(value, spec)


def host_operand(value: np.ndarray, device: Device, copy: bool = True) -> Operand:
    """A host array as an operand; with ``copy``, later changes of ``value`` are not seen."""
    dtype = dtypes.as_dtype(value.dtype)
    spec = array_spec(value.shape, dtype, device)
    return spec, copies.put(value, spec, device, copy)


def scalar_dtypes(values: Sequence[Scalar], strong: Sequence[DType]) -> list[DType]:
    """What dtypes Python numbers take beside arrays of the dtypes ``strong``."""
    ranks = [dtypes.scalar_rank(value) for value in values]
    if not strong:
        return [dtypes.default_for_rank(rank) for rank in ranks]
    dtype = strong[0]
    for other in strong[1:]:
        dtype = dtypes.promote(dtype, other)
    return [dtypes.weak_dtype(rank, dtype) for rank in ranks]


def common_device(name: str, specs: Sequence[ArraySpec]) -> Device:
    """The device of all of ``specs``; ``ValueError`` where they differ."""
    devices = {spec.device for spec in specs}
    if len(devices) > 1:
        listed = ", ".join(sorted(map(str, devices)))
        raise ValueError(f"{name}: the arrays are on several devices ({listed}); move them with to_device()")
    device = devices.pop() if devices else None
    return device if device is not None else engine.device()


def program_key(specs: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
    """The key of a program: what its graph depends on."""
    if config.overridden():
        return specs, static, config.current()
    arguments = specs if len(specs) != 1 else specs[0]
    return (arguments, static) if static else arguments


def build(
    definition: Definition[Any],
    specs: tuple[ArraySpec | None, ...],
    static: tuple[Any, ...],
    device: Device,
) -> Program | Alias:
    """The program of ``definition`` for arguments of these specs (None where one is left out).

    Raises whatever the definition raises on shapes, dtypes and static arguments that it does not take.
    """
    nodes: list[Node | None] = [None if spec is None else input_node(spec) for spec in specs]
    output = definition(*nodes, *static)
    outputs: tuple[Node, ...] = tuple(output) if isinstance(output, (tuple, list)) else (output,)
    inputs = tuple(node for node in nodes if node is not None)
    single = not isinstance(output, (tuple, list))
    if single and outputs[0] in inputs:
        index = next(i for i, node in enumerate(nodes) if node is outputs[0])
        return Alias(index, outputs[0].spec.on(device))
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


def find_program(
    definition: Definition[Any], specs: tuple[ArraySpec | None, ...], static: tuple[Any, ...], device: Device | None
) -> Program | Alias:
    """The cached program of ``definition``, built if need be."""
    key = program_key(specs, static)
    if device is not None:
        key = (key, device)  # the same key as without would do, but not for another device
    program = definition.programs.get(key)
    if program is None:
        where = device or common_device(definition.name, [spec for spec in specs if spec is not None])
        program = build(definition, specs, static, where)
        compiled = None if isinstance(program, Alias) else program
        program = engine.programs.add(program, definition, key, compiled, lambda: _explain(definition, specs, static))
    else:
        program.used = True
    fast = definition.fast
    if type(program) is Program and program.single and key not in fast and not config.overridden():
        if program.tiny:
            fast[key] = (program.execute, program.handlers, program.out_spec, program)
        elif program.launch_class is not None and program.launch_class.current == QUICK and not program.may_fail:
            fast[key] = (_timed(program), program.handlers, program.out_spec, program)
    return program


def _timed(program: Program) -> Callable[[Any], Any]:
    """``program.execute`` for the fast path of a program that may turn out to hold its caller for too long."""
    execute, launch_class = program.execute, program.launch_class
    assert launch_class is not None

    def timed(buffers: Any) -> Any:
        start = perf_counter()
        results = execute(buffers)
        seconds = perf_counter() - start
        if seconds > LIMIT_SECONDS:
            engine.scheduler.launched_slowly(program, seconds)
        if launch_class.current == DEAR:  # or since a launch off the fast path, which began before this one
            engine.programs.leave_fast_path(program)
        return results

    return timed


def _explain(definition: Definition[Any], specs: Sequence[ArraySpec | None], static: tuple[Any, ...]) -> str:
    """What is new about a program, for messages."""
    arguments = ", ".join([str(spec) for spec in specs if spec is not None])
    options = f" and {static}" if static else ""
    number = len(definition.programs)
    return f"for {arguments or 'no arrays'}{options}; it has {number} already" if number else ""


def deleted_error(what: str) -> DeletedArrayError:
    return DeletedArrayError(
        f"{what}: this Array was deleted (by delete(), or by being donated to a jitted function); keep a copy, or do "
        "not use it afterwards"
    )
