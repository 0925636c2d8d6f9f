"""The numbers of a server: of one process, as plain data that can go to another one, and of several together."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import TYPE_CHECKING, Any, Final

import aioarray as aio

from ._statistics import BatcherStats, BucketStats, Histogram

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ._state import ServerState

# Builtin types, as JSON has them: see `snapshot`.
Numbers = dict[str, Any]

_DEVICE: Final = ("pending", "in_flight", "launched", "finished", "dropped", "failed", "compiles", "threads")
# What is of now, and ends with its process; everything else counts on.
_DEVICE_NOW: Final = frozenset({"pending", "in_flight", "threads"})
_MODEL_NOW: Final = ("queued", "queued_rows", "running", "running_seconds")


def snapshot(state: ServerState) -> Numbers:
    """The numbers of this process."""
    gate = state.gate
    runtime: Mapping[str, Any] = aio.stats()  # type: ignore[assignment, unused-ignore]
    seconds = time.time() - state.started
    ready = state.registry.ready
    return {
        "ended": False,  # whether this is what was counted by a process that is not there any more
        "server": {
            "version": aio.__version__,
            "worker": state.worker,
            "process": os.getpid(),
            "seconds": round(seconds, 1),
            "ready": ready,
            "running": gate.running if gate is not None else 0,
            "refused": gate.refused if gate is not None else 0,
            "answers": {str(status): count for status, count in sorted(gate.answers.items())} if gate else {},
        },
        "workers": [{"worker": state.worker, "process": os.getpid(), "seconds": round(seconds, 1), "ready": ready}],
        "search": state.search,
        "loop_lag": state.watchdog.lag()._asdict(),
        "http_seconds": dataclasses.asdict(gate.seconds) if gate is not None else None,
        "device": {name: runtime[name] for name in _DEVICE if name in runtime},
        "models": [{**row, **_model_numbers(state, row["name"], row["version"])} for row in state.registry.index()],
    }


def _model_numbers(state: ServerState, name: str, version: str) -> Numbers:
    for model in state.registry.models():
        stats = model.stats()
        if (model.name, model.version) == (name, version) and stats is not None:
            return {"stats": _plain(stats)}
    return {}


def _plain(stats: BatcherStats) -> Numbers:
    return {
        **dataclasses.asdict(stats),
        "buckets": {
            name: {
                **dataclasses.asdict(bucket),
                "padding_waste": bucket.padding_waste,
                "mean_seconds": bucket.mean_seconds,
            }
            for name, bucket in stats.buckets.items()
        },
    }


def histogram_of(plain: Mapping[str, Any]) -> Histogram:
    """The histogram that ``plain`` was made of."""
    return Histogram(tuple(plain["bounds"]), list(plain["counts"]), plain["total"])


def stats_of(plain: Mapping[str, Any]) -> BatcherStats:
    """The statistics that ``plain`` was made of."""
    fields: dict[str, Any] = {
        field.name: histogram_of(plain[field.name]) if isinstance(plain[field.name], dict) else plain[field.name]
        for field in dataclasses.fields(BatcherStats)
        if field.name != "buckets"
    }
    names = [field.name for field in dataclasses.fields(BucketStats)]
    buckets = {name: BucketStats(**{key: one[key] for key in names}) for name, one in plain["buckets"].items()}
    return BatcherStats(**fields, buckets=buckets)


# Of several processes


def ended(numbers: Numbers) -> Numbers:
    """What is left of ``numbers`` when their process is gone: what it has counted."""
    return {
        **numbers,
        "ended": True,
        "server": {**numbers["server"], "ready": False, "running": 0},
        "workers": [],
        "loop_lag": {**dict.fromkeys(numbers["loop_lag"], 0.0), "stalls": numbers["loop_lag"]["stalls"]},
        "device": {name: 0 if name in _DEVICE_NOW else count for name, count in numbers["device"].items()},
        "models": [
            {**row, "stats": {**row["stats"], **dict.fromkeys(_MODEL_NOW, 0), "ready": False}}
            for row in numbers["models"]
            if "stats" in row
        ],
    }


def merged(parts: Sequence[Numbers]) -> Numbers:
    """The numbers of several processes as those of one server; the first is the one that answers.

    Counts and what is of now are added, of times the longest is taken. It is ready if all are that have not ended.
    """
    here = parts[0]
    live = [part for part in parts if not part["ended"]]
    servers = [part["server"] for part in parts]
    lags = [part["loop_lag"] for part in parts]
    histograms = [part["http_seconds"] for part in parts if part["http_seconds"] is not None]
    return {
        **here,
        "ended": not live,
        "server": {
            **here["server"],
            "seconds": max(server["seconds"] for server in servers),
            "ready": bool(live) and all(part["server"]["ready"] for part in live),
            "running": sum(server["running"] for server in servers),
            "refused": sum(server["refused"] for server in servers),
            "answers": _sums(server["answers"] for server in servers),
        },
        "workers": sorted((worker for part in parts for worker in part["workers"]), key=lambda one: str(one["worker"])),
        "loop_lag": {name: (sum if name == "stalls" else max)(lag[name] for lag in lags) for name in here["loop_lag"]},
        "http_seconds": _histogram(histograms) if histograms else None,
        "device": _sums(part["device"] for part in parts),
        "models": _models(parts),
    }


def _sums(parts: Iterable[Mapping[str, Any]]) -> Numbers:
    total: Numbers = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return dict(sorted(total.items()))


def _histogram(parts: Sequence[Mapping[str, Any]]) -> Numbers:
    return {
        "bounds": parts[0]["bounds"],
        "counts": [sum(counts) for counts in zip(*(part["counts"] for part in parts), strict=True)],
        "total": sum(part["total"] for part in parts),
    }


def _models(parts: Sequence[Numbers]) -> list[Numbers]:
    rows: dict[tuple[str, str], list[tuple[bool, Numbers]]] = {}
    for part in parts:
        for row in part["models"]:
            rows.setdefault((row["name"], row["version"]), []).append((part["ended"], row))
    # Without a version stands a model that is not there; it is, if another process has it.
    there = {name for name, version in rows if version}
    return [_model(found) for (name, version), found in rows.items() if version or name not in there]


def _model(found: Sequence[tuple[bool, Numbers]]) -> Numbers:
    live = [row for has_ended, row in found if not has_ended]
    # Of several states the one that is not as it should be.
    first = next((row for row in live if row["state"] != "READY"), live[0] if live else None)
    row = {**found[0][1], "state": "UNAVAILABLE"} if first is None else dict(first)
    stats = [one["stats"] for _, one in found if "stats" in one]
    row.pop("stats", None)
    if stats:
        ready = bool(live) and all("stats" in one and one["stats"]["ready"] for one in live)
        row["stats"] = {**_stats(stats), "ready": ready}
    return row


def _stats(parts: Sequence[Numbers]) -> Numbers:
    total = dict(parts[0])
    for name, value in total.items():
        if name == "running_seconds":
            total[name] = max(part[name] for part in parts)
        elif name == "buckets":
            total[name] = _buckets([part[name] for part in parts])
        elif isinstance(value, dict):
            total[name] = _histogram([part[name] for part in parts])
        elif not isinstance(value, (str, bool)):
            total[name] = sum(part[name] for part in parts)
    return total


def _buckets(parts: Sequence[Mapping[str, Numbers]]) -> Numbers:
    names = [field.name for field in dataclasses.fields(BucketStats)]
    total: Numbers = {}
    for bucket in dict.fromkeys(name for part in parts for name in part):
        found = [part[bucket] for part in parts if bucket in part]
        stats = BucketStats(**{name: sum(one[name] for one in found) for name in names})
        total[bucket] = {
            **dataclasses.asdict(stats),
            "padding_waste": stats.padding_waste,
            "mean_seconds": stats.mean_seconds,
        }
    return total
