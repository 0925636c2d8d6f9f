"""Loads damaged files: each has to be refused with a FormatError, or be a program that compiles or is refused by XLA.

    python -m tests.export.fuzz 100000 [kind …]

mutates files of each kind so many times, in a process of its own that is started anew where it dies, and says how often
that was. The tests do the same with fewer.
"""

from __future__ import annotations

import asyncio
import collections
import io
import random
import subprocess
import sys
import time
from pathlib import Path

from jaxlib import _jax
from jaxlib.mlir import ir

import aioarray as aio
from aioarray._xla import artifact_process
from aioarray.errors import CompileError, FormatError
from aioarray.export import _container, _load, _process
from tests.support.damage import damaged

DATA = Path(__file__).parent / "data"
TEXT = b"""module @text {
  func.func public @main(%x: tensor<2x3xf32>, %n: tensor<i32>) -> (tensor<3xf32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %1 = func.call @twice(%n) : (tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<3xf32>, tensor<i32>
  }
  func.func private @twice(%n: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %n, %n : tensor<i32>
    return %0 : tensor<i32>
  }
}
"""
NAMES = ("mlp", "symbolic", "nested", "lapack_and_fft", "scan", "platforms")
KINDS = ("jax.export", "artifact", "bytecode", "text")
# Mutations between two reports: so many are gone through one by one where a process died.
REPORT = 100


def originals(kind: str) -> list[bytes]:
    """Files of a kind, undamaged."""
    files = [(DATA / f"{name}.jax").read_bytes() for name in NAMES]
    if kind == "jax.export":
        return files
    artifacts = [_container.decode(file, "original").module for file in files]
    if kind == "artifact":
        return artifacts
    texts = [TEXT, *map(as_text, artifacts)]
    return texts if kind == "text" else list(map(as_bytecode, texts))


def as_text(artifact: bytes) -> bytes:
    """The module of a portable artifact as text."""
    with artifact_process.make_context([]):
        return str(_jax.mlir.deserialize_portable_artifact(artifact)).encode()


def as_bytecode(text: bytes) -> bytes:
    """A module in MLIR's bytecode, of the dialect StableHLO itself."""
    with artifact_process.make_context([]), ir.Location.unknown():
        written = io.BytesIO()
        ir.Module.parse(text.decode()).operation.write_bytecode(written)
        return written.getvalue()


def outcome(content: bytes, process: _process.ModuleProcess) -> str:
    """What becomes of a file: "refused", "uncallable", "uncompilable" or "compiled"; anything else is an error."""
    try:
        function = _load.read(content, "file", process)
    except FormatError:
        return "refused"
    sizes = dict.fromkeys(function.dimensions, 3)
    try:
        arguments = function._in_tree.build(
            iter(
                [
                    aio.ShapeDtype([n if isinstance(n, int) else sizes.get(n, 6) for n in kind.shape], kind.dtype)
                    for kind in function._in_types
                ]
            )
        )
        lowered = function.lower(*arguments[0], **arguments[1])
    except (ValueError, TypeError):
        return "uncallable"
    try:
        asyncio.run(lowered.compile())
    except CompileError:
        return "uncompilable"
    return "compiled"


def run(kind: str, first: int, last: int, report: bool = False) -> collections.Counter[str]:
    """The outcomes of mutations number ``first`` to ``last``; with ``report``, printed now and then."""
    files = originals(kind)
    outcomes: collections.Counter[str] = collections.Counter()
    with _process.ModuleProcess(100_000) as process:
        for number in range(first, last):
            draw = random.Random(f"{kind} {number}")
            try:
                outcomes[outcome(damaged(draw.choice(files), draw), process)] += 1
            except Exception as error:
                error.add_note(f"{kind}, mutation {number}")
                raise
            if report and (number % REPORT == REPORT - 1 or number == last - 1):
                print(number + 1, dict(outcomes), flush=True)
                outcomes.clear()
    return outcomes


def supervise(kind: str, first: int, last: int) -> None:
    """Mutations number ``first`` to ``last``, in processes that may die."""
    outcomes: collections.Counter[str] = collections.Counter()
    done, deaths, begin = first, [], time.monotonic()
    command = [sys.executable, "-m", "tests.export.fuzz", "--run", kind]
    while done < last:
        child = subprocess.Popen([*command, str(done), str(last)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for line in child.stdout:
            number, _, found = line.partition(" ")
            done = int(number)
            outcomes.update(eval(found))
        if child.wait() != 0:
            # Somewhere in those that were to follow: go through them one by one.
            for number in range(done, min(done + REPORT, last)):
                single = subprocess.run(
                    [*command, str(number), str(number + 1)], stdout=subprocess.PIPE, text=True, check=False
                )
                if single.returncode:
                    deaths.append((number, single.returncode))
                    print(f"{kind}: mutation {number} ended with {single.returncode}", flush=True)
                else:
                    outcomes.update(eval(single.stdout.partition(" ")[2]))
            done = min(done + REPORT, last)
    print(
        f"{kind}: {last - first} in {time.monotonic() - begin:.0f} s: {dict(outcomes)}; processes that died: {deaths}",
        flush=True,
    )


if __name__ == "__main__":
    _process.SECONDS = 2.0
    _process._PROGRAM = str(Path(__file__).with_name("forking_reader.py"))
    if sys.argv[1] == "--run":
        run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), report=True)
    else:
        for each in sys.argv[2:] or KINDS:
            supervise(each, 0, int(sys.argv[1]))
