"""Ahead of time: programs lowered and compiled before they are called, and what they cost."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._engine import Failure, Rendezvous, current_host, engine, in_event_loop, instruments
from .._graph.lower import lower

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from .._engine import Program
    from .._graph import Graph
    from .._xla import Executable


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a program takes, as XLA estimates it.

    ``peak_memory`` is the bytes of arguments, results and temporaries together.
    """

    flops: float
    bytes_accessed: float
    transcendentals: float
    peak_memory: int


class Compilation:
    """Awaits the end of a program's compilation; raises its error."""

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        self._program = program

    def __await__(self) -> Generator[Any, Any, None]:
        self._raise_fault()
        host = current_host()
        rendezvous = Rendezvous(host)
        engine.compiler.submit(self._program)
        if engine.compiler.add_waiter(self._program, rendezvous):
            try:
                yield from host.park(rendezvous.line)
            finally:
                engine.compiler.remove_waiter(self._program, rendezvous)
        self._raise()

    def block(self) -> None:
        """The same, holding the calling thread."""
        self._raise_fault()
        engine.compiler.submit(self._program)
        waiter = _ThreadWaiter()
        if engine.compiler.add_waiter(self._program, waiter):
            waiter.done.wait()
        self._raise()

    def _raise_fault(self) -> None:
        """Raise what a test has put in place of the outcome."""
        fault = instruments.fault_in_compiling(self._program)
        if fault is not None:
            raise Failure(self._program.name, None, fault.status, fault.message, compiling=True).exception()

    def _raise(self) -> None:
        if self._program.failure is not None:
            raise self._program.failure.exception()


class _ThreadWaiter:
    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = threading.Event()

    def wake(self) -> None:
        self.done.set()


class Compiled:
    """A compiled program of a jitted function; made by ``await f.compile(...)``."""

    def __init__(self, name: str, program: Program | None, call: Callable[..., Any]) -> None:
        self._name = name
        self._program = program
        self._call = call

    def __repr__(self) -> str:
        return f"<compiled {self._name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it. ``TypeError`` for arguments of other structure, shapes or dtypes than it was compiled for."""
        return self._call(*args, **kwargs)

    def cost(self) -> Cost:
        """What one run takes."""
        if self._program is None:
            return Cost(0.0, 0.0, 0.0, 0)
        executable = _executable(self._program)
        memory = executable.memory()
        peak = memory.arguments + memory.outputs + memory.temporaries - memory.aliased
        return Cost(*executable.cost, peak)

    def as_text(self) -> str:
        """The program as XLA has optimised it."""
        if self._program is None:
            return ""
        return _executable(self._program).hlo_text()


def _executable(program: Program) -> Executable:
    assert program.compiled is not None
    assert program.compiled.executable is not None
    return program.compiled.executable


class Lowered:
    """A program of a jitted function before it is compiled; made by ``f.lower(...)``."""

    def __init__(self, name: str, graph: Graph, program: Program | None, call: Callable[..., Any]) -> None:
        self.name = name
        self._graph = graph
        self._program = program
        self._call = call

    def __repr__(self) -> str:
        return f"<lowered {self.name}>"

    def as_text(self) -> str:
        """The program in StableHLO."""
        return lower(self._graph, () if self._program is None else self._program.donated)

    def start(self) -> None:
        """Have it compiled, without waiting for that."""
        if self._program is not None:
            engine.compiler.submit(self._program)

    async def compile(self) -> Compiled:
        """Compile it, off the loop; at once if that was done before. Raises ``CompileError``."""
        if self._program is not None:
            await Compilation(self._program)
        return self._compiled()

    def cost(self) -> Cost:
        """What one run takes; compiles the program, and holds the calling thread for it.

        On an event loop that is a ``RuntimeError``, unless it has been compiled: there, ``await lowered.compile()``
        first.
        """
        program = self._program
        if program is not None:
            if program.compiled is None and program.failure is None and in_event_loop():
                raise RuntimeError(
                    f"cost() of {self.name} would hold the event loop while it compiles; use `compiled = await "
                    "lowered.compile()` and `compiled.cost()`"
                )
            Compilation(program).block()
        return self._compiled().cost()

    def _compiled(self) -> Compiled:
        return Compiled(self.name, self._program, self._call)
