"""The numbers of a server: of one process, as data that can go to another one, and of several together."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import orjson

import aioarray as aio

from ..batching.statistics import BatcherStats, BucketStats, Histogram, merged_stats
from ..models.description import statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..models.registry import Registry
    from .state import ServerState

# Fields of `snapshot` by their names, as /stats has them; of values that are pickled as they are.
Snapshot = dict[str, Any]
# Gives those of all processes at this address.
Numbers = Callable[[], Awaitable[Snapshot]]

WORKER: Final = "AIOARRAY_WORKER"  # set where several processes serve at one address: which of them this is
_DEVICE: Final = ("pending", "in_flight", "launched", "finished", "dropped", "failed", "compiles", "threads")
# What is of now, and ends with its process; everything else counts on.
_DEVICE_NOW: Final = frozenset({"pending", "in_flight", "threads"})


def snapshot(state: ServerState) -> Snapshot:
    """The numbers of this process."""
    traffic, runtime = state.traffic, aio.stats()
    worker = {
        "worker": os.environ.get(WORKER, ""),
        "process": os.getpid(),
        "seconds": round(time.time() - state.started, 1),
        "ready": state.registry.ready,
    }
    return {
        "ended": False,  # whether this is what was counted by a process that is not there any more
        "server": {
            "version": aio.__version__,
            **worker,
            "running": traffic.running,
            "refused": traffic.refused,
            "answers": {str(status): count for status, count in sorted(traffic.answers.items())},
            "codes": dict(sorted(traffic.codes.items())),
        },
        "workers": [worker],
        "loop_lag": state.watchdog.lag()._asdict(),
        "http_seconds": traffic.seconds.copy(),
        "device": {name: runtime[name] for name in _DEVICE if name in runtime},
        "models": _with_stats(state.registry),
    }


def model_statistics(numbers: Snapshot, name: str | None, version: str | None) -> dict[str, Any]:
    """The statistics in Triton's form, of all models or of one that is named, in one version or all."""
    rows = [
        row
        for row in numbers["models"]
        if "stats" in row and name in (None, row["name"]) and version in (None, row["version"])
    ]
    return {"model_stats": [statistics(row["name"], row["version"], row["stats"]) for row in rows]}


def _with_stats(registry: Registry) -> list[dict[str, Any]]:
    """The models, with what they have counted; also those that are not there any more, if they have."""
    stats = registry.stats()
    rows: list[dict[str, Any]] = [
        {**row, **({"stats": stats.pop(key)} if key in stats else {})}
        for row in registry.index()
        for key in [(row["name"], row["version"])]
    ]
    # These also stand for what the index names without a version.
    rows = [row for row in rows if row["version"] or all(row["name"] != name for name, _ in stats)]
    gone = {"state": "UNAVAILABLE", "reason": "unloaded"}
    return rows + [{"name": name, "version": version, **gone, "stats": left} for (name, version), left in stats.items()]


def to_json(numbers: Snapshot) -> bytes:
    """``numbers`` as /stats tells them."""
    return orjson.dumps(numbers, default=_plain, option=orjson.OPT_PASSTHROUGH_DATACLASS)


def _plain(value: BatcherStats | BucketStats | Histogram) -> dict[str, Any]:
    plain = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, BucketStats):
        plain |= {"padding_waste": value.padding_waste, "mean_seconds": value.mean_seconds}
    return plain


# Of several processes


def ended(numbers: Snapshot) -> Snapshot:
    """What is left of ``numbers`` when their process is gone: what it has counted."""
    return {
        **numbers,
        "ended": True,
        "server": {**numbers["server"], "ready": False, "running": 0},
        "workers": [],
        "loop_lag": {**dict.fromkeys(numbers["loop_lag"], 0.0), "stalls": numbers["loop_lag"]["stalls"]},
        "device": {name: 0 if name in _DEVICE_NOW else count for name, count in numbers["device"].items()},
        "models": [{**row, "stats": row["stats"].without_present()} for row in numbers["models"] if "stats" in row],
    }


def merged(parts: Sequence[Snapshot]) -> Snapshot:
    """The numbers of several processes as those of one server; the first is the one that answers.

    Counts and what is of now are added, of times the longest is taken. It is ready if all are that have not ended.
    """
    here = parts[0]
    live = [part for part in parts if not part["ended"]]
    servers = [part["server"] for part in parts]
    lags = [part["loop_lag"] for part in parts]
    seconds, *others = [part["http_seconds"] for part in parts]
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
            "codes": _sums(server["codes"] for server in servers),
        },
        "workers": sorted((worker for part in parts for worker in part["workers"]), key=lambda one: str(one["worker"])),
        "loop_lag": {name: (sum if name == "stalls" else max)(lag[name] for lag in lags) for name in here["loop_lag"]},
        "http_seconds": sum(others, seconds),
        "device": _sums(part["device"] for part in parts),
        "models": _models(parts),
    }


def _sums(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return dict(sorted(total.items()))


def _models(parts: Sequence[Snapshot]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], list[tuple[bool, dict[str, Any]]]] = {}
    for part in parts:
        for row in part["models"]:
            rows.setdefault((row["name"], row["version"]), []).append((part["ended"], row))
    # Without a version stands a model that is not there; it is, if another process has it.
    there = {name for name, version in rows if version}
    return [_model(found) for (name, version), found in rows.items() if version or name not in there]


def _model(found: Sequence[tuple[bool, dict[str, Any]]]) -> dict[str, Any]:
    live = [row for has_ended, row in found if not has_ended]
    # Of several states the one that is not as it should be.
    first = next((row for row in live if row["state"] != "READY"), live[0] if live else None)
    row = {**found[0][1], "state": "UNAVAILABLE"} if first is None else dict(first)
    stats = [one["stats"] for _, one in found if "stats" in one]
    row.pop("stats", None)
    if stats:
        ready = bool(live) and all("stats" in one and one["stats"].ready for one in live)
        row["stats"] = dataclasses.replace(merged_stats(stats), ready=ready)
    return row
