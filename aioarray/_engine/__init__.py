"""The engine: compiles programs, launches them, and tells when they have finished. See the module docstrings."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING

from .. import _xla
from .._base import config
from . import instruments
from .compiler import Compiler
from .cost import DEAR, LIMIT_SECONDS, QUICK, TINY
from .drainers import HIGH_WATER
from .failure import Failure, location, log, origin
from .held import is_held
from .host import Callback, Rendezvous
from .launch import CompiledProgram, Launch, Pending, Program
from .loops import current_host, in_event_loop
from .programs import ProgramCache
from .scheduler import Scheduler
from .threads import Threads
from .waiting import pass_ready, wait, wait_drained

if TYPE_CHECKING:
    from .._xla import Device


def _leave_to_the_parent(message: str) -> None:
    """What a forked child does about a copy of a failure: the parent has the failure, and logs it if need be."""


class Engine:
    """The process's one scheduler and one compiler. Creating it starts nothing; ``start`` does, at first use."""

    __slots__ = ("_lock", "_started", "compiler", "programs", "scheduler", "threads")

    def __init__(self) -> None:
        self.threads = Threads()
        self.programs = ProgramCache()
        self.compiler = Compiler(self.threads, self.programs)
        self.scheduler = Scheduler(self.compiler, self.threads)
        self.compiler.report_to(self.scheduler.program_compiled)
        instruments.call_when_changed(self._observe)
        self._lock = threading.Lock()
        self._started = False

    def _observe(self, active: tuple[instruments.Instrument, ...]) -> None:
        """There are these instruments from now on."""
        self.scheduler.set_observe(
            instruments.observe if active else None,
            shown_all=not all(instrument.passive for instrument in active),
            record=instruments.recording(active),
        )

    def device(self) -> Device:
        """The default device; creates the client at the first call."""
        device = _xla.default_device()
        if not self._started:
            self._start()
        return device

    def _start(self) -> None:
        with self._lock:
            if self._started:
                return
            # Threads inside PJRT while the interpreter goes down crash it, so they end first.
            atexit.register(self._close)
            os.register_at_fork(after_in_child=self._after_fork_in_child)
            config.call_when_overridden(self.scheduler.close_fast_path)
            self.threads.open([*self.scheduler.first_threads(), *self.compiler.first_threads()])
            Failure.report = self.threads.log
            _xla.freeing.begin(self.threads.call_soon)
            _xla.host_memory.keep(self.threads.call_soon, self.scheduler.timer.call_at)
            self.scheduler.start(fast_path=not config.overridden())
            self._started = True

    def _close(self) -> None:
        if not _xla.is_forked():
            _xla.begin_end()
            self.compiler.close()
            self.scheduler.close()
            Failure.report = log
            _xla.freeing.end()
            self.threads.join()
            self.scheduler.close()  # a worker may have been about to launch something
            _xla.end()

    def _after_fork_in_child(self) -> None:
        self.scheduler.after_fork_in_child()
        self.compiler.after_fork_in_child()
        self.programs.after_fork_in_child()
        self.threads.after_fork_in_child()
        _xla.freeing.end()
        _xla.host_memory.after_fork_in_child()
        Failure.report = _leave_to_the_parent


# Owned by this module; everything in it is created at first use.
engine = Engine()

__all__ = [
    "DEAR",
    "HIGH_WATER",
    "LIMIT_SECONDS",
    "QUICK",
    "TINY",
    "Callback",
    "CompiledProgram",
    "Compiler",
    "Engine",
    "Failure",
    "Launch",
    "Pending",
    "Program",
    "ProgramCache",
    "Rendezvous",
    "Scheduler",
    "Threads",
    "current_host",
    "engine",
    "in_event_loop",
    "instruments",
    "is_held",
    "location",
    "origin",
    "pass_ready",
    "wait",
    "wait_drained",
]
