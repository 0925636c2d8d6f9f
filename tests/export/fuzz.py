"""Loads damaged files: each has to be refused with a FormatError, or be a program that compiles or is refused by XLA.

    python tests/export/fuzz.py 100000

mutates files of each kind so many times, in a process of its own that is started anew where it dies, and says how often
that was. The tests do the same with fewer.
"""

from __future__ import annotations

import asyncio
import collections
import random
import subprocess
import sys
import time
from pathlib import Path

import aioarray as aio
from aioarray.errors import CompileError, FormatError
from aioarray.export import _container, _load, _process

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


def originals(kind: str) -> list[bytes]:
    """Files of a kind, undamaged."""
    if kind == "text":
        return [TEXT]
    files = [(DATA / f"{name}.jax").read_bytes() for name in NAMES]
    if kind == "jax.export":
        return files
    return [_container.decode(file, "original").module for file in files]


KINDS = ("jax.export", "artifact", "text")


def damaged(content: bytes, draw: random.Random) -> bytes:
    """``content`` with some bytes changed, put in or left out, or cut off."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        place = draw.randrange(len(changed))
        kind = draw.randrange(7)
        if kind == 0:
            changed[place] = draw.randrange(256)
        elif kind in (1, 2):
            changed[place] ^= 1 << draw.randrange(8)
        elif kind == 3:
            changed[place:place] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 5)))
        elif kind == 4 and len(changed) > 8:
            del changed[place : place + draw.randrange(1, 5)]
        elif kind == 5:
            start = draw.randrange(len(changed))
            changed[place : place + 8] = changed[start : start + 8]
        elif draw.random() < 0.2:
            del changed[max(1, place) :]
    return bytes(changed)


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


def run(kind: str, first: int, last: int) -> collections.Counter[str]:
    """The outcomes of mutations number ``first`` to ``last``."""
    files = originals(kind)
    outcomes: collections.Counter[str] = collections.Counter()
    with _process.ModuleProcess(100_000) as process:
        for number in range(first, last):
            draw = random.Random(f"{kind} {number}")
            outcomes[outcome(damaged(draw.choice(files), draw), process)] += 1
            if number % 100 == 99:
                print(number + 1, dict(outcomes), flush=True)
                outcomes.clear()
    return outcomes


def supervise(kind: str, count: int) -> None:
    """``count`` mutations in processes that may die."""
    outcomes: collections.Counter[str] = collections.Counter()
    done, deaths, begin = 0, [], time.monotonic()
    while done < count:
        child = subprocess.Popen(
            [sys.executable, __file__, kind, str(done), str(count)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for line in child.stdout:
            number, _, found = line.partition(" ")
            done = int(number)
            outcomes.update(eval(found))
        if child.wait() != 0:
            # Somewhere in the hundred that follows: go through them one by one.
            for number in range(done, min(done + 100, count)):
                single = subprocess.run([sys.executable, __file__, kind, str(number), str(number + 1)], check=False)
                if single.returncode:
                    deaths.append((number, single.returncode))
            done = min(done + 100, count)
    print(f"{kind}: {count} in {time.monotonic() - begin:.0f} s: {dict(outcomes)}; processes that died: {deaths}")


if __name__ == "__main__":
    _process.SECONDS = 2.0
    if len(sys.argv) == 4:
        run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        for each in KINDS:
            supervise(each, int(sys.argv[1]))
