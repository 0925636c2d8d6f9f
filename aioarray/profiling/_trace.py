"""The Trace Event format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._timeline import Launch, Timeline

PROCESS = 1
# Rows of one kind follow each other: the first number of each.
LOOPS, AWAITS, DEVICE, COMPILES, COPIES = 1, 100, 1000, 2000, 3000


def trace(timeline: Timeline) -> str:
    """``timeline`` as JSON."""
    events = [*_names(timeline), *_loops(timeline), *_device(timeline), *_compiles(timeline), *_copies(timeline)]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, allow_nan=False)


def _microseconds(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def _span(name: str, category: str, row: int, begun: float, ended: float, **arguments: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": PROCESS,
        "tid": row,
        "ts": _microseconds(begun),
        "dur": _microseconds(max(ended - begun, 0.0)),
        "args": {key: value for key, value in arguments.items() if value is not None},
    }


def _names(timeline: Timeline) -> Iterator[dict[str, Any]]:
    rows = {LOOPS + number: name for number, name in enumerate(_threads(timeline))}
    rows |= {AWAITS + number: f"awaits {number + 1}" for number in set(_await_rows(timeline))}
    rows |= {DEVICE + x.row: f"device {x.row + 1}" for x in timeline.launches if x.row is not None}
    rows |= {COMPILES + x.row: f"compile {x.row + 1}" for x in timeline.compiles}
    if timeline.copies:
        rows[COPIES] = "host copies"
    yield {"ph": "M", "name": "process_name", "pid": PROCESS, "args": {"name": "aioarray"}}
    for row, name in sorted(rows.items()):
        yield {"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": row, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": row, "args": {"sort_index": row}}


def _threads(timeline: Timeline) -> list[str]:
    """The threads that enqueued something, and the loops."""
    return list(dict.fromkeys([*timeline.loops, *[f"enqueued by {x.thread}" for x in timeline.launches]]))


def _await_rows(timeline: Timeline) -> list[int]:
    """A row for each await, such that those of one row do not overlap."""
    ends: list[float] = []
    rows = []
    for wait in sorted(timeline.awaits, key=lambda wait: wait.begun):
        row = next((number for number, end in enumerate(ends) if end <= wait.begun), len(ends))
        if row == len(ends):
            ends.append(0.0)
        ends[row] = wait.ended
        rows.append(row)
    return rows


def _loops(timeline: Timeline) -> Iterator[dict[str, Any]]:
    rows = {name: LOOPS + number for number, name in enumerate(_threads(timeline))}
    for lag in timeline.lags:
        yield _span("held", "loop", rows[lag.loop], lag.begun, lag.ended, location=lag.location)
    for when, what, where in timeline.sync_reads:
        yield {
            "ph": "i",
            "s": "p",
            "name": f"synchronous read: {what}",
            "cat": "loop",
            "pid": PROCESS,
            "tid": LOOPS,
            "ts": _microseconds(when),
            "args": {"location": where},
        }
    waits = sorted(timeline.awaits, key=lambda wait: wait.begun)
    for wait, row in zip(waits, _await_rows(timeline), strict=True):
        path = [f"{step.kind} {step.name} {step.seconds * 1e3:.3f} ms" for step in wait.path]
        yield _span(
            f"{wait.kind} {wait.name}",
            "await",
            AWAITS + row,
            wait.begun,
            wait.ended,
            location=wait.location,
            launch=wait.launch,
            cancelled=wait.cancelled or None,
            critical_path=path,
        )


def _device(timeline: Timeline) -> Iterator[dict[str, Any]]:
    rows = {name: LOOPS + number for number, name in enumerate(_threads(timeline))}
    for launch in timeline.launches:
        source = rows[f"enqueued by {launch.thread}"]
        yield from _waiting(launch)
        called = launch.inline and launch.begun is not None and launch.launched is not None
        begun, ended = (launch.begun, launch.launched) if called else (launch.enqueued, launch.enqueued)
        assert begun is not None
        assert ended is not None
        yield _span(launch.name, "enqueue", source, begun, ended, location=launch.location, launch=launch.index)
        running = launch.running
        if running is None or launch.row is None:
            continue
        row = DEVICE + launch.row
        yield _span(
            launch.name,
            "run",
            row,
            running.begun,
            running.ended,
            launch=launch.index,
            location=launch.location,
            state=launch.state,
            error=launch.error,
        )
        flow = {"name": "launch", "cat": "launch", "id": launch.index, "pid": PROCESS}
        yield flow | {"ph": "s", "tid": source, "ts": _microseconds(begun)}
        yield flow | {"ph": "f", "bp": "e", "tid": row, "ts": _microseconds(running.begun)}


def _waiting(launch: Launch) -> Iterator[dict[str, Any]]:
    """What it waited for: events that may overlap, which Perfetto gives rows of their own."""
    for phase in launch.phases:
        if phase.kind == "run":
            continue
        event = {"name": f"{launch.name}: {phase.kind}", "cat": "waiting", "id": launch.index, "pid": PROCESS}
        arguments: dict[str, Any] = {"launch": launch.index}
        if phase.kind == "window" and launch.behind is not None:
            arguments["behind"] = launch.behind
        yield event | {"ph": "b", "tid": DEVICE, "ts": _microseconds(phase.begun), "args": arguments}
        yield event | {"ph": "e", "tid": DEVICE, "ts": _microseconds(phase.ended)}


def _compiles(timeline: Timeline) -> Iterator[dict[str, Any]]:
    for x in timeline.compiles:
        queued = _microseconds(x.begun - x.submitted)
        arguments = {"outcome": x.outcome, "location": x.location, "queued_us": queued}
        yield _span(x.name, "compile", COMPILES + x.row, x.begun, x.ended, **arguments)


def _copies(timeline: Timeline) -> Iterator[dict[str, Any]]:
    for x in timeline.copies:
        yield _span(
            f"{x.name} {x.value}",
            "copy",
            COPIES,
            x.begun,
            x.ended,
            bytes=x.nbytes,
            location=x.location,
            thread=x.thread,
        )
