"""The compile service: turns programs into executables on its own threads, equal ones once.

Any thread submits; compile workers do the rest, holding the GIL only to write the StableHLO text. Executables are
shared by content: programs with the same text, device and options get one, for as long as one of those programs
lives. Where there is a cache on disk, an executable that some process has compiled before is loaded from there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from .. import _xla
from .._graph.lower import lower
from . import budget, instruments
from .cost import LaunchClass
from .disk_cache import LIMIT_BYTES, DiskCache
from .failure import Failure
from .launch import CompiledProgram

if TYPE_CHECKING:
    from collections.abc import Callable

    from .launch import Program, Waiter
    from .observer import CompileObserver
    from .programs import ProgramCache
    from .threads import Request, Threads

logger = logging.getLogger("aioarray")

# Added to the niceness of compile threads, so that a loop's thread is scheduled before them.
NICENESS = 10
_NICEST = 19

RECENT = 32
DIRECTORY_VARIABLE = "AIOARRAY_CACHE_DIR"


class Compiler:
    """The only instance is ``engine.compiler``. Fields are written under ``_lock``, which is held for moments."""

    __slots__ = (
        "_closing",
        "_compiling",
        "_disk",
        "_disk_chosen",
        "_done",
        "_executables",
        "_idle",
        "_in_progress",
        "_lock",
        "_observers",
        "_programs",
        "_queue",
        "_recent",
        "_threads",
        "_waiters",
        "_work",
        "_workers",
        "compiles",
        "disk_hits",
        "disk_misses",
        "failures",
        "hits",
    )

    def __init__(self, threads: Threads, programs: ProgramCache) -> None:
        self._threads = threads
        self._programs = programs
        # Told about each program that has become executable or has failed; set once, before the first submission.
        self._done: Callable[[Program], None] | None = None
        self._executables: WeakValueDictionary[str, _xla.Executable] = WeakValueDictionary()
        # Those of programs that are in no cache, or no more, made for a call or two: the next finds them by content.
        self._recent: deque[_xla.Executable] = deque(maxlen=RECENT)
        self._queue: deque[Program] = deque()
        self._compiling: dict[Program, float] = {}  # since when
        self._in_progress: dict[str, list[Program]] = {}  # key -> programs that wait for another's compile
        self._waiters: dict[Program, list[Waiter]] = {}  # to wake when a program is through
        self._observers: dict[Program, CompileObserver] = {}  # of those that were submitted and are not through
        self._disk: DiskCache | None = None
        self._disk_chosen = False  # by the program; otherwise the environment decides at the first compile
        self._closing = False
        self._workers = 0
        self.compiles = 0  # programs that XLA compiled
        self.hits = 0  # programs that found an executable in this process
        self.disk_hits = 0  # programs that found one on disk
        self.disk_misses = 0
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
        """Compile ``program`` when a worker is free, unless that was asked for before. Any thread; does not block."""
        with self._lock:
            if program.requested:
                return
            program.requested = True
            self._observers[program] = instruments.observe_compile(program)
            self._queue.append(program)
            if self._idle:
                self._idle -= 1
                self._work.notify()
            elif self._workers < (os.cpu_count() or 1) and not self._closing:
                self._workers += 1
                self._threads.start(self._worker, f"aioarray-compile-{self._workers}")

    def progress(self, program: Program) -> tuple[list[str], float | None]:
        """The names of what is compiled before ``program``, or for how many seconds it has been. Any thread."""
        with self._lock:
            begun = self._compiling.get(program)
            if begun is not None:
                return [], perf_counter() - begun
            queue = list(self._queue)
            return [other.name for other in queue[: queue.index(program)]] if program in queue else [], None

    def add_waiter(self, program: Program, waiter: Waiter) -> bool:
        """Wake ``waiter`` when ``program`` is executable or has failed; False if it is so already."""
        with self._lock:
            if program.compiled is not None or program.failure is not None:
                return False
            self._waiters.setdefault(program, []).append(waiter)
            return True

    def remove_waiter(self, program: Program, waiter: Waiter) -> None:
        """Forget ``waiter``, if it is still there."""
        with self._lock:
            waiters = self._waiters.get(program, [])
            if waiter in waiters:
                waiters.remove(waiter)

    def leave_fast_path(self, program: Program) -> None:
        """Have the calls of ``program`` come through the scheduler again."""
        self._programs.leave_fast_path(program)

    def forget_recent(self) -> None:
        """Let go of executables that no cached program holds."""
        self._recent.clear()

    def set_directory(self, directory: str | None, limit_bytes: int = LIMIT_BYTES) -> None:
        """Keep executables in ``directory``, or on no disk at all. ``OSError`` where that is not possible."""
        disk = None if directory is None else DiskCache(directory, limit_bytes)
        with self._lock:
            self._disk_chosen = True
            self._disk = disk

    def disk(self) -> DiskCache | None:
        """The cache on disk that is in use."""
        with self._lock:
            if not self._disk_chosen:
                self._disk_chosen = True
                directory = os.environ.get(DIRECTORY_VARIABLE)
                if directory:
                    try:
                        self._disk = DiskCache(directory)
                    except OSError as error:
                        logger.warning("compile cache: %s=%s is not used: %s", DIRECTORY_VARIABLE, directory, error)
            return self._disk

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
        begun = self._compiling[program] = perf_counter()
        self._observers[program].begun(begun)
        try:
            text = lower(program.graph, program.donated).encode()
        except Exception as error:  # a broken lowering rule belongs to whoever awaits the result
            self._finish(
                [program], None, Failure(program.name, None, "INTERNAL", repr(error), compiling=True), 0, "failed"
            )
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
        disk = None
        outcome = "shared"
        same: list[Program] = []
        if executable is None:
            disk = self.disk()
            executable = self._load(disk, key, program)
            if executable is not None:
                disk = None  # nothing to be stored
                outcome = "loaded"
            else:
                executable, failure = self._compile_anew(text, program)
                outcome = "failed" if executable is None else "compiled"
            with self._lock:
                same = self._in_progress.pop(key)
                if executable is not None:
                    self._executables[key] = executable
        self._finish([program, *same], executable, failure, len(text), outcome)
        if disk is not None and executable is not None:
            disk.store(key, executable)

    def _load(self, disk: DiskCache | None, key: str, program: Program) -> _xla.Executable | None:
        if disk is None:
            return None
        executable = disk.load(key, program.device)
        with self._lock:
            if executable is None:
                self.disk_misses += 1
            else:
                self.disk_hits += 1
        return executable

    def _compile_anew(self, text: bytes, program: Program) -> tuple[_xla.Executable | None, Failure | None]:
        if budget.is_frozen() and not program.cached:
            message = "the compile cache is frozen, and no program compiled before is equal to this one"
            return None, Failure(program.name, None, "FAILED_PRECONDITION", message, compiling=True)
        try:
            executable = _xla.compile(text, program.device, options=dict(program.options))
        except Exception as error:  # whatever it is belongs to whoever awaits the result
            return None, Failure(program.name, None, *_xla.translate(error), compiling=True)
        with self._lock:
            self.compiles += 1
        return executable, None

    def _finish(
        self,
        programs: list[Program],
        executable: _xla.Executable | None,
        failure: Failure | None,
        text_length: int,
        outcome: str,
    ) -> None:
        for program in programs:
            program.graph = None
            self._compiling.pop(program, None)
            observer = self._observers.pop(program)
            observer.finish(outcome if program is programs[0] or failure is not None else "shared", failure)
            if executable is None:
                with self._lock:
                    self.failures += 1
                program.failure = failure
            else:
                if not self._programs.compiled(program, executable, text_length):
                    self._recent.append(executable)
                attach(program, executable)
            assert self._done is not None
            self._done(program)
            with self._lock:
                waiters = self._waiters.pop(program, ())
            for waiter in waiters:
                waiter.wake()


def attach(program: Program, executable: _xla.Executable) -> None:
    """Make ``program`` executable."""
    handlers = _xla.result_handlers(program.out_specs, program.device)
    launch_class = LaunchClass(executable.cost, program.bounded, program.steady)
    program.compiled = CompiledProgram(executable.execute, handlers, launch_class, executable)


def content_key(text: bytes, program: Program) -> str:
    """What two programs must agree in to share an executable: everything but the name."""
    digest = hashlib.sha256(text[text.index(b"\n") :])
    context: tuple[Any, ...] = (
        str(program.device),
        program.device.kind,
        _xla.installed_version,
        sorted({**_xla.default_options(text), **dict(program.options)}.items()),
        os.environ.get("XLA_FLAGS"),
    )
    digest.update(repr(context).encode())
    return digest.hexdigest()
