"""Programs that are Python functions of host arrays, launched like any other.

For what would take XLA a program of its own for each shape: the function is run by whoever launches, when its inputs
are finished, and there is nothing to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _xla
from .cost import LaunchClass
from .launch import CompiledProgram, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from .._graph import ArraySpec
    from .._xla import Buffer


class _Execution:
    """Has the two methods by which programs are run."""

    __slots__ = ("_function", "_in_specs", "_out_spec")

    def __init__(
        self, function: Callable[..., np.ndarray[Any, Any]], in_specs: tuple[ArraySpec, ...], out_spec: ArraySpec
    ) -> None:
        self._function = function
        self._in_specs = in_specs
        self._out_spec = out_spec

    def __call__(self, arguments: Sequence[Buffer]) -> _Results:
        spec = self._out_spec
        assert spec.device is not None
        views = [_xla.to_numpy(buffer, given) for buffer, given in zip(arguments, self._in_specs, strict=True)]
        result = self._function(*views)
        return _Results(_xla.put(result, spec, spec.device, copy=not _xla.can_alias(result)))


class _Results:
    __slots__ = ("_buffer",)

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer

    def consume_with_handlers(self, handlers: Sequence[object]) -> list[Buffer]:
        return [self._buffer]


def host_program(
    name: str,
    function: Callable[..., np.ndarray[Any, Any]],
    in_specs: tuple[ArraySpec, ...],
    out_spec: ArraySpec,
) -> Program:
    """A program that gives ``function(*views)``, an array nobody else has, of ``out_spec``; the views are read-only."""
    assert out_spec.device is not None
    program = Program(
        name,
        None,
        out_spec.device,
        in_specs,
        (out_spec,),
        bounded=True,
        may_fail=False,
        # Not that it would take them over, but it can only begin when they are finished.
        donated=frozenset(range(len(in_specs))),
    )
    moved = float(sum(spec.nbytes for spec in (*in_specs, out_spec)))
    launch_class = LaunchClass(_xla.Cost(0.0, moved, 0.0), bounded=True)
    program.compiled = CompiledProgram(_Execution(function, in_specs, out_spec), [], launch_class)
    program.requested = True
    return program
