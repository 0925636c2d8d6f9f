"""Tables for the terminal."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._timeline import Launch, Timeline

WAITS = ("compile", "inputs", "window", "worker", "hold")
# So many rows of a table, the ones with the longest times.
ROWS = 12


def summary(timeline: Timeline) -> str:
    """``timeline`` in tables, times in milliseconds."""
    parts = [
        _totals(timeline),
        _operations(timeline),
        _longest_awaits(timeline),
        _compiles(timeline),
        _copies(timeline),
        _loops(timeline),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def busy(spans: Iterable[tuple[float, float]]) -> float:
    """How long at least one of the spans lasts."""
    total, until = 0.0, float("-inf")
    for begun, ended in sorted(spans):
        total += max(ended - max(begun, until), 0.0)
        until = max(until, ended)
    return total


def _totals(timeline: Timeline) -> str:
    states: dict[str, int] = defaultdict(int)
    for launch in timeline.launches:
        states[launch.state] += 1
    running = busy((x.running.begun, x.running.ended) for x in timeline.launches if x.running is not None)
    share = running / timeline.seconds if timeline.seconds else 0.0
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1]))
    return (
        f"{timeline.seconds * 1e3:.1f} ms, {len(timeline.launches)} launches"
        + (f" ({counts})" if counts else "")
        + f", {len(timeline.awaits)} waits, {len(timeline.sync_reads)} synchronous reads; "
        f"something was being computed {share:.0%} of the time"
    )


def _operations(timeline: Timeline) -> str:
    groups: dict[str, list[Launch]] = defaultdict(list)
    for launch in timeline.launches:
        groups[launch.name].append(launch)
    rows = []
    for name, launches in groups.items():
        runs = [x.seconds("run") for x in launches]
        waits = [sum(x.seconds(kind) for x in launches) for kind in WAITS]
        rows.append(
            (sum(runs) + sum(waits), [name, len(launches), sum(runs), sum(runs) / len(runs), max(runs), *waits])
        )
    return _table(["launches", "count", "run", "mean", "longest", *WAITS], rows)


def _longest_awaits(timeline: Timeline) -> str:
    rows = []
    for wait in timeline.awaits:
        kinds: dict[str, float] = defaultdict(float)
        for step in wait.path:
            kinds[f"{step.kind} {step.name}"] += step.seconds
        critical = ", ".join(
            f"{what} {_milliseconds(seconds)}" for what, seconds in sorted(kinds.items(), key=lambda item: -item[1])[:3]
        )
        rows.append((wait.seconds, [f"{wait.kind} {wait.name}", wait.seconds, critical]))
    return _table(["longest waits", "ms", "critical path"], rows)


def _compiles(timeline: Timeline) -> str:
    rows = [
        (x.seconds, [x.name, x.outcome, x.seconds, x.begun - x.submitted, x.location or ""]) for x in timeline.compiles
    ]
    return _table(["compiles", "outcome", "ms", "queued", "needed at"], rows)


def _copies(timeline: Timeline) -> str:
    groups: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for copy in timeline.copies:
        groups[copy.name].append((copy.seconds, copy.nbytes))
    rows = []
    for name, found in groups.items():
        seconds = sum(each for each, _ in found)
        rows.append((seconds, [name, len(found), seconds, f"{sum(size for _, size in found):,}"]))
    return _table(["host copies", "count", "ms", "bytes"], rows)


def _loops(timeline: Timeline) -> str:
    rows = []
    for name, lags in timeline.loops.items():
        if lags:
            p50, p99, largest = (float(np.quantile(lags, q)) for q in (0.5, 0.99, 1.0))
            held = [x for x in timeline.lags if x.loop == name]
            worst = max(held, key=lambda x: x.seconds, default=None)
            where = "" if worst is None or worst.location is None else worst.location
            rows.append((largest, [name, len(lags), p50, p99, largest, where]))
    return _table(["loop lag", "looks", "p50", "p99", "largest", "held longest at"], rows)


def _milliseconds(seconds: float) -> str:
    return "" if seconds == 0.0 else f"{seconds * 1e3:.2f}"


def _table(header: Sequence[str], rows: Sequence[tuple[float, Sequence[object]]]) -> str:
    """The rows in the order of their first part, the largest first; floats are seconds."""
    if not rows:
        return ""
    chosen = sorted(rows, key=lambda row: -row[0])
    texts = [[_milliseconds(x) if isinstance(x, float) else str(x) for x in row] for _, row in chosen[:ROWS]]
    widths = [max(len(line[column]) for line in (header, *texts)) for column in range(len(header))]
    left = [not any(isinstance(row[column], (int, float)) for _, row in chosen) for column in range(len(header))]
    lines = [
        "  ".join(
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in (header, *texts)
    ]
    lines.insert(1, "─" * max(map(len, lines)))
    if len(chosen) > ROWS:
        lines.append(f"… and {len(chosen) - ROWS} more")
    return "\n".join(lines)
