"""The scheduler: decides where and when each launch is made, and hears when it has finished.

Who runs here. *Callers* are threads that enqueue, among them event loops: they hold the lock for a few microseconds and
launch only what is quick. *Launch workers* make the launches that may run inside the dispatch call. *Watchers* block in
PJRT until a launch is ready. Compile workers (``compiler``) report programs that became executable.

One lock guards the scheduler and its parts (``state``): the window, the queue, the drainers, the threads. Nobody
computes, compiles, waits or wakes others while holding it; observers are called under it, and are quick.

The fast path launches without coming here. It reads ``open``, ``flying`` and ``record`` and counts in ``inline``, all
without the lock: as long as ``open`` is True, a quick program whose inputs are ready may be launched on the spot. What
is not over then is handed to ``adopt``.
"""

from __future__ import annotations

import itertools
import time
import weakref
from typing import TYPE_CHECKING

from .. import _xla
from . import cost
from .endings import Endings
from .failure import Failure, origin
from .inline import Inline, outputs, unobserved
from .landing import Landing
from .launch import FINISHED, LAUNCHED, LAUNCHING, QUEUED, Launch, Pending, Program, Waiter, appended
from .priority import BACKGROUND, current
from .state import State
from .timer import Timer
from .turns import Turns
from .waiters import Donor, wake
from .watchers import Watchers
from .window import Place, Placed, outcome
from .workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._xla import Buffer
    from .compiler import Compiler
    from .threads import Request, Threads


