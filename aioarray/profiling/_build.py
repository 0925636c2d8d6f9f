"""From what the engine told a profile to a ``Timeline``."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._engine import instruments, location
from ._critical import critical_path
from ._timeline import Await, Compile, Copy, Lag, Launch, Phase, Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .._engine import Program
    from .._engine.failure import Origin
    from ._recorder import Recorder

# Times that are nearer to each other are of one event.
SAME_SECONDS = 1e-3


class Builder:
    """Has what is needed to read a recorder: the origin of its times, and the names of threads."""

    def __init__(self, recorder: Recorder, threads: Mapping[int, str], now: float) -> None:
        self._recorder = recorder
        self._start = recorder.start
        self._end = now
        self._threads = threads
        self._compiled: dict[Program, float] = {}
        for compilation in list(recorder.compilations):
            self._compiled[compilation.program] = now if compilation.done is None else compilation.done

    def build(self) -> Timeline:
        """Everything, as plain data."""
        recorder = self._recorder
        found: list[tuple[float, Any]] = [(seen.enqueued, seen) for seen in list(recorder.observations)]
        found += [(when, program) for program, when in list(recorder.tiny)]
        found.sort(key=lambda item: item[0])
        index = {seen: number for number, (_, seen) in enumerate(found) if isinstance(seen, instruments.Observation)}
        launches = [
            self._launch(number, seen, index)
            if isinstance(seen, instruments.Observation)
            else self._tiny(number, seen, when)
            for number, (when, seen) in enumerate(found)
        ]
        rows = pack((x.running.begun, x.running.ended, x.index) for x in launches if x.running is not None)
        launches = [replace(x, row=rows.get(x.index)) for x in launches]
        return Timeline(
            seconds=self._end - self._start,
            launches=tuple(launches),
            awaits=tuple(self._awaits(launches, index)),
            compiles=tuple(self._compiles()),
            copies=tuple([self._copy(copy) for copy in list(recorder.copies)]),
            lags=tuple(self._lags()),
            sync_reads=tuple([(when - self._start, what, place(where)) for when, what, where in recorder.sync_reads]),
            loops=self._loops(),
        )

    def _time(self, when: float | None) -> float | None:
        return None if when is None else when - self._start

    def _thread(self, ident: int) -> str:
        return self._threads.get(ident, f"thread {ident}")

    def _loop(self, ident: int) -> str:
        return f"loop on {self._thread(ident)}"

    def _launch(
        self, number: int, seen: instruments.Observation, index: Mapping[instruments.Observation, int]
    ) -> Launch:
        return Launch(
            index=number,
            name=seen.name,
            location=place(seen.origin),
            thread=self._thread(seen.thread),
            state=seen.state,
            error=None if seen.failure is None else f"{seen.failure.status}: {seen.failure.message}",
            inline=seen.inline,
            enqueued=seen.enqueued - self._start,
            runnable=self._time(seen.runnable_at),
            begun=self._time(seen.begun),
            launched=self._time(seen.returned),
            ready=self._time(seen.ready),
            awaited=self._time(seen.awaited),
            phases=tuple(self._phases(seen)),
            parents=tuple([index[parent] for parent in seen.parents if parent in index]),
            behind=seen.behind,
        )

    def _tiny(self, number: int, program: Program, when: float) -> Launch:
        """A launch that was over at once."""
        time = when - self._start
        return Launch(
            index=number,
            name=program.name,
            location=None,
            thread="any thread",
            state="finished",
            error=None,
            inline=True,
            enqueued=time,
            runnable=time,
            begun=time,
            launched=time,
            ready=time,
            awaited=None,
            phases=(),
            parents=(),
        )

    def _phases(self, seen: instruments.Observation) -> list[Phase]:
        """What it waited for, and when it ran."""
        end = self._end if seen.ready is None else seen.ready
        runnable = end if seen.runnable_at is None else seen.runnable_at
        begun = end if seen.begun is None else seen.begun
        # PJRT has begun with it when the last of its inputs was there.
        inputs = max([begun, *[end if parent.ready is None else parent.ready for parent in seen.parents]])
        running = min(inputs, end)
        came, cause = self._cause(seen, runnable)
        if seen.held and (came == seen.enqueued or runnable - came > SAME_SECONDS):
            first = [(cause, seen.enqueued, came), ("hold", came, runnable)]
        else:
            first = [(cause, seen.enqueued, runnable)]
        marks = [
            *first,
            ("window" if seen.window_was_full else "worker", runnable, begun),
            ("inputs", begun, running),
            ("run", running, end),
        ]
        if seen.begun is None:
            marks = marks[: len(first) + (seen.runnable_at is not None)]
        elif seen.failure is not None and seen.returned == seen.ready:
            marks = marks[:-1]
        return [
            Phase(kind, earlier - self._start, later - self._start) for kind, earlier, later in marks if later > earlier
        ]

    def _cause(self, seen: instruments.Observation, runnable: float) -> tuple[float, str]:
        """What came last of what a launch, runnable at that time, had waited for, and when."""
        came: list[tuple[float, str]] = []
        compiled = self._compiled.get(seen.program)
        if compiled is not None:
            came.append((compiled, "compile"))
        for parent in seen.parents:
            times = [parent.returned, parent.ready if seen.program.donated else None]
            known = [when for when in times if when is not None]
            came.append((max(known, default=self._end if parent.ready is None else parent.ready), "inputs"))
        last = [(when, cause) for when, cause in came if seen.enqueued < when <= runnable + SAME_SECONDS]
        return max(last, default=(seen.enqueued, "inputs"))

    def _awaits(self, launches: list[Launch], index: Mapping[instruments.Observation, int]) -> Iterable[Await]:
        for wait in list(self._recorder.waits):
            number = index.get(wait.observation)
            if number is None:
                continue
            ended = self._end if wait.done is None else wait.done
            yield Await(
                kind=wait.kind,
                name=wait.observation.name,
                launch=number,
                location=place(wait.origin),
                thread=self._thread(wait.thread),
                begun=wait.begun - self._start,
                ended=ended - self._start,
                cancelled=wait.cancelled,
                path=critical_path(launches, number),
            )

    def _compiles(self) -> Iterable[Compile]:
        found = list(self._recorder.compilations)
        spans = []
        for number, seen in enumerate(found):
            ended = self._end if seen.done is None else seen.done
            spans.append((min(seen.begun_at or ended, ended), ended, number))
        rows = pack(spans)
        for seen, (begun, ended, number) in zip(found, spans, strict=True):
            yield Compile(
                name=seen.name,
                location=place(seen.origin),
                outcome=seen.outcome,
                submitted=seen.submitted - self._start,
                begun=begun - self._start,
                ended=ended - self._start,
                row=rows[number],
            )

    def _copy(self, seen: instruments.Copy) -> Copy:
        ended = self._end if seen.done is None else seen.done
        return Copy(
            name=seen.name,
            value=f"{seen.spec.dtype.name}{list(seen.spec.shape)}",
            nbytes=seen.spec.nbytes,
            location=place(seen.origin),
            thread=self._thread(seen.thread),
            begun=seen.begun - self._start,
            ended=ended - self._start,
        )

    def _loops(self) -> dict[str, tuple[float, ...]]:
        """Every lag that was measured, of loops that ran on one thread after each other together."""
        loops: dict[str, tuple[float, ...]] = {}
        for watch in list(self._recorder.watches.values()):
            name = self._loop(watch.thread)
            loops[name] = loops.get(name, ()) + tuple(watch.lags)
        return loops

    def _lags(self) -> Iterable[Lag]:
        for watch in list(self._recorder.watches.values()):
            for blocked in list(watch.blocked):
                begun = blocked.begun - self._start
                yield Lag(self._loop(watch.thread), blocked.location, begun, begun + blocked.seconds)


def place(where: Origin | None) -> str | None:
    """Where the program did something, as text."""
    return None if where is None else location(where)


def pack(spans: Iterable[tuple[float, float, int]]) -> dict[int, int]:
    """Rows for (begin, end, key) such that in none two overlap; as few as possible."""
    rows: dict[int, int] = {}
    busy: list[tuple[float, int]] = []  # a heap of when a row becomes free
    free: list[int] = []  # a heap of rows
    for begun, ended, key in sorted(spans):
        while busy and busy[0][0] <= begun:
            heapq.heappush(free, heapq.heappop(busy)[1])
        row = heapq.heappop(free) if free else len(busy)
        rows[key] = row
        heapq.heappush(busy, (ended, row))
    return rows
