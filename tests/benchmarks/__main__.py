"""Measures aioarray beside what a user would take instead.

    python -m tests.benchmarks [name ...] [--json FILE] [--html FILE] [--quick]

Names are those of the files in this folder, with wildcards and, behind a slash, a row: ``eager_* "numerics/sort*"``.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import _html, _machine, _markdown, _text
from ._environment import environment
from ._suite import SUITE, Choice, choose

FORMAT = 1
LOOPS = ("asyncio", "uvloop")
# Contenders find the disk caches of programs switched off, unless they switch them on themselves.
CACHES = ("AIOARRAY_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")
# A benchmark that takes longer than this, in seconds, hangs.
LOST = 3600


def arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measures aioarray beside JAX, NumPy and others, in an environment of its own.",
        epilog="benchmarks: " + ", ".join(entry.name for entry in SUITE),
    )
    parser.add_argument("names", nargs="*", help="NAME or NAME/ROW, with wildcards; default: all that are quick")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a page with charts there")
    parser.add_argument("--quick", action="store_true", help="few rounds and small sizes: shows that all work")
    parser.add_argument("--torch", action="store_true", help="compare with PyTorch too, whose wheels are gigabytes")
    parser.add_argument("--without", default="", metavar="NAMES", help="leave out these contenders, as in jax,numpy")
    parser.add_argument("--loops", default=",".join(LOOPS), help="event loops to measure on; default: %(default)s")
    parser.add_argument("--here", action="store_true", help="use this interpreter's environment as it is")
    parser.add_argument("--merge", action="store_true", help="keep what is in the --json FILE of other benchmarks")
    parser.add_argument("--from", dest="source", metavar="FILE", type=Path, help="do not measure: report on this JSON")
    parser.add_argument("--markdown", action="store_true", help="print the table of the README")
    parser.add_argument("--update", metavar="FILE", type=Path, help="put that table into FILE, as README.md")
    parser.add_argument("--compare", metavar="FILE", type=Path, help="print what moved since this JSON")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    options = arguments(words)
    if options.source is not None:
        result = json.loads(options.source.read_text(encoding="utf-8"))
    else:
        choices = choose(options.names)
        unavailable: list[str] = []
        if not options.here:
            python, unavailable = environment(options.torch)
            if Path(sys.executable) != python:
                return _run_in(python, words)
        result = run(choices, options, unavailable)
    report(result, options)
    return 1 if any(benchmark["error"] for benchmark in result["benchmarks"]) else 0


def _run_in(python: Path, words: list[str] | None) -> int:
    command = [str(python), "-m", "tests.benchmarks", *(sys.argv[1:] if words is None else words), "--here"]
    return subprocess.run(command, check=False).returncode


def run(choices: list[Choice], options: argparse.Namespace, unavailable: list[str]) -> dict[str, Any]:
    """Measure; each benchmark in a process of its own, so that none works in what another one left."""
    result: dict[str, Any] = {
        "format": FORMAT,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "quick": options.quick,
        "machine": _machine.machine(),
        "versions": _machine.versions(),
        "not installed": unavailable,
        "benchmarks": [],
    }
    for choice in choices:
        for loop in options.loops.split(",") if choice.entry.on_loops else [""]:
            if loop and importlib.util.find_spec(loop) is None:
                result["not installed"].append(loop)
                continue
            print(f"{choice.entry.name} {loop} ...", file=sys.stderr, flush=True)
            benchmark = measure_apart(choice, loop, options)
            result["benchmarks"].append(benchmark)
            if not options.markdown:
                print(_text.table(benchmark), flush=True)
    return result


def measure_apart(choice: Choice, loop: str, options: argparse.Namespace) -> dict[str, Any]:
    """The result of one benchmark, measured by a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        words = [choice.entry.name, choice.rows, loop, "quick" if options.quick else "", str(out)]
        variables = {name: value for name, value in os.environ.items() if name not in CACHES}
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks._child", *words],
            env={**variables, "AIOARRAY_BENCHMARKS_WITHOUT": options.without, "JAX_PLATFORMS": "cpu"},
            timeout=LOST,
            check=False,
        )
        if done.returncode == 0:
            return json.loads(out.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    error = f"the process ended with {done.returncode}"
    return {
        "name": choice.entry.name,
        "title": choice.entry.name,
        "loop": loop,
        "missing": [],
        "rows": [],
        "means": [],
        "seconds": 0.0,
        "error": error,
    }


def report(result: dict[str, Any], options: argparse.Namespace) -> None:
    """Write and print what was asked for."""
    if options.json is not None and options.source is None:
        if options.merge and options.json.exists():
            result = merged(json.loads(options.json.read_text(encoding="utf-8")), result)
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.html is not None:
        options.html.write_text(_html.page(result), encoding="utf-8")
    if options.update is not None:
        text = options.update.read_text(encoding="utf-8")
        options.update.write_text(_markdown.updated(text, result), encoding="utf-8")
    if options.markdown:
        print(_markdown.section(result), end="")
    elif options.compare is not None:
        print(_markdown.movements(json.loads(options.compare.read_text(encoding="utf-8")), result), end="")
    else:
        print(_text.summary(result))


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """``new``, and the benchmarks of ``old`` that are not in it, in the order of the suite."""

    def key(benchmark: dict[str, Any]) -> tuple[int, str]:
        return [entry.name for entry in SUITE].index(benchmark["name"]), benchmark["loop"]

    measured = {key(benchmark) for benchmark in new["benchmarks"]}
    kept = [benchmark for benchmark in old["benchmarks"] if key(benchmark) not in measured]
    return {**new, "benchmarks": sorted([*kept, *new["benchmarks"]], key=key)}


if __name__ == "__main__":
    sys.exit(main())
