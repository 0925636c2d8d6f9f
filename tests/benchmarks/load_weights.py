"""Loading a safetensors file of a gigabyte: how late the event loop is meanwhile, and how much memory it takes.

    python tests/benchmarks/load_weights.py [gigabytes]

Each way of loading is measured in a process of its own: the lag of a coroutine that sleeps a millisecond at a time, and
the largest resident memory, less what there was before, divided by the size of the tensors. Needs Linux, which tells
the largest resident memory.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import aioarray as aio

TICK_SECONDS = 1e-3
# As of a language model: many matrices of some megabytes, a large one, and vectors.
LARGE = (50_000, 1024)
MATRIX = (1024, 4096)
VECTOR = (1024,)
WAYS = ("load_safetensors_async", "load_safetensors_async, memory_map", "read_async, one after another")


def write(path: Path, gigabytes: float) -> None:
    draw = np.random.default_rng(0)
    tensors = {"embedding": draw.random(LARGE, np.float32)}
    size = tensors["embedding"].nbytes
    while size < gigabytes * 1e9:
        i = len(tensors)
        tensors |= {f"{i}.weight": draw.random(MATRIX, np.float32), f"{i}.bias": draw.random(VECTOR, np.float32)}
        size += tensors[f"{i}.weight"].nbytes
    aio.io.save_safetensors(path, tensors)


def largest_resident_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


async def tick(late: list[float]) -> None:
    before = time.perf_counter()
    while True:
        await asyncio.sleep(TICK_SECONDS)
        now = time.perf_counter()
        late.append(now - before - TICK_SECONDS)
        before = now


async def load(path: Path, way: str) -> dict[str, aio.Array]:
    if way.startswith("read_async"):
        with aio.io.open_safetensors(path) as reader:
            return {name: await reader.read_async(name) for name in reader}
    return await aio.io.load_safetensors_async(path, memory_map="memory_map" in way)


async def measure(path: Path, way: str) -> dict[str, float]:
    await aio.ones(8)  # the client and its threads are there
    before = largest_resident_bytes()
    late: list[float] = []
    ticking = asyncio.create_task(tick(late))
    start = time.perf_counter()
    tensors = await load(path, way)
    # Whatever is mapped is read now, too.
    total = await aio.stack([aio.sum(x) for x in tensors.values()]).to_host()
    seconds = time.perf_counter() - start
    ticking.cancel()
    assert np.isfinite(total).all()
    size = sum(x.nbytes for x in tensors.values())
    return {
        "seconds": seconds,
        "memory": (largest_resident_bytes() - before) / size,
        "p50": float(np.quantile(late, 0.5)) * 1e3,
        "p99": float(np.quantile(late, 0.99)) * 1e3,
        "max": max(late) * 1e3,
    }


def main(gigabytes: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.safetensors"
        write(path, gigabytes)
        print(f"{path.stat().st_size / 1e9:.2f} GB")
        print(f"{'':36}{'time':>8}{'memory':>9}{'lag p50':>10}{'p99':>10}{'max':>10}")
        for way in WAYS:
            done = subprocess.run([sys.executable, __file__, path, way], check=True, stdout=subprocess.PIPE, text=True)
            figures = json.loads(done.stdout)
            print(
                f"{way:36}{figures['seconds']:6.2f} s{figures['memory']:9.3f}"
                + "".join(f"{figures[name]:7.2f} ms" for name in ("p50", "p99", "max"))
            )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), sys.argv[2]))))
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
