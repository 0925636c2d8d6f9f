"""The part of the scheduler that serves instruments: see ``instruments``, and there what they are."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

from . import instruments
from .failure import Failure, origin
from .instruments import ObservedLaunch
from .launch import QUEUED, Launch, Pending, Program
from .window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._xla import Buffer
    from .launch import Waiter
    from .timer import Timer


class Observing(Window):
    """Launches that are observed, held, delayed and made to fail. Under the lock where no comment differs."""

    __slots__ = ("timer",)

    timer: Timer

    @abstractmethod
    def _runnable(self, launch: Launch) -> None:
        """Everything that ``launch`` waited for is there."""

    @abstractmethod
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
        """Begin to follow a launch that the caller's thread has made."""

    def set_instruments(self, active: tuple[instruments.Instrument, ...]) -> None:
        """There are these instruments from now on. Any thread."""
        records = [instrument.record for instrument in active if instrument.passive]
        with self._lock:
            self._observed = bool(active)
            self._shown_all = len(records) < len(active)
            self.record = None if not records else records[0] if len(records) == 1 else _all_of(records)
            self.open = False
            self._open_if_possible()

    def _adopt_observed(self, program: Program, buffers: list[Buffer]) -> list[Buffer | Pending]:
        """``adopt``, where instruments want to see the launch. Without the lock."""
        launch = self._observe(program, [])
        woken: list[Waiter] = []
        now = perf_counter()
        with self._lock:
            self.enqueued += 1
            self.launched += 1
            if launch is not None:
                self._note_launched(launch, launch.observation.enqueued, now)
            results = self._take_in(program, [], buffers, False, None, woken, launch, now)
        self._wake(woken)
        return results

    def _observe(self, program: Program, arguments: list[Buffer | Pending]) -> ObservedLaunch | None:
        """A launch to be observed, if somebody wants to. Without the lock."""
        seen_by = instruments.current()
        return ObservedLaunch(program, arguments, origin(), seen_by) if seen_by else None

    def let_go(self, launch: ObservedLaunch) -> None:
        """A gate that has held ``launch`` does so no more. Any thread."""
        with self._lock:
            launch.holds -= 1
            if launch.reference is None or launch.state != QUEUED:
                return  # it is on its way into the queue, or it has failed
            launch.missing -= 1
            if launch.missing == 0:
                self._runnable(launch)

    def _is_put_off(self, launch: ObservedLaunch) -> bool:
        """Note that ``launch`` is runnable; whether it is made later all the same."""
        now = perf_counter()
        if launch.delay > 0.0:
            self.timer.call_at(now + launch.delay, partial(self._put_on, ref(launch)))
            launch.delay = 0.0
            return True
        observation = launch.observation
        observation.runnable = now
        observation.window_was_full = self.in_flight >= self.window
        observation.fillings = self.fillings
        return False

    def _put_on(self, reference: ReferenceType[ObservedLaunch]) -> None:
        """The delay of a launch is over. Without the lock."""
        with self._lock:
            launch = reference()
            if launch is not None and launch.state == QUEUED:
                self._runnable(launch)

    def _note_launched(self, launch: ObservedLaunch, begun: float, launched: float) -> None:
        observation = launch.observation
        if observation.runnable is None:
            observation.runnable = observation.enqueued
            observation.inline = True
        elif self.fillings > observation.fillings + 1:  # others than this one have filled it
            observation.window_was_full = True
        observation.begun = begun
        observation.launched = launched
        observation.state = "launched"
        for instrument in observation.instruments:
            instrument.on_launched(observation)

    def _fault_of(self, launch: Launch) -> Failure | None:
        fault = launch.fault
        if fault is None:
            return None
        return Failure(launch.program.name, launch.origin, fault.status, fault.message, fault.compiling)

    def _observed_results(self, launch: ObservedLaunch, buffers: list[Buffer]) -> list[Buffer | Pending]:
        """The results of a launch that was over when it returned: to be seen when they are used."""
        self._note_over(launch, None)
        results: list[Buffer | Pending] = []
        for buffer in buffers:
            pending = Pending(None, buffer)
            pending.observation = launch.observation
            results.append(pending)
        return results


def _all_of(functions: Sequence[Callable[[tuple[Program, float]], object]]) -> Callable[[tuple[Program, float]], None]:
    def call(what: tuple[Program, float]) -> None:
        for function in functions:
            function(what)

    return call