class Scheduler:
    """The state of one process's device work; the only instance is ``engine.scheduler``."""

    __slots__ = (
        "_compiler",
        "_endings",
        "_fast_path",
        "_inline",
        "_landing",
        "_lanes",
        "_observe",
        "_queue",
        "_shown_all",
        "_state",
        "_traces",
        "_turns",
        "_watchers",
        "_workers",
        "add_drainer",
        "add_waiter",
        "adopt",
        "before",
        "block",
        "counts",
        "flying",
        "inline",
        "land",
        "let_go",
        "open",
        "program_compiled",
        "record",
        "remove_drainer",
        "remove_waiter",
        "timer",
        "unfinished",
        "window",
    )

    def __init__(self, compiler: Compiler, threads: Threads) -> None:
        self._compiler = compiler
        self.timer = Timer(threads)
        self._state = state = State()
        self.counts = state.counts
        self.window = state.window
        self.flying = state.window.flying
        self.unfinished = state.unfinished
        self._queue = state.queue
        self._endings = Endings(state, self._ended)
        self._watchers = Watchers(threads, state, self._watch)
        self._turns = turns = Turns(
            state, self._endings, self._watchers, self._call_worker, self.timer.call_at, self._close, self._vacated
        )
        self._workers = Workers(threads, state, turns.take, self._more, self._launch, self.timer.call_at)
        self._landing = landing = Landing(
            state, self._endings, self._watchers, self._reopen, self._vacated, self.timer.call_at
        )
        self._lanes = itertools.count(1)
        self._inline = inline = Inline(
            state, self._endings, self._watchers, self._lanes, self._close, self._vacated, compiler.leave_fast_path
        )
        # Methods of the parts are the scheduler's own: what becomes ready, who waits, and what the fast path has begun.
        self.adopt = inline.adopt
        self.before = turns.before
        self.let_go = turns.let_go
        self.program_compiled = turns.program_compiled
        self.block = landing.block
        self.land = landing.land
        self.add_waiter = landing.add_waiter
        self.remove_waiter = landing.remove_waiter
        self.add_drainer = landing.add_drainer
        self.remove_drainer = landing.remove_drainer
        # False while the window is full, while a function is traced or everything observed, and after the end.
        self.open = False
        # Launches that were over when the fast path returned; `+=` on an int attribute lets no other thread in.
        self.inline = 0
        # Told of those launches, and when that was.
        self.record: Callable[[tuple[Program, float]], object] | None = None
        # Gives the launch that is to be enqueued, if an instrument wants to see it.
        self._observe: Callable[[Program, list[Buffer | Pending]], Launch | None] = unobserved
        self._shown_all = False  # instruments want everything to come through `enqueue`
        self._traces = 0  # functions that are being traced, on any thread: what they call must not be launched
        self._fast_path = False

    # Beginning and end

    def first_threads(self) -> list[Request]:
        """The threads to begin with: one launch worker, one watcher."""
        return [self._workers.first_thread(), self._watchers.first_thread()]

    def start(self, fast_path: bool) -> None:
        """Accept work; the client exists."""
        with self._state.lock:
            self._fast_path = fast_path
            self._reopen()

    def after_fork_in_child(self) -> None:
        """The threads are gone and the locks may be held by them: nothing is launched any more."""
        self.open = False
        self._state.after_fork_in_child()
        self._watchers.after_fork_in_child()
        self._workers.after_fork_in_child()
        self.timer.after_fork_in_child()

    def close(self) -> None:
        """Interpreter exit: launch nothing more, wait for what PJRT is doing, tell the threads to end."""
        self.timer.close()
        with self._state.lock:
            self._state.closing = True
            self.open = False
            self._queue.close()
            self._workers.close()
            flying = list(self.flying)
            waiting = self._queue.take_thread_waiters()
        wake(waiting)
        for launch in flying:
            self._landing.wait_for(launch)
        with self._state.lock:
            self._watchers.close()

    # When the fast path is open

    def close_fast_path(self) -> None:
        """From now on every launch comes through ``enqueue``. Any thread."""
        with self._state.lock:
            self._fast_path = self.open = False

    def begin_trace(self) -> None:
        """Keep callers off the fast path, which does not look whether they are being traced."""
        with self._state.lock:
            self._traces += 1
            self.open = False

    def end_trace(self) -> None:
        """The end of what ``begin_trace`` began."""
        with self._state.lock:
            self._traces -= 1
            self._reopen()

    def set_observe(
        self,
        observe: Callable[[Program, list[Buffer | Pending]], Launch | None] | None,
        shown_all: bool,
        record: Callable[[tuple[Program, float]], object] | None,
    ) -> None:
        """Have ``observe`` make the launches that are to be seen, None for none. Any thread.

        ``record`` is told of launches on the fast path that are over when they return; with ``shown_all`` there are no
        launches on the fast path.
        """
        with self._state.lock:
            self._observe = self._inline.observe = observe or unobserved
            self._shown_all = shown_all
            self.record = record
            self.open = False
            self._reopen()

    def _close(self) -> None:
        """The last place has been taken. Under the lock."""
        self.open = False

    def _call_worker(self) -> None:
        self._workers.call()

    def _reopen(self) -> None:
        """Open the fast path if nothing keeps it closed. Under the lock."""
        closed = self._shown_all or self._traces or self._state.closing
        self.open = self._fast_path and not closed and not self.window.full

    # Enqueueing: callers

    def enqueue(self, program: Program, arguments: list[Buffer | Pending]) -> list[Buffer | Pending]:
        """Launch now or later; give a ready buffer or a ``Pending`` for each result. Never blocks."""
        self.check_usable()
        woken: list[Waiter] = []
        observed = self._observe(program, arguments)
        place: Placed | None = None
        try:
            with self._state.lock:
                self.counts.enqueued += 1
                sources: list[Pending] = []
                missing: list[Pending] = []
                donors: list[Pending] = []
                for index, argument in enumerate(arguments):
                    if type(argument) is not Pending:
                        continue
                    if argument.failure is not None:
                        return self._born_failed(program, argument.failure, observed)
                    if argument.launch is not None:
                        sources.append(argument)
                        if index in program.donated:
                            donors.append(argument)
                    if argument.buffer is None:
                        missing.append(argument)
                    else:
                        arguments[index] = argument.buffer
                if program.failure is not None:
                    return self._born_failed(program, program.failure, observed)
                rank = current.get()
                launch_class = program.launch_class
                dear = launch_class is None or launch_class.current == cost.DEAR
                detained = observed is not None and observed.observer.detained
                launch = observed
                if missing or donors or dear or detained or rank >= BACKGROUND:
                    return list(self._enter(program, arguments, sources, missing, donors, launch))
                assert launch_class is not None
                level = launch_class.level
                if sources:
                    launch = launch or Launch(program, arguments, sources, origin(), QUEUED)
                    launch.sources, launch.rank, launch.level = sources, rank, level
                if not self._may_launch_here(program, level, rank, launch if sources else None, woken):
                    results = self._enter(program, arguments, sources, missing, donors, launch)
                elif launch is None:
                    place = Place(rank, level)
                    self._turns.begin(place)
                else:
                    launch.state, launch.rank, launch.level = LAUNCHING, rank, level
                    place = launch
                    self._turns.lookahead.follow(launch)
                    self._turns.begin(launch)
            wake(woken)
            return results if place is None else self._inline.launch(program, arguments, sources, launch, place)
        except BaseException:  # Ctrl-C: nobody will see the results
            if place is not None:
                self._inline.give_back(place)
            raise

    def _may_launch_here(
        self, program: Program, level: int, rank: int, following: Launch | None, woken: list[Waiter]
    ) -> bool:
        """Whether there is a place for a quick launch, which is ``following`` if it has unfinished inputs."""
        window = self.window
        if following is not None:
            near = self._turns.lookahead.place(following) and not (level and self._queue.waits(level))
            return near and window.has_place(level, following.ahead, rank)
        launch_class = program.launch_class
        if launch_class is not None and launch_class.current == cost.TINY and not program.may_fail:
            return not window.full  # it is over in microseconds
        if window.has_place(level, False, rank):
            return True
        if self._queue.runnable:
            return False
        self._endings.sweep(window.landed(), woken)
        return window.has_place(level, False, rank)

    def check_usable(self) -> None:
        """Raise where nothing can be launched: a forked child, an interpreter that is ending."""
        _xla.get_client()
        if self._state.closing:
            _xla.stop_daemon_thread()
            raise RuntimeError("aioarray cannot start new work: the interpreter is shutting down")

    def _born_failed(
        self, program: Program, failure: Failure, observed: Launch | None = None
    ) -> list[Buffer | Pending]:
        self.counts.failed += 1
        if observed is not None:
            observed.state = FINISHED
            observed.observer.finished(failure)
        results: list[Buffer | Pending] = []
        for _ in program.out_specs:
            pending = Pending(None)
            pending.failure = failure
            results.append(pending)
        return results

    def _enter(
        self,
        program: Program,
        arguments: list[Buffer | Pending],
        sources: list[Pending],
        missing: list[Pending],
        donors: list[Pending],
        observed: Launch | None,
    ) -> list[Buffer | Pending]:
        """Put a launch into the queue."""
        launch = observed or Launch(program, arguments, sources, origin(), QUEUED)
        launch.sources = sources
        launch.rank = current.get()
        if sources:
            self._turns.lift(sources, launch.rank)
        reference = self._queue.add(launch)
        pendings = outputs(launch)
        for argument in missing:
            argument.dependents = appended(argument.dependents, reference)
        for donor in donors:
            assert donor.launch is not None
            waiter = Donor(self._turns.donor_finished, weakref.ref(donor), reference)
            donor.launch.waiters[waiter] = waiter
            self._watchers.watch(donor.launch)
        observer = launch.observer
        launch.missing = len(missing) + len(donors) + observer.holds
        if program.compiled is None and (observer.fault is None or not observer.fault.compiling):
            launch.missing += 1
            program.waiting = appended(program.waiting, reference)
            self._compiler.submit(program)
        if launch.missing == 0:
            self._turns.ready(launch)
        return list(pendings)

    def fast_path_failed(self, program: Program, error: BaseException) -> list[Buffer | Pending]:
        """The results of a fast-path launch that PJRT refused."""
        failure = Failure(program.name, origin(), *_xla.translate(error))
        with self._state.lock:
            self.counts.enqueued += 1
            return self._born_failed(program, failure)

    def launched_slowly(self, program: Program, seconds: float) -> None:
        """A launch on the fast path took longer than it should have."""
        with self._state.lock:
            if program.compiled is not None:
                program.compiled.launch_class.launched_inline(seconds)

    def next_lane(self) -> int:
        """A stream id of its own for a launch; any thread."""
        return next(self._lanes)

    # Launching: workers, and watchers between two waits

    def _launch(self, launch: Launch) -> None:
        """Give ``launch`` to PJRT; the place in the window has been taken."""
        program, compiled = launch.program, launch.program.compiled
        buffers: list[Buffer] = []
        # PJRT would pass the error on too, but wrap the message once more at each step of a chain.
        failure = next((source.failure for source in launch.sources if source.failure is not None), None)
        fault = launch.observer.fault
        launched = failure is None and fault is None
        if failure is None and fault is not None:
            failure = Failure(program.name, launch.origin, fault.status, fault.message, fault.compiling)
        arguments = [a.buffer if type(a) is Pending else a for a in launch.arguments]
        inputs_ready = launched and all(_xla.is_ready(buffer) for buffer in arguments)
        _xla.set_stream(next(self._lanes))
        start = time.perf_counter()
        try:
            if launched and compiled is not None:
                buffers = compiled.execute(arguments).consume_with_handlers(compiled.handlers)
        except Exception as refusal:  # as above
            failure = Failure(program.name, launch.origin, *_xla.translate(refusal))
        seconds = time.perf_counter() - start
        del arguments
        ready = failure is not None or not buffers or _xla.is_ready(buffers[0])
        error = outcome(buffers[0]) if ready and buffers else None
        woken: list[Waiter] = []
        with self._state.lock:
            self.window.launched(launch)
            self.counts.launched += launched
            launch.arguments, launch.state = [], LAUNCHED
            if launch.begun is None:  # or its inputs have become ready meanwhile
                launch.begun = start
            launch.observer.launched(start, start + seconds, self.window.fillings)
            if inputs_ready and compiled is not None:
                compiled.launch_class.launched_on_worker(seconds)
                if ready:
                    compiled.launch_class.ran(seconds, at_most=self.window.crowded)
            if not ready:  # before its dependents are released: they may have it watched
                self.flying[launch] = buffers[0]
            for reference, buffer in zip(launch.outputs, buffers, strict=False):
                pending = reference()
                if pending is not None:
                    pending.buffer = buffer
                    self._release_dependents(pending)
            if ready:
                self._endings.finish(launch, error, failure, woken)
            else:
                self._inline.take_off(launch, buffers[0])
        del buffers
        wake(woken)

    def _release_dependents(self, pending: Pending) -> None:
        dependents, pending.dependents = pending.dependents, None
        for reference in dependents or ():
            dependent = reference()
            if dependent is not None and dependent.state == QUEUED:
                self._turns.found(dependent)

    def _watch(self, launch: Launch) -> None:
        """Wait until ``launch`` is ready, then make launches that are quick and may be made. A watcher."""
        self._landing.wait_for(launch)
        del launch
        while True:
            with self._state.lock:
                quick = self._turns.take(dear=False)
                if quick is None and self._more(long=True):
                    self._workers.call()
            if quick is None:
                return
            self._launch(quick)
            del quick

    # Places in the window, and counts: under the lock

    @property
    def in_flight(self) -> int:
        """Launches inside PJRT, or being given to it. Any thread."""
        return self.window.in_flight

    def _ended(self, launch: Launch, woken: list[Waiter]) -> None:
        """``launch`` has left the window, or the queue."""
        self._watchers.ended(launch, self.flying)
        if launch.followers:
            self._turns.lookahead.ended(launch)
        self._vacated(woken)

    def _more(self, long: bool) -> bool:
        """Whether a worker could take something off the queue, though nothing long without ``long``."""
        return self._queue.runnable and self._queue.choose(self.window, dear=True, long=long) is not None

    def _vacated(self, woken: list[Waiter]) -> None:
        """A launch has given up its place."""
        if not self.open:
            self._reopen()
        self._state.counts.dropped += self._queue.bury()
        drainers = self._state.drainers
        if self._more(long=True):
            self._workers.call()
        if self._queue.runnable or drainers:
            self._watchers.watch_all(self.flying)  # some of them can run only now
        if drainers:
            woken.extend(drainers.take(self.unfinished()))

    def unfinished_launches(self) -> list[Launch]:
        """Those launches themselves, as far as anybody holds them. Any thread."""
        with self._state.lock:
            return [*self.flying, *self._queue.launches()]
