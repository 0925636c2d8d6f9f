"""A device that finishes when the test says so.

The scheduler knows a buffer by three methods, so a test can hand it buffers of its own: whether one is ready, and
whether with a value or an error, is then the test's decision, and nothing depends on how long real work takes. As in
PJRT, an error of an argument is an error of the result.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from aioarray import _xla
from aioarray._engine import CompiledProgram, Compiler, Program, ProgramCache, Scheduler, Threads
from aioarray._engine.cost import DEAR, QUICK, LaunchClass
from aioarray._graph import array_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Longer than anything here takes; what is waited for this long is lost.
LOST = 20.0


class FakeBuffer:
    """Device memory whose computation ends when ``finish`` or ``fail`` is called; any thread."""

    def __init__(self, arguments: Sequence[FakeBuffer] = ()) -> None:
        self._over = threading.Event()
        self._error: str | None = None
        self._dependents: list[FakeBuffer] = []
        self.waited = threading.Event()  # somebody blocks, or has blocked
        for argument in arguments:
            argument._dependents.append(self)
            if argument._error is not None:
                self.fail(f"INTERNAL: Error dispatching computation: {argument._error}")

    def is_deleted(self) -> bool:
        return False

    def is_ready(self) -> bool:
        return self._over.is_set()

    def block_until_ready(self) -> None:
        self.waited.set()
        assert self._over.wait(LOST), "a test left a computation unfinished"
        if self._error is not None:
            raise _xla.ForeignError[0](self._error)

    def finish(self) -> FakeBuffer:
        self._over.set()
        return self

    def fail(self, message: str = "INTERNAL: injected") -> FakeBuffer:
        self._error = message
        self._over.set()
        for dependent in self._dependents:
            dependent.fail(f"INTERNAL: Error dispatching computation: {message}")
        return self


class FakeComputation:
    """What PJRT does for one program: records each launch and gives unfinished buffers."""

    def __init__(self, outputs: int = 1, during: Callable[[], object] | None = None) -> None:
        self.outputs = outputs
        self.during = during  # runs inside the launch call
        self.arguments: list[list[Any]] = []
        self.results: list[list[FakeBuffer]] = []  # of each launch, in order
        self._launched = threading.Condition()

    def __call__(self, arguments: Any) -> FakeComputation:
        if self.during is not None:
            self.during()
        with self._launched:
            self.arguments.append(list(arguments))
            self.results.append([FakeBuffer(arguments) for _ in range(self.outputs)])
            self._launched.notify_all()
        return self

    def consume_with_handlers(self, handlers: object) -> list[FakeBuffer]:
        return list(self.results[-1])

    @property
    def launches(self) -> int:
        return len(self.results)

    def wait_for_launches(self, count: int) -> None:
        with self._launched:
            assert self._launched.wait_for(lambda: self.launches >= count, LOST), f"{self.launches} of {count} launches"

    def finish_all(self) -> None:
        for buffers in list(self.results):
            for buffer in buffers:
                buffer.finish()


def spec() -> Any:
    return array_spec((4,), np.dtype("float32"), _xla.default_device())


def program(execute: Any, *, outputs: int = 1, kind: int = QUICK, name: str = "fake", may_fail: bool = True) -> Program:
    """A compiled program that runs ``execute``."""
    result = Program(
        name, None, _xla.default_device(), (), (spec(),) * outputs, bounded=True, may_fail=may_fail, single=outputs == 1
    )
    launch_class = LaunchClass(_xla.Cost(0.0, 0.0, 0.0), bounded=False)
    launch_class.current = kind
    launch_class.needed = 1 << 30  # a dear one stays dear
    result.compiled = CompiledProgram(execute, [], launch_class)
    result.requested = True
    return result


def dear(execute: Any, **options: Any) -> Program:
    """A program for launch workers."""
    return program(execute, kind=DEAR, **options)


@contextlib.contextmanager
def scheduler(window: int = 4) -> Iterator[Scheduler]:
    """A scheduler beside the process's own; at the end everything launched must be finished."""
    threads = Threads()
    compiler = Compiler(threads, ProgramCache())
    made = Scheduler(compiler, threads)
    threads.open([*made.first_threads(), *compiler.first_threads()])
    compiler.report_to(made.program_compiled)
    made.window.limit, made.window.reserve = window, 0
    made.start(fast_path=True)
    try:
        yield made
    finally:
        compiler.close()
        made.close()
        threads.join()
