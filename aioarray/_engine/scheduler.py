"""The scheduler: decides where and when each launch is made, and notices when it has finished.

Who runs here. *Callers* are threads that enqueue, among them event loops: they hold the lock for a few microseconds and
launch only what is quick. *Launch workers* make the launches that may run inside the dispatch call. *Watchers* block in
PJRT until a launch is ready. Compile workers (``compiler``) report programs that became executable.

One re-entrant lock guards all state; nobody computes, compiles, waits or runs callbacks while holding it. It is re-entrant
because destructors (``Launch.__del__``) take it, and they may run anywhere.

``Scheduler.open`` alone is read without the lock, by the fast path in ``_call``: as long as it is True, a tiny program
whose inputs are ready may be launched right there.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from .. import _xla
from . import cost
from .failure import Failure, origin
from .launch import FINISHED, LAUNCHED, LAUNCHING, QUEUED, Launch, Pending, Program, Waiter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from weakref import ReferenceType

    from .._xla import Buffer
    from .compiler import Compiler
    from .threads import Request, Threads

# Unfinished launches inside PJRT; its own limit, where dispatch begins to block, is 32.
WINDOW: Final = 16
# More launch workers only take the cores from the loop: see DESIGN, "Dispatch".
LAUNCH_WORKERS: Final = 2
# `drain()` returns below this many unfinished launches.
HIGH_WATER: Final = 256


class ThreadWaiter:
    """Lets a thread block until a launch has finished."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def wake(self) -> None:
        self._lock.release()

    def wait(self) -> None:
        self._lock.acquire()


