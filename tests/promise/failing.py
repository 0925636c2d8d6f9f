"""Computations that fail, injected and real."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aioarray import _xla
from aioarray._array import Array, call
from aioarray._engine import CompiledProgram, Program, engine
from aioarray._engine.cost import DEAR, QUICK, LaunchClass
from aioarray._graph import array_spec
from aioarray._ops import manipulation

from .work import LOST, full

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence


class Injected:
    """Stands in for an executable: its results are errors. With ``hold``, the launch takes until that is set."""

    def __init__(self, specs: Sequence[Any], message: str, hold: threading.Event | None, refuse: bool) -> None:
        self._specs = specs
        self._message = message
        self._hold = hold
        self._refuse = refuse

    def execute(self, arguments: object) -> Injected:
        if self._hold is not None:
            assert self._hold.wait(LOST)
        if self._refuse:
            raise _xla.ForeignError[0](self._message)
        return self

    def consume_with_handlers(self, handlers: object) -> list[Any]:
        return [_xla.error_buffer(spec, spec.device, self._message) for spec in self._specs]


def failing(
    shapes: Sequence[tuple[int, ...]] = ((4,),),
    message: str = "RESOURCE_EXHAUSTED: injected",
    hold: threading.Event | None = None,
    name: str = "poisoned",
    refuse: bool = False,
) -> Program:
    """A program without arguments that fails: at once or, if given, on a worker as soon as ``hold`` is set.

    With ``refuse`` the launch itself raises instead of giving results that are errors. To be run by the test itself,
    whose line the error then names: ``run(failing(), [])``.
    """
    device = engine.device()
    specs = tuple(array_spec(shape, np.dtype(np.float32), device) for shape in shapes)
    injected = Injected(specs, message, hold, refuse)
    program = Program(name, None, device, (), specs, bounded=False, may_fail=True, single=len(specs) == 1)  # type: ignore[arg-type]
    launch_class = LaunchClass(_xla.Cost(0.0, 0.0, 0.0), bounded=False)
    launch_class.current = QUICK if hold is None else DEAR
    program.compiled = CompiledProgram(injected.execute, [], launch_class)
    program.requested = True
    return program


def absurd() -> Array:
    """An Array that does not fit into any memory: a petabyte."""
    return call(manipulation.broadcast_to, (full(()),), (1 << 24, 1 << 24))
