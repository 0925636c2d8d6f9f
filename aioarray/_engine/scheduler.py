"""The scheduler: decides where and when each launch is made, and notices when it has finished.

Who runs here. *Callers* are threads that enqueue, among them event loops: they hold the lock for a few microseconds and
launch only what is quick. *Launch workers* make the launches that may run inside the dispatch call. *Watchers* block in
PJRT until a launch is ready. Compile workers (``compiler``) report programs that became executable.

One re-entrant lock guards all state, of which ``window`` has the lower half; ``observing`` has what tests and profiles
are served with, ``landing`` the watchers.

``Scheduler.open`` alone is read without the lock, by the fast path: as long as it is True, a tiny program
whose inputs are ready may be launched right there.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Final

from .. import _xla
from . import cost
from .failure import Failure, origin
from .instruments import ObservedLaunch, ObservedReference
from .landing import Landing
from .launch import FINISHED, LAUNCHED, LAUNCHING, QUEUED, Launch, Pending, Program, Waiter
from .timer import Timer
from .waiters import Donor
from .window import outcome

if TYPE_CHECKING:
    from weakref import ReferenceType

    from .._xla import Buffer
    from .compiler import Compiler
    from .threads import Request, Threads

# A launch often computes on the thread that makes it: more of them would take the cores from the event loop.
LAUNCH_WORKERS: Final = 2


def appended(
    references: list[ReferenceType[Launch]] | None, reference: ReferenceType[Launch]
) -> list[ReferenceType[Launch]]:
    """``references`` with one more; now and then without those of the dead, so that the list does not grow by them."""
    if references is None:
        return [reference]
    if len(references) >= 64 and len(references).bit_count() == 1:
        references = [other for other in references if other() is not None]
    references.append(reference)
    return references


class Scheduler(Landing):
    """The state of one process's device work; the only instance is ``engine.scheduler``."""

    __slots__ = (
        "_compiler",
        "_idle_workers",
        "_lanes",
        "_work",
        "_workers",
    )

    def __init__(self, compiler: Compiler, threads: Threads) -> None:
        super().__init__()
        self._compiler = compiler
        self._threads = threads
        self.timer = Timer(threads)
        self._lanes = itertools.count(1)
        self._cheap = deque()
        self._dear = deque()
        self._make_locks()

    def _make_locks(self) -> None:
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._workers = self._idle_workers = 0
        self._forget_watchers()

    # Beginning and end

    def first_threads(self) -> list[Request]:
        """The threads to begin with: one launch worker, one watcher."""
        self._workers = self._watchers = 1
        return [(self._launch_worker, "aioarray-launch-1"), (self._idle_watcher, "aioarray-watch-1")]

    def after_fork_in_child(self) -> None:
        """The threads are gone and the locks may be held by them: nothing is launched any more."""
        self._closing = True
        self.open = False
        for kept in (self._cheap, self._dear, self._drainers, self._queued, self._dead):
            kept.clear()
        self.timer.after_fork_in_child()
        self._make_locks()

    def close(self) -> None:
        """Interpreter exit: launch nothing more, wait for what PJRT is doing, tell the threads to end."""
        self.timer.close()
        with self._lock:
            self._closing = True
            self.open = False
            self._cheap.clear()
            self._dear.clear()
            self._work.notify_all()
            flying = list(self.flying.items())
            waiting = self._take_thread_waiters()
        self._wake(waiting)
        for launch, buffer in flying:
            self._await_buffer(launch, buffer)
        for _ in range(self._watchers):
            self._to_watch.put(None)

    # Enqueueing: callers

    def enqueue(self, program: Program, arguments: list[Buffer | Pending]) -> list[Buffer | Pending]:
        """Launch now or later; give a ready buffer or a ``Pending`` for each result. Never blocks."""
        self.check_usable()
        woken: list[Waiter] = []
        launch = self._observe(program, arguments) if self._observed else None
        with self._lock:
            self.enqueued += 1
            sources: list[Pending] = []
            missing: list[Pending] = []
            donors: list[Pending] = []
            for index, argument in enumerate(arguments):
                if type(argument) is not Pending:
                    continue
                if argument.failure is not None:
                    return self._born_failed(program, argument.failure, launch)
                if argument.launch is not None:
                    sources.append(argument)
                    if index in program.donated:
                        donors.append(argument)
                if argument.buffer is None:
                    missing.append(argument)
                else:
                    arguments[index] = argument.buffer
            if program.failure is not None:
                return self._born_failed(program, program.failure, launch)
            if self.in_flight >= self.window and not self._cheap and not self._dear:
                self._sweep(self._landed(), woken)
            launch_class = program.launch_class
            full = self.in_flight >= self.window
            detained = launch is not None and launch.detained
            if missing or donors or launch_class is None or launch_class.current == cost.DEAR or full or detained:
                results = self._queue(program, arguments, sources, missing, donors, launch)
            else:
                self._launching += 1
                self._occupied()
                results = []
        self._wake(woken)
        return results or self._launch_here(program, arguments, sources, launch)

    def check_usable(self) -> None:
        """Raise where nothing can be launched: a forked child, an interpreter that is ending."""
        _xla.get_client()
        if self._closing:
            _xla.stop_daemon_thread()
            raise RuntimeError("aioarray cannot start new work: the interpreter is shutting down")

    def _born_failed(
        self, program: Program, failure: Failure, launch: ObservedLaunch | None = None
    ) -> list[Buffer | Pending]:
        self.failed += 1
        if launch is not None:
            launch.state = FINISHED
            self._note_over(launch, failure)
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
        donors: list[Pending],
        observed: ObservedLaunch | None,
    ) -> list[Buffer | Pending]:
        if observed is None:
            launch = Launch(program, arguments, sources, origin(), QUEUED)
            launch.reference = reference = weakref.ref(launch, self._dead.append)
        else:
            launch = observed
            launch.sources = sources
            launch.reference = reference = ObservedReference(launch, self._dead.append)
            reference.observation = observed.observation
        self._queued.add(reference)
        pendings = self._outputs(launch)
        for argument in missing:
            argument.dependents = appended(argument.dependents, reference)
        for donor in donors:
            assert donor.launch is not None
            waiter = Donor(self, weakref.ref(donor), reference)
            donor.launch.waiters[waiter] = waiter
            self._watch(donor.launch)
        launch.missing = len(missing) + len(donors) + launch.holds
        if program.execute is None and (launch.fault is None or not launch.fault.compiling):
            launch.missing += 1
            program.waiting = appended(program.waiting, reference)
            self._compiler.submit(program)
        if launch.missing == 0:
            self._runnable(launch)
        return list(pendings)

    def _outputs(self, launch: Launch) -> list[Pending]:
        pendings = [Pending(launch) for _ in launch.program.out_specs]
        launch.outputs = [weakref.ref(pending) for pending in pendings]
        if launch.observation is not None:
            for pending in pendings:
                pending.observation = launch.observation
        return pendings

    def _launch_here(
        self,
        program: Program,
        arguments: list[Buffer | Pending],
        sources: list[Pending],
        observed: ObservedLaunch | None,
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
        except BaseException:  # Ctrl-C: nobody will see the results
            with self._lock:
                self._launching -= 1
                self.failed += 1
                self._vacated(woken)
            self._wake(woken)
            raise
        seconds = time.perf_counter() - start
        ready = failure is not None or not buffers or _xla.is_ready(buffers[0])
        with self._lock:
            self._launching -= 1
            self.launched += 1
            program.launch_class.launched_inline(seconds)
            program.tiny = program.launch_class.current == cost.TINY and not program.may_fail
            if observed is not None:
                self._note_launched(observed, start, start + seconds)
            if ready and failure is None and not sources and not program.may_fail:
                self.finished += 1
                self._vacated(woken)
                results: list[Buffer | Pending] = buffers
                if observed is not None:
                    results = self._observed_results(observed, buffers)
            else:
                results = self._take_in(program, sources, buffers, ready, failure, woken, observed, start)
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
        observed: ObservedLaunch | None,
        begun: float,
    ) -> list[Buffer | Pending]:
        """Begin to follow a launch that the caller's thread has made. Under the lock."""
        if observed is None:
            launch = Launch(program, [], sources, origin(), LAUNCHED)
        else:
            launch = observed
            launch.arguments, launch.sources, launch.state = [], sources, LAUNCHED
        launch.begun = begun
        pendings = self._outputs(launch)
        for pending, buffer in zip(pendings, buffers, strict=False):
            pending.buffer = buffer
        if ready:
            self._finish(launch, outcome(buffers[0]) if buffers else None, failure, woken)
        else:
            self.flying[launch] = buffers[0]
            self._occupied()
            if self._cheap or self._dear or self._drainers:
                self._watch(launch)  # somebody waits for a place, or for the count to fall
            elif self._observed:
                self._follow()
        return list(pendings)

    def adopt(self, program: Program, buffers: list[Buffer]) -> list[Buffer | Pending]:
        """Follow a launch that the fast path made and that is not over yet; its inputs were ready.

        Takes the lock only where somebody else is concerned: this is as long as the launch itself. Each line that
        changes something is one step for other threads, which therefore go through copies of ``flying``.
        """
        if self._observed:
            return self._adopt_observed(program, buffers)
        launch = Launch(program, [], [], origin(2), LAUNCHED)
        pendings: list[Buffer | Pending] = [Pending(launch, buffer) for buffer in buffers]
        if len(pendings) == 1:
            launch.only = pendings[0]
        else:
            launch.outputs = list(map(weakref.ref, pendings))
        self.enqueued += 1
        self.launched += 1
        self.flying[launch] = buffers[0]
        count = len(self.flying)
        if count > self.most_in_flight or count >= self.window or self._cheap or self._dear or self._drainers:
            with self._lock:
                self._occupied()
                if self._cheap or self._dear or self._drainers:
                    self._watch(launch)
        return pendings

    def fast_path_failed(self, program: Program, error: BaseException) -> list[Buffer | Pending]:
        """The results of a fast-path launch that PJRT refused."""
        failure = Failure(program.name, origin(), *_xla.translate(error))
        with self._lock:
            self.enqueued += 1
            return self._born_failed(program, failure)

    def launched_slowly(self, program: Program, seconds: float) -> None:
        """A launch on the fast path took longer than it should have."""
        with self._lock:
            if program.launch_class is not None:
                program.launch_class.launched_inline(seconds)

    def next_lane(self) -> int:
        """A stream id of its own for a launch; any thread."""
        return next(self._lanes)

    # From queued to launched: under the lock

    def _runnable(self, launch: Launch) -> None:
        if isinstance(launch, ObservedLaunch) and self._is_put_off(launch):
            return
        launch_class = launch.program.launch_class
        if launch_class is None or launch_class.current == cost.DEAR:  # None if it is to fail
            self._dear.append(weakref.ref(launch))
        else:
            self._cheap.append(weakref.ref(launch))
        if self.in_flight < self.window:
            self._call_worker()
        else:
            for flying in list(self.flying):
                self._watch(flying)

    def before(self, launch: Launch) -> list[str] | None:
        """The names of what is launched before a queued ``launch``; None if it waits for something else. Any thread."""
        with self._lock:
            for queue in (self._dear, self._cheap):
                names: list[str] = []
                for reference in queue:
                    other = reference()
                    if other is launch:
                        return names
                    if other is not None and other.state == QUEUED:
                        names.append(other.program.name)
            return None

    def _call_worker(self) -> None:
        if self._idle_workers:
            self._idle_workers -= 1
            self._work.notify()
        elif self._workers < LAUNCH_WORKERS and not self._closing:
            self._workers += 1
            self._threads.start(self._launch_worker, f"aioarray-launch-{self._workers}")

    def _place_is_free(self) -> None:
        if self._cheap or self._dear:
            self._call_worker()

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
                    assert launch.reference is not None
                    self._queued.discard(launch.reference)
                    launch.reference = None  # or its callback would tell of a death that is none of a queued launch
                    self._launching += 1
                    self._occupied()
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

    def donor_finished(self, pending: Pending, reference: ReferenceType[Launch]) -> None:
        """``pending``, which a queued launch takes over, is finished."""
        woken: list[Waiter] = []
        with self._lock:
            launch = reference()
            if launch is not None and launch.state == QUEUED:
                if pending.failure is not None:
                    self._fail_queued(launch, pending.failure, woken)
                else:
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
        # PJRT would pass the error on too, but wrap the message once more at each step of a chain.
        failure = next((source.failure for source in launch.sources if source.failure is not None), None)
        launched = failure is None and launch.fault is None
        if failure is None:
            failure = self._fault_of(launch)
        arguments = [a.buffer if type(a) is Pending else a for a in launch.arguments]
        inputs_ready = launched and all(_xla.is_ready(buffer) for buffer in arguments)
        _xla.set_stream(next(self._lanes))
        start = time.perf_counter()
        try:
            if launched:
                buffers = program.execute(arguments).consume_with_handlers(program.handlers)
        except Exception as refusal:  # as above
            failure = Failure(program.name, launch.origin, *_xla.translate(refusal))
        seconds = time.perf_counter() - start
        del arguments
        ready = failure is not None or not buffers or _xla.is_ready(buffers[0])
        error = outcome(buffers[0]) if ready and buffers else None
        woken: list[Waiter] = []
        with self._lock:
            self._launching -= 1
            self.launched += launched
            launch.arguments = []
            launch.state = LAUNCHED
            launch.begun = start
            if isinstance(launch, ObservedLaunch):
                self._note_launched(launch, start, start + seconds)
            if inputs_ready:
                assert program.launch_class is not None
                program.launch_class.launched_on_worker(seconds)
            for reference, buffer in zip(launch.outputs, buffers, strict=False):
                pending = reference()
                if pending is not None:
                    pending.buffer = buffer
                    self._release_dependents(pending)
            if ready:
                self._finish(launch, error, failure, woken)
            else:
                self.flying[launch] = buffers[0]
                self._occupied()
                if launch.waiters or self._cheap or self._dear or self._drainers:
                    self._watch(launch)
                elif self._observed:
                    self._follow()
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
