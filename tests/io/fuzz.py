"""Reads damaged safetensors files: each has to be refused with a FormatError, or give tensors that lie in the file.

    python -m tests.io.fuzz 100000 [kind …]

damages files of each kind so many times and counts what becomes of them. The tests do the same with fewer.
"""

from __future__ import annotations

import collections
import json
import random
import re
import sys
import tempfile
import time
from pathlib import Path

import ml_dtypes
import numpy as np

import aioarray as aio
from aioarray.errors import FormatError
from tests.io.files import file_bytes
from tests.support.damage import damaged

# "bytes": anywhere in the file. "header": in the JSON, with the length before it put right. "numbers": one of the
# header's numbers, or several, is another. "index": in the file that says which tensor is in which file.
KINDS = ("bytes", "header", "numbers", "index")
NUMBERS = (0, 1, 2, 3, 7, 8, 127, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, -1)
INDEX = {"metadata": {"total_size": 40}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}


def original(folder: Path) -> bytes:
    """A file with tensors of many dtypes, empty and scalar ones, metadata, and the note of dtypes."""
    path = folder / "original.safetensors"
    tensors = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "half": np.ones(5, ml_dtypes.bfloat16),
        "bits": np.array([1, -2, 3], ml_dtypes.int4),
        "flags": np.array([True, False]),
        "pair": np.array([1 + 2j]),
        "none": np.zeros((0, 4), np.int64),
        "scalar": np.array(7, np.uint8),
        "f8": np.ones((2, 2), ml_dtypes.float8_e4m3fn),
    }
    aio.io.save_safetensors(path, tensors, metadata={"step": "7"})
    return path.read_bytes()


def mutation(kind: str, content: bytes, draw: random.Random) -> bytes:
    """``content`` damaged as ``kind`` says."""
    if kind == "bytes":
        return damaged(content, draw)
    length = int.from_bytes(content[:8], "little")
    header, data = content[8 : 8 + length], content[8 + length :]
    if kind == "header":
        return file_bytes(damaged(header, draw), data)
    places = list(re.finditer(rb"\d+", header))
    for place in sorted(draw.sample(places, draw.choice((1, 1, 2, 3))), key=lambda place: -place.start()):
        number = draw.choice((*NUMBERS, int(place[0]) + draw.choice((-1, 1, 8))))
        header = header[: place.start()] + str(number).encode() + header[place.end() :]
    return file_bytes(header, data)


def outcome(path: Path, memory_map: bool) -> str:
    """What becomes of a file: "refused" or "read"; anything else is an error."""
    size = sum(file.stat().st_size for file in path.parent.glob("*.safetensors"))
    try:
        with aio.io.open_safetensors(path, memory_map=memory_map) as reader:
            tensors = {name: reader.read(name) for name in reader.specs}
    except FormatError:
        return "refused"
    total = 0
    for name, x in tensors.items():
        spec = reader.specs[name]
        assert (x.shape, x.dtype) == (spec.shape, spec.dtype)
        total += np.asarray(x).nbytes
    assert total <= size
    return "read"


def run(kind: str, first: int, last: int) -> collections.Counter[str]:
    """The outcomes of mutations number ``first`` to ``last``."""
    outcomes: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content = original(folder)
        (folder / "original.safetensors").unlink()
        if kind == "index":
            content = json.dumps(INDEX).encode()
            for file, tensor in (("one", "a"), ("two", "b")):
                aio.io.save_safetensors(folder / f"{file}.safetensors", {tensor: np.ones(5, np.float32)})
        path = folder / ("model.safetensors.index.json" if kind == "index" else "model.safetensors")
        for number in range(first, last):
            draw = random.Random(f"{kind} {number}")
            path.write_bytes(damaged(content, draw) if kind == "index" else mutation(kind, content, draw))
            try:
                outcomes[outcome(path, memory_map=number % 2 == 1)] += 1
            except Exception as error:
                error.add_note(f"{kind}, mutation {number}")
                raise
    return outcomes


if __name__ == "__main__":
    count = int(sys.argv[1])
    for each in sys.argv[2:] or KINDS:
        begin = time.monotonic()
        print(f"{each}: {count} in ", end="", flush=True)
        found = dict(run(each, 0, count))
        print(f"{time.monotonic() - begin:.0f} s: {found}", flush=True)
