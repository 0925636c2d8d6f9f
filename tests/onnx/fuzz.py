"""Loads and traces damaged models: each has to be refused, or be a program.

    python -m tests.onnx.fuzz 100000

damages the models of ONNX's own tests so many times, in processes of their own, and says what became of them, how many
processes died or hung, and how much memory the largest took.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import random
import resource
import subprocess
import sys
import time

import aioarray as aio
from aioarray.errors import FormatError, TracedValueError
from tests.onnx.conformance import cases
from tests.support.damage import damaged

# Mutations for one process, and how long it may take.
BATCH = 500
SECONDS = 300.0


@functools.cache
def originals() -> list[bytes]:
    """Models, undamaged: those of ONNX's tests of operators that are not too large."""
    files = [case.model.SerializeToString() for case in cases(("node",)) if case.excluded is None]
    return [file for file in files if len(file) < 5000]


def outcome(content: bytes) -> str:
    """What becomes of a file: "refused", "wrong at the call", "needs values" or "a program"; others are errors."""
    try:
        model = aio.onnx.load_sync(content)
    except FormatError:
        return "refused"
    try:
        shapes = {info.name: model._shape(info, dict.fromkeys(model.dimensions, 2)) for info in model.inputs}
        model._jit.lower(shapes, ())
    except (ValueError, TypeError, IndexError, OverflowError, NotImplementedError):
        return "wrong at the call"
    except TracedValueError:
        return "needs values"
    except Exception as error:
        if type(error).__name__ == "NeedsValue":
            return "needs values"
        raise
    return "a program"


def run(first: int, last: int) -> collections.Counter[str]:
    """What becomes of the mutations with these numbers."""
    outcomes: collections.Counter[str] = collections.Counter()
    files = originals()
    for number in range(first, last):
        draw = random.Random(number)
        try:
            outcomes[outcome(damaged(draw.choice(files), draw))] += 1
        except Exception as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}") from error
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.onnx.fuzz", description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--worker", action="store_true", help="go through the mutations in this process")
    options = parser.parse_args()
    first, last = options.first, options.first + options.count
    if options.worker:
        outcomes = run(first, last)
        print(json.dumps({**outcomes, "kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
        return 0
    total: collections.Counter[str] = collections.Counter()
    largest, bad, start = 0, 0, time.monotonic()
    for begin in range(first, last, BATCH):
        count = min(BATCH, last - begin)
        command = [sys.executable, "-m", "tests.onnx.fuzz", str(count), "--first", str(begin), "--worker"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            bad += 1
            print(f"hung in {begin} to {begin + count}", flush=True)
            continue
        if done.returncode:
            bad += 1
            print(f"died in {begin} to {begin + count}: {done.returncode}: {done.stderr[-500:]}", flush=True)
            continue
        result = json.loads(done.stdout.splitlines()[-1])
        largest = max(largest, result.pop("kilobytes"))
        total.update(result)
    print(f"{dict(total)}; {bad} processes died or hung; at most {largest >> 10} MiB; {time.monotonic() - start:.0f} s")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
