"""Another library's share of a benchmark, in a process of its own: ``python -m tests.benchmarks._partner …``.

A user has one of the libraries in a process, not all of them: their thread pools would keep each other from the cores.
The process that measures asks for one sample at a time, a line of JSON each way, and neither computes meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from ._contenders import ONLY
from ._model import Benchmark, Row, Sample, Settings, library, loop_factory, taken

if TYPE_CHECKING:
    from collections.abc import Callable


class Partner:
    """The process of one library, seen from the one that measures."""

    def __init__(self, contender: str, name: str, loop: str, settings: Settings) -> None:
        words = [name, contender, loop, "quick" if settings.quick else ""]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks._partner", *words],
            env={**os.environ, ONLY: contender},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def contenders(self, row: Row) -> dict[str, Callable[[], Sample]]:
        """What this library has for ``row``. Raises ``RuntimeError``, here or when called, for what fails there."""
        return {name: lambda name=name: self._ask(sample=name) for name in self._ask(row=row.name)}  # type: ignore[misc]

    def _ask(self, **question: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # then there will be no answer
            print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the other library's process ended with {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):  # there is none any more
            self._process.communicate()


class _Answering:
    """The process itself."""

    def __init__(self, rows: Any, contender: str, runner: asyncio.Runner) -> None:
        self._rows = rows
        self._contender = contender
        self._runner = runner
        self._row = Row("", {})

    def answer(self, question: dict[str, str]) -> Any:
        if "sample" in question:
            gc.collect()
            gc.disable()
            try:
                return taken(self._row.contenders[question["sample"]], self._runner)
            finally:
                gc.enable()
        for row in self._rows:
            if row.name == question["row"]:
                self._row = row
                return [name for name in row.contenders if library(name) == self._contender]
        raise LookupError(f"{self._contender} has no row {question['row']!r}")


def _serve(questions: TextIO, answers: TextIO) -> None:
    name, contender, loop, quick = sys.argv[1:]
    benchmark = cast("Benchmark", importlib.import_module(f"tests.benchmarks.{name}").BENCHMARK)
    with asyncio.Runner(loop_factory=loop_factory(loop)) as runner:
        answering = _Answering(benchmark.rows(Settings(quick=bool(quick))), contender, runner)
        for line in questions:
            try:
                answer = {"value": answering.answer(json.loads(line))}
            except Exception as error:  # is raised again by the one who asked
                answer = {"error": f"{type(error).__name__}: {error}"[:300]}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # whatever else is printed
        gc.collect()
        gc.freeze()
        _serve(sys.stdin, answers)
