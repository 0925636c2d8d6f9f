"""The compile service: turns programs into executables on its own threads, equal ones once.

Any thread submits; compile workers do the rest, holding the GIL only to write the StableHLO text. Executables are shared by
content: programs with the same text, device and options get one, for as long as one of those programs lives.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from .. import _xla
from .._lower import lower
from . import cost
from .cost import LaunchClass
from .failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from .launch import Program
    from .threads import Request, Threads

# Added to the niceness of compile threads, so that a loop's thread is scheduled before them.
NICENESS = 10
_NICEST = 19


class Compiler:
    """The only instance is ``engine.compiler``. Fields are written under ``_lock``, which is held for moments."""

    __slots__ = (
        "_closing",
        "_done",
        "_executables",
        "_idle",
        "_in_progress",
        "_lock",
        "_queue",
        "_threads",
        "_work",
        "_workers",
        "compiles",
        "failures",
        "hits",
    )

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        # Told about each program that has become executable or has failed; set once, before the first submission.
        self._done: Callable[[Program], None] | None = None
        self._executables: WeakValueDictionary[str, _xla.Executable] = WeakValueDictionary()
        self._queue: deque[Program] = deque()
        self._in_progress: dict[str, list[Program]] = {}  # key -> programs that wait for another's compile
        self._closing = False
        self._workers = 0
        self.compiles = 0  # programs that XLA compiled
        self.hits = 0  # programs that found an executable
        self.failures = 0
        self._make_locks()

    def _make_locks(self) -> None:
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._idle = 0

    def report_to(self, done: Callable[[Program], None]) -> None:
        """Have ``done(program)`` called, on a compile worker, for each program that is through."""
        self._done = done

    def first_threads(self) -> list[Request]:
        """The threads to begin with: one worker."""
        self._workers = 1
        return [(self._worker, "aioarray-compile-1")]

    def submit(self, program: Program) -> None:
        """Compile ``program`` when a worker is free. Any thread; does not block."""
        with self._lock:
            self._queue.append(program)
            if self._idle:
                self._idle -= 1
                self._work.notify()
            elif self._workers < (os.cpu_count() or 1) and not self._closing:
                self._workers += 1
                self._threads.start(self._worker, f"aioarray-compile-{self._workers}")

    def after_fork_in_child(self) -> None:
        """The workers are not in the child."""
        self._closing = True
        self._queue.clear()
        self._make_locks()

    def close(self) -> None:
        """Interpreter exit: begin no more compiles, tell the workers to end."""
        with self._lock:
            self._closing = True
            self._queue.clear()
            self._work.notify_all()

    def _worker(self) -> None:
        if sys.platform == "linux":
            thread = threading.get_native_id()
            niceness = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, min(_NICEST, niceness + NICENESS))
        while True:
            with self._lock:
                while not self._queue:
                    if self._closing:
                        return
                    self._idle += 1
                    self._work.wait()  # whoever notifies takes us off the idle ones
                program = self._queue.popleft()
            self._compile(program)
            del program

    def _compile(self, program: Program) -> None:
        assert program.graph is not None
        try:
            text = lower(program.graph, program.donated).encode()
        except Exception as error:  # a broken lowering rule belongs to whoever awaits the result
            self._finish([program], None, Failure(program.name, None, "INTERNAL", repr(error), compiling=True))
            return
        key = content_key(text, program)
        with self._lock:
            executable = self._executables.get(key)
            if executable is not None:
                self.hits += 1
            elif key in self._in_progress:
                self.hits += 1
                self._in_progress[key].append(program)
                return
            else:
                self._in_progress[key] = []
        failure = None
        if executable is None:
            try:
                executable = _xla.compile(text, program.device, options=dict(program.options))
            except Exception as error:  # whatever it is belongs to whoever awaits the result
                failure = Failure(program.name, None, *_xla.translate(error), compiling=True)
            with self._lock:
                same = self._in_progress.pop(key)
                if executable is not None:
                    self.compiles += 1
                    self._executables[key] = executable
        else:
            same = []
        self._finish([program, *same], executable, failure)

    def _finish(
        self, programs: list[Program], executable: _xla.Executable | None, failure: Failure | None
    ) -> None:
        for program in programs:
            program.graph = None
            if executable is None:
                with self._lock:
                    self.failures += 1
                program.failure = failure
            else:
                attach(program, executable)
            assert self._done is not None
            self._done(program)


def attach(program: Program, executable: _xla.Executable) -> None:
    """Make ``program`` executable; ``tiny``, which opens the fast path, comes last."""
    program.handlers = _xla.result_handlers(program.out_specs, program.device)
    program.executable = executable
    program.launch_class = LaunchClass(executable.cost, program.bounded)
    program.execute = executable.execute
    program.tiny = program.launch_class.current == cost.TINY and not program.may_fail


def content_key(text: bytes, program: Program) -> str:
    """What two programs must agree in to share an executable."""
    digest = hashlib.sha256(text)
    context: tuple[Any, ...] = (str(program.device), program.device.kind, sorted(program.options))
    digest.update(repr(context).encode())
    return digest.hexdigest()
