"""Measures one benchmark: contenders take turns, and what comes out is figures ready for JSON.

Ours are measured in this process, those of every other library in one of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import time
import traceback
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from ._contenders import ONLY, available
from ._model import OURS, loop_factory, taken
from ._partner import Partner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._model import Benchmark, Metric, Row, Sample, Settings, Target


def measure(name: str, pattern: str, loop: str, settings: Settings) -> dict[str, Any]:
    """The result of the benchmark ``name`` for its rows that match ``pattern``, on ``loop`` ('': no matter which)."""
    benchmark: Benchmark = importlib.import_module(f"tests.benchmarks.{name}").BENCHMARK
    start = time.perf_counter()
    rows: list[dict[str, Any]] = []
    error = ""
    # Objects that live as long as the process are none of a collection's business while something is measured.
    gc.collect()
    gc.freeze()
    with asyncio.Runner(loop_factory=loop_factory(loop)) as runner, contextlib.ExitStack() as processes:
        try:
            partners = []
            for other in filter(available, benchmark.beside if benchmark.apart else ()):
                partners.append(Partner(other, name, loop, settings))
                processes.callback(partners[-1].close)
            if benchmark.apart:
                os.environ[ONLY] = OURS
            for row in benchmark.rows(settings):
                if fnmatchcase(row.name, pattern):
                    for partner in partners:
                        row = replace(row, contenders={**row.contenders, **partner.contenders(row)})
                    rows += _measure_row(row, settings, runner)
        except Exception:  # whatever went wrong must not take away the rows that were measured
            error = traceback.format_exc(limit=-4)
    return {
        "name": name,
        "title": benchmark.title,
        "loop": loop,
        "missing": [contender for contender in benchmark.beside if not available(contender)],
        "rows": rows,
        "means": [mean for target in benchmark.means if (mean := _mean(rows, target)) is not None],
        "seconds": round(time.perf_counter() - start, 1),
        "error": error,
    }


def _measure_row(row: Row, settings: Settings, runner: asyncio.Runner) -> list[dict[str, Any]]:
    samples: dict[str, list[Sample]] = {name: [] for name in row.contenders}
    errors: dict[str, str] = {}
    names = list(row.contenders)
    for number in range(-1 if row.warm_up else 0, settings.rounds(row)):
        gc.collect()
        gc.disable()
        for name in names if number % 2 else reversed(names):
            if name in errors:
                continue
            try:
                sample = taken(row.contenders[name], runner)
            except Exception as error:  # belongs to this contender alone
                errors[name] = f"{type(error).__name__}: {error}"[:300]
                continue
            if number >= 0:
                samples[name].append(sample)
        gc.enable()
    done = {name: values for name, values in samples.items() if name not in errors}
    return [_figures(row, key, metric, done, errors) for key, metric in row.metrics.items()]


def _figures(
    row: Row, key: str, metric: Metric, samples: Mapping[str, list[Sample]], errors: Mapping[str, str]
) -> dict[str, Any]:
    series = {name: np.array([_number(sample, key) for sample in values]) for name, values in samples.items()}
    # A contender may have nothing to say about one of several metrics.
    series = {name: values for name, values in series.items() if not np.isnan(values).any() and len(values)}
    figures = {name: {**_quantiles(values), "samples": len(values)} for name, values in series.items()}
    ratios = {}
    if OURS in series:
        for name, values in series.items():
            if name != OURS and (values > 0).all():
                ratios[name] = _quantiles(series[OURS] / values)  # of each round, whose conditions were the same
    return {
        "name": f"{row.name}, {key}" if key else row.name,
        "group": row.group or row.name,
        "unit": metric.unit,
        "neutral": metric.neutral,
        "figures": figures,
        "ratios": ratios,
        "targets": [_reached(target, metric.unit, figures, ratios) for target in metric.targets],
        "errors": dict(errors),
        "note": row.note,
        "x": row.x,
        "curve": metric.curve,
    }


def _number(sample: Sample, key: str) -> float:
    return float(sample if isinstance(sample, int | float) else sample.get(key, np.nan))


def _quantiles(values: np.ndarray) -> dict[str, float]:
    return {name: float(f"{np.quantile(values, q):.5g}") for name, q in (("median", 0.5), ("p10", 0.1), ("p90", 0.9))}


def _reached(target: Target, unit: str, figures: Mapping[str, Any], ratios: Mapping[str, Any]) -> dict[str, Any]:
    found = figures.get(OURS) if target.against is None else ratios.get(target.against)
    return {"against": target.against, "limit": target.limit, "unit": unit, **_verdict(found, target.limit)}


def _verdict(found: Mapping[str, float] | None, limit: float) -> dict[str, Any]:
    if found is None:
        return {"value": None, "reached": None, "close": None}
    # What is missed by less than the rounds differ among themselves may be reached the next time, and the reverse.
    return {
        "value": found["median"],
        "reached": found["median"] <= limit,
        "close": found["p10"] <= limit <= found["p90"],
    }


def _mean(rows: Iterable[Mapping[str, Any]], target: Target) -> dict[str, Any] | None:
    ratios = [row["ratios"][target.against]["median"] for row in rows if target.against in row["ratios"]]
    if not ratios:
        return None
    value = float(f"{np.exp(np.mean(np.log(ratios))):.4g}")
    found = {"median": value, "p10": value, "p90": value}
    return {"against": target.against, "limit": target.limit, "unit": "", **_verdict(found, target.limit)}