class Scheduler:
    """The state of one process's device work; the only instance is ``engine.scheduler``."""

    __slots__ = (
        "_cheap",
        "_closing",
        "_compiler",
        "_dear",
        "_drainers",
        "_fast_path",
        "_flying",
        "_idle_watchers",
        "_idle_workers",
        "_lanes",
        "_lock",
        "_threads",
        "_to_watch",
        "_traces",
        "_watchers",
        "_work",
        "_workers",
        "dropped",
        "enqueued",
        "failed",
        "finished",
        "in_flight",
        "inline",
        "launched",
        "most_in_flight",
        "open",
        "window",
    )

    def __init__(self, compiler: Compiler, threads: Threads) -> None:
        self._compiler = compiler
        self._threads = threads
        self.window = WINDOW
        # Read by the fast path without the lock; False while the window is full, and for good after the end.
        self.open = False
        # Launches that were over when the fast path returned; `+=` on an int attribute has no point where CPython
        # would let another thread in, so it needs no lock.
        self.inline = 0
        self.enqueued = self.launched = self.finished = self.failed = self.dropped = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self._closing = False
        self._fast_path = False
        self._traces = 0  # functions that are being traced, on any thread: what they call must not be launched
        self._lanes = itertools.count(1)
        self._flying: dict[Launch, Buffer] = {}  # launched, unfinished, oldest first; a buffer to wait on
        self._cheap: deque[ReferenceType[Launch]] = deque()  # could be launched, any thread will do
        self._dear: deque[ReferenceType[Launch]] = deque()  # could be launched, on a worker
        self._drainers: dict[Waiter, int] = {}  # who waits for fewer unfinished launches than that
        self._make_locks()

    def _make_locks(self) -> None:
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._workers = self._idle_workers = 0
        self._watchers = self._idle_watchers = 0
        self._to_watch: SimpleQueue[Launch | None] = SimpleQueue()

    # Beginning and end

    def start(self, fast_path: bool) -> None:
        """Accept work; the client exists."""
        with self._lock:
            self._fast_path = fast_path
            self._open_if_possible()

    def first_threads(self) -> list[Request]:
        """The threads to begin with: one launch worker, one watcher."""
        self._workers = self._watchers = 1
        return [(self._launch_worker, "aioarray-launch-1"), (self._idle_watcher, "aioarray-watch-1")]

    def close_fast_path(self) -> None:
        """From now on every launch comes through ``enqueue``. Any thread."""
        with self._lock:
            self._fast_path = self.open = False

    def begin_trace(self) -> None:
        """Keep callers off the fast path, which does not look whether they are being traced."""
        with self._lock:
            self._traces += 1
            self.open = False

    def end_trace(self) -> None:
        """The end of what ``begin_trace`` began."""
        with self._lock:
            self._traces -= 1
            self._open_if_possible()

    def _open_if_possible(self) -> None:
        self.open = self._fast_path and not self._traces and not self._closing and self.in_flight < self.window

    def after_fork_in_child(self) -> None:
        """The threads are gone and the locks may be held by them: nothing is launched any more."""
        self._closing = True
        self.open = False
        self._cheap.clear()
        self._dear.clear()
        self._drainers.clear()
        self._make_locks()

    def close(self) -> None:
        """Interpreter exit: launch nothing more, wait for what PJRT is doing, tell the threads to end."""
        with self._lock:
            self._closing = True
            self.open = False
            self._cheap.clear()
            self._dear.clear()
            self._work.notify_all()
            flying = list(self._flying.items())
        for launch, buffer in flying:
            self._await_buffer(launch, buffer)
        for _ in range(self._watchers):
            self._to_watch.put(None)

    # Enqueueing: callers

    def enqueue(self, program: Program, arguments: list[Buffer | Pending]) -> list[Buffer | Pending]:
        """Launch now or later; give a ready buffer or a ``Pending`` for each result. Never blocks."""
        self.check_usable()
        woken: list[Waiter] = []
        with self._lock:
            self.enqueued += 1
            sources: list[Pending] = []
            missing: list[Pending] = []
            for index, argument in enumerate(arguments):
                if type(argument) is not Pending:
                    continue
                if argument.failure is not None:
                    return self._born_failed(program, argument.failure)
                if argument.launch is not None:
                    sources.append(argument)
                if argument.buffer is None:
                    missing.append(argument)
                else:
                    arguments[index] = argument.buffer
            if program.failure is not None:
                return self._born_failed(program, program.failure)
            if self.in_flight >= self.window and not self._cheap and not self._dear:
                self._sweep(woken)
            launch_class = program.launch_class
            if missing or launch_class is None or launch_class.current == cost.DEAR or self.in_flight >= self.window:
                results = self._queue(program, arguments, sources, missing)
            else:
                self._occupy()
                results = []
        self._wake(woken)
        return results or self._launch_here(program, arguments, sources)

    def check_usable(self) -> None:
        """Raise where nothing can be launched: a forked child, an interpreter that is ending."""
        _xla.get_client()
        if self._closing:
            raise RuntimeError("aioarray cannot start new work: the interpreter is shutting down")

    def _born_failed(self, program: Program, failure: Failure) -> list[Buffer | Pending]:
        self.failed += 1
        results: list[Buffer | Pending] = []
        for _ in program.out_specs:
            pending = Pending(None)
            pending.failure = failure
            results.append(pending)
        return results

    def _queue(
        self,
        program: Program,
        arguments: list[Buffer | Pending],
        sources: list[Pending],
        missing: list[Pending],
    ) -> list[Buffer | Pending]:
        launch = Launch(self, program, arguments, sources, origin(), QUEUED)
        pendings = self._outputs(launch)
        reference = weakref.ref(launch)
        for argument in missing:
            if argument.dependents is None:
                argument.dependents = []
            argument.dependents.append(reference)
        launch.missing = len(missing)
        if program.execute is None:
            launch.missing += 1
            program.waiting.append(reference)
            if not program.requested:
                program.requested = True
                self._compiler.submit(program)
        if launch.missing == 0:
            self._runnable(launch)
        return list(pendings)

    def _outputs(self, launch: Launch) -> list[Pending]:
        pendings = [Pending(launch) for _ in launch.program.out_specs]
        launch.outputs = [weakref.ref(pending) for pending in pendings]
        return pendings

    def _launch_here(
        self, program: Program, arguments: list[Buffer | Pending], sources: list[Pending]
    ) -> list[Buffer | Pending]:
        """Launch on the caller's thread, where a place in the window has been taken."""
        assert program.launch_class is not None
        # A lane of its own, or it would wait behind whatever this thread launched before.
        _xla.set_stream(next(self._lanes))
        failure = None
        buffers: list[Buffer] = []
        woken: list[Waiter] = []
        start = time.perf_counter()
        try:
            buffers = program.execute(arguments).consume_with_handlers(program.handlers)
        except Exception as error:  # whatever it is belongs to whoever awaits the result
            failure = Failure(program.name, origin(), *_xla.translate(error))
        seconds = time.perf_counter() - start
        ready = failure is not None or not buffers or _xla.is_ready(buffers[0])
        with self._lock:
            self.launched += 1
            program.launch_class.launched_inline(seconds)
            program.tiny = program.launch_class.current == cost.TINY and not program.may_fail
            if ready and failure is None and not sources and not program.may_fail:
                self.finished += 1
                self._vacate(woken)
                results: list[Buffer | Pending] = buffers
            else:
                results = self._take_in(program, sources, buffers, ready, failure, woken)
        self._wake(woken)
        return results

    def _take_in(
        self,
        program: Program,
        sources: list[Pending],
        buffers: list[Buffer],
        ready: bool,
        failure: Failure | None,
        woken: list[Waiter],
    ) -> list[Buffer | Pending]:
        """Begin to follow a launch that the caller's thread has made. Under the lock."""
        launch = Launch(self, program, [], sources, origin(), LAUNCHED)
        pendings = self._outputs(launch)
        for pending, buffer in zip(pendings, buffers, strict=False):
            pending.buffer = buffer
        if ready:
            self._finish(launch, buffers[0] if buffers else None, failure, woken)
        else:
            self._flying[launch] = buffers[0]
            if self._cheap or self._dear or self._drainers:
                self._watch(launch)  # somebody waits for a place, or for the count to fall
        return list(pendings)

    def adopt(self, program: Program, buffers: list[Buffer]) -> list[Buffer | Pending]:
        """Follow a launch that the fast path made and that is not over yet; its inputs were ready."""
        with self._lock:
            self.enqueued += 1
            self.launched += 1
            self._occupy()
            return self._take_in(program, [], buffers, False, None, [])

    def fast_path_failed(self, program: Program, error: BaseException) -> list[Buffer | Pending]:
        """The results of a fast-path launch that PJRT refused."""
        failure = Failure(program.name, origin(), *_xla.translate(error))
        with self._lock:
            self.enqueued += 1
            return self._born_failed(program, failure)

    def next_lane(self) -> int:
        """A stream id of its own for a launch; any thread."""
        return next(self._lanes)

    # The window: under the lock

    def _occupy(self) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if self.in_flight >= self.window:
            self.open = False

    def _vacate(self, woken: list[Waiter]) -> None:
        self.in_flight -= 1
        if not self.open:
            self._open_if_possible()
        if self._cheap or self._dear:
            self._call_worker()
        if self._drainers:
            self._check_drainers(woken)

    def _check_drainers(self, woken: list[Waiter]) -> None:
        unfinished = self.unfinished()
        done = [waiter for waiter, limit in self._drainers.items() if unfinished < limit]
        for waiter in done:
            del self._drainers[waiter]
        woken.extend(done)

    def unfinished(self) -> int:
        """Launches that are enqueued and neither finished, failed nor dropped."""
        return self.enqueued - self.finished - self.failed - self.dropped

    # From queued to launched: under the lock

    def _runnable(self, launch: Launch) -> None:
        """Everything that ``launch`` waited for is there."""
        launch_class = launch.program.launch_class
        assert launch_class is not None
        if launch_class.current == cost.DEAR:
            self._dear.append(weakref.ref(launch))
        else:
            self._cheap.append(weakref.ref(launch))
        if self.in_flight < self.window:
            self._call_worker()
        else:
            for flying in self._flying:
                self._watch(flying)

    def _call_worker(self) -> None:
        if self._idle_workers:
            self._idle_workers -= 1
            self._work.notify()
        elif self._workers < LAUNCH_WORKERS and not self._closing:
            self._workers += 1
            self._threads.start(self._launch_worker, f"aioarray-launch-{self._workers}")

    def _take(self, dear: bool) -> Launch | None:
        """The next launch that may be made, off the queue and with a place in the window."""
        if self.in_flight >= self.window or self._closing:
            return None
        queues = (self._cheap, self._dear) if dear else (self._cheap,)
        for queue in queues:
            while queue:
                launch = queue.popleft()()
                if launch is not None and launch.state == QUEUED:
                    launch.state = LAUNCHING
                    self._occupy()
                    return launch
        return None

    def program_compiled(self, program: Program) -> None:
        """Called by a compile worker: ``program`` has an executable, or a failure."""
        woken: list[Waiter] = []
        with self._lock:
            waiting, program.waiting = program.waiting, []
            for reference in waiting:
                launch = reference()
                if launch is None or launch.state != QUEUED:
                    continue
                if program.failure is not None:
                    self._fail_queued(launch, program.failure, woken)
                    continue
                launch.missing -= 1
                if launch.missing == 0:
                    self._runnable(launch)
        self._wake(woken)

    # Launching: workers, and watchers between two waits

    def _launch_worker(self) -> None:
        launch: Launch | None
        while True:
            with self._lock:
                while (launch := self._take(dear=True)) is None:
                    if self._closing:
                        return
                    self._idle_workers += 1
                    self._work.wait()  # whoever notifies takes us off the idle ones
            self._launch(launch)
            launch = None  # not held while waiting for the next

    def _launch(self, launch: Launch) -> None:
        """Give ``launch`` to PJRT; the place in the window has been taken."""
        program = launch.program
        buffers: list[Buffer] = []
        failure = None
        arguments = [a.buffer if type(a) is Pending else a for a in launch.arguments]
        inputs_ready = all(_xla.is_ready(buffer) for buffer in arguments)
        _xla.set_stream(next(self._lanes))
        start = time.perf_counter()
        try:
            buffers = program.execute(arguments).consume_with_handlers(program.handlers)
        except Exception as error:  # as above
            failure = Failure(program.name, launch.origin, *_xla.translate(error))
        seconds = time.perf_counter() - start
        del arguments
        woken: list[Waiter] = []
        with self._lock:
            self.launched += 1
            launch.arguments = []
            launch.state = LAUNCHED
            if inputs_ready:
                assert program.launch_class is not None
                program.launch_class.launched_on_worker(seconds)
            for reference, buffer in zip(launch.outputs, buffers, strict=False):
                pending = reference()
                if pending is not None:
                    pending.buffer = buffer
                    self._release_dependents(pending)
            if failure is not None or not buffers or _xla.is_ready(buffers[0]):
                self._finish(launch, buffers[0] if buffers else None, failure, woken)
            else:
                self._flying[launch] = buffers[0]
                if launch.waiters or self._cheap or self._dear or self._drainers:
                    self._watch(launch)
        del buffers
        self._wake(woken)

    def _release_dependents(self, pending: Pending) -> None:
        dependents, pending.dependents = pending.dependents, None
        for reference in dependents or ():
            dependent = reference()
            if dependent is not None and dependent.state == QUEUED:
                dependent.missing -= 1
                if dependent.missing == 0:
                    self._runnable(dependent)

    # From launched to finished

    def _watch(self, launch: Launch) -> None:
        """Have a watcher wait for ``launch``, if none does. Under the lock."""
        if launch.watched or launch.state != LAUNCHED:
            return
        launch.watched = True
        self._to_watch.put(launch)
        if self._idle_watchers:
            self._idle_watchers -= 1
        elif self._watchers < self.window and not self._closing:
            self._watchers += 1
            self._threads.start(self._watcher, f"aioarray-watch-{self._watchers}")

    def _idle_watcher(self) -> None:
        with self._lock:
            self._idle_watchers += 1
        self._watcher()

    def _watcher(self) -> None:
        while True:
            launch = self._to_watch.get()
            if launch is None:
                return
            buffer = self._flying.get(launch)
            if buffer is not None:
                self._await_buffer(launch, buffer)
            del launch, buffer
            while True:
                with self._lock:
                    next_launch = self._take(dear=False)
                    if self._dear and self.in_flight < self.window:
                        self._call_worker()
                if next_launch is None:
                    break
                self._launch(next_launch)
                del next_launch
            with self._lock:
                self._idle_watchers += 1

    def _await_buffer(self, launch: Launch, buffer: Buffer) -> None:
        try:
            _xla.wait(buffer)
        except _xla.ForeignError:
            pass  # _finish, which _land comes to, asks again and keeps the error
        self.land(launch)

    def land(self, launch: Launch) -> None:
        """``launch`` is ready: note that, and what else has become ready meanwhile. Any thread."""
        woken: list[Waiter] = []
        with self._lock:
            self._sweep(woken)
            if self._cheap or self._dear:
                for flying in self._flying:
                    self._watch(flying)
                for _ in range(min(len(self._cheap) + len(self._dear), self.window - self.in_flight)):
                    self._call_worker()
        self._wake(woken)

    def _sweep(self, woken: list[Waiter]) -> None:
        ready = [launch for launch, buffer in self._flying.items() if _xla.is_ready(buffer)]
        for launch in ready:
            if launch.state != FINISHED:
                self._finish(launch, self._flying[launch], None, woken)

    def _finish(self, launch: Launch, buffer: Buffer | None, failure: Failure | None, woken: list[Waiter]) -> None:
        """``launch`` is over: it has a ready ``buffer``, or ``failure``. Under the lock."""
        if failure is None and buffer is not None:
            try:
                _xla.wait(buffer)  # ready, so this only says whether it is an error
            except _xla.ForeignError as error:
                failure = self._inherited(launch, woken) or Failure(
                    launch.program.name, launch.origin, *_xla.translate(error)
                )
        launch.state = FINISHED
        self._flying.pop(launch, None)
        launch.sources = []
        if failure is None:
            self.finished += 1
        else:
            self.failed += 1
        for reference in launch.outputs:
            pending = reference()
            if pending is None:
                continue
            if failure is not None:
                pending.failure = failure  # the buffer stays: a launch that was released by it may be about to read it
                self._fail_dependents(pending, failure, woken)
            pending.launch = None
        woken.extend(launch.waiters.values())
        launch.waiters = {}
        self._vacate(woken)

    def _inherited(self, launch: Launch, woken: list[Waiter]) -> Failure | None:
        """The failure of the input that made ``launch`` fail, if it was one of its inputs."""
        for source in launch.sources:
            if source.failure is None and source.launch is not None and source.buffer is not None:
                # Ready before us, or we would not be; only not noticed yet.
                self._finish(source.launch, source.buffer, None, woken)
            if source.failure is not None:
                return source.failure
        return None

    def _fail_dependents(self, pending: Pending, failure: Failure, woken: list[Waiter]) -> None:
        """Fail what waits for ``pending``, and what waits for that; a loop, since chains may be long."""
        stack = [pending]
        while stack:
            current = stack.pop()
            references, current.dependents = current.dependents, None
            for reference in references or ():
                dependent = reference()
                if dependent is not None and dependent.state == QUEUED:
                    stack.extend(self._fail_one(dependent, failure, woken))

    def _fail_queued(self, launch: Launch, failure: Failure, woken: list[Waiter]) -> None:
        for pending in self._fail_one(launch, failure, woken):
            self._fail_dependents(pending, failure, woken)

    def _fail_one(self, launch: Launch, failure: Failure, woken: list[Waiter]) -> list[Pending]:
        """Fail a launch that was never made; give its results, whose dependents must fail too."""
        launch.state = FINISHED
        launch.arguments = []
        launch.sources = []
        self.failed += 1
        pendings = [pending for reference in launch.outputs if (pending := reference()) is not None]
        for pending in pendings:
            pending.failure = failure
            pending.launch = None
        woken.extend(launch.waiters.values())
        launch.waiters = {}
        if self._drainers:
            self._check_drainers(woken)
        return pendings

    def launch_dropped(self) -> None:
        """A queued launch has died, since nobody can see its results. Any thread, any moment."""
        woken: list[Waiter] = []
        with self._lock:
            self.dropped += 1
            if self._drainers:
                self._check_drainers(woken)
        self._wake(woken)

    def _wake(self, woken: Sequence[Waiter]) -> None:
        for waiter in woken:
            waiter.wake()

    # Waiting

    def add_waiter(self, launch: Launch, key: object, waiter: Waiter) -> Waiter | None:
        """Register ``waiter`` under ``key``, or give the one that is there; None if ``launch`` has finished."""
        _xla.get_client()  # raises in a forked child, where nothing ever finishes
        with self._lock:
            if launch.state == FINISHED:
                return None
            existing = launch.waiters.setdefault(key, waiter)
            self._watch(launch)
            return existing

    def remove_waiter(self, launch: Launch, key: object) -> None:
        """Forget the waiter under ``key``, if it is still there."""
        with self._lock:
            launch.waiters.pop(key, None)

    def add_drainer(self, waiter: Waiter, limit: int) -> bool:
        """Wake ``waiter`` when fewer than ``limit`` launches are unfinished; False if that is so already."""
        if _xla.is_forked():
            _xla.get_client()  # raises
        woken: list[Waiter] = []
        with self._lock:
            self._sweep(woken)
            wait = self.unfinished() >= limit
            if wait:
                self._drainers[waiter] = limit
                for launch in self._flying:
                    self._watch(launch)
        self._wake(woken)
        return wait

    def remove_drainer(self, waiter: Waiter) -> None:
        """Forget ``waiter``."""
        with self._lock:
            self._drainers.pop(waiter, None)

    def block(self, pending: Pending) -> None:
        """Hold the calling thread, without the GIL, until ``pending`` has finished."""
        launch = pending.launch
        if launch is None:
            return
        _xla.get_client()  # as above
        buffer = pending.buffer
        if buffer is not None:
            self._await_buffer(launch, buffer)
            return
        waiter = ThreadWaiter()
        if self.add_waiter(launch, waiter, waiter) is not None:
            try:
                waiter.wait()
            finally:
                self.remove_waiter(launch, waiter)
