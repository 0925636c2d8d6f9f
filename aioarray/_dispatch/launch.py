"""The fast path: a quick program that cannot fail, on ready buffers, is launched in the caller's thread, here and now.

Any thread. A call takes it where its key has a ``FastEntry``, its operands are ready, and the scheduler's ``open`` is
True; everything else goes through ``engine.scheduler.enqueue``.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from .. import _xla
from .._engine import DEAR, LIMIT_SECONDS, TINY, engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._engine import CompiledProgram, Pending, Program
    from .._graph import ArraySpec
    from .._xla import Buffer, ResultHandler

_scheduler = engine.scheduler
is_ready, set_stream = _xla.is_ready, _xla.set_stream


class FastEntry:
    """What a launch on the fast path needs of a program. Immutable."""

    # Slots: read in a third of the time that the fields of a named tuple take.
    __slots__ = ("compiled", "execute", "handlers", "program", "spec")

    def __init__(self, program: Program, compiled: CompiledProgram) -> None:
        self.program = program
        self.compiled = compiled
        self.spec: ArraySpec = program.out_specs[0]
        self.handlers: list[ResultHandler] = compiled.handlers
        tiny = compiled.launch_class.current == TINY
        self.execute: Callable[[Any], Any] = compiled.execute if tiny else _timed(program, compiled)


def _timed(program: Program, compiled: CompiledProgram) -> Callable[[Any], Any]:
    """``compiled.execute``, for a program that may turn out to hold its caller for too long."""
    execute, launch_class = compiled.execute, compiled.launch_class

    def timed(buffers: Any) -> Any:
        start = perf_counter()
        results = execute(buffers)
        seconds = perf_counter() - start
        if seconds > LIMIT_SECONDS:
            _scheduler.launched_slowly(program, seconds)
        if launch_class.current == DEAR:  # or since a launch off the fast path, which began before this one
            engine.programs.leave_fast_path(program)
        return results

    return timed


def fast_entry(program: Program) -> FastEntry | None:
    """The entry of ``program``; None if it is not compiled, is dear, runs long, or can fail while it runs."""
    compiled = program.compiled
    if compiled is None or program.may_fail or compiled.launch_class.current == DEAR or compiled.launch_class.level:
        return None
    return FastEntry(program, compiled)


def launch(entry: FastEntry, buffers: Sequence[Buffer]) -> Buffer | Pending:
    """Launch a program of one result on ready ``buffers``; its result."""
    if _scheduler.flying:
        # In a lane of its own, or it would wait behind what this thread launched before.
        set_stream(_scheduler.next_lane())
    compiled = entry.compiled
    try:
        results = entry.execute(buffers).consume_with_handlers(entry.handlers)
    except _xla.ForeignError as error:
        return _scheduler.fast_path_failed(entry.program, error)[0]
    if compiled.synchronous or compiled.was_over(is_ready(results[0])):
        _scheduler.inline += 1
        if _scheduler.record is not None:
            _scheduler.record((entry.program, perf_counter()))
        return results[0]
    return _scheduler.adopt(entry.program, results)[0]


def launch_all(entry: FastEntry, buffers: Sequence[Buffer]) -> Sequence[Buffer | Pending]:
    """Launch a program of any number of results on ready ``buffers``; its results."""
    if _scheduler.flying:
        set_stream(_scheduler.next_lane())
    compiled = entry.compiled
    try:
        # One that always returns before it is over need not be timed.
        execute = compiled.execute if compiled.asynchronous else entry.execute
        results: list[Buffer] = execute(buffers).consume_with_handlers(entry.handlers)
    except _xla.ForeignError as error:
        return _scheduler.fast_path_failed(entry.program, error)
    if compiled.synchronous or compiled.was_over(all(map(is_ready, results))):
        _scheduler.inline += 1
        if _scheduler.record is not None:
            _scheduler.record((entry.program, perf_counter()))
        return results
    return _scheduler.adopt(entry.program, results)
