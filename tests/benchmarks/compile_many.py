"""Many different programs asked for at once from an event loop: how late the loop is, and how busy the cores are.

python tests/benchmarks/compile_many.py [count]
"""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from typing import Any

import numpy as np

import aioarray as aio


def make(number: int) -> Any:
    def function(x: Any) -> Any:
        for layer in range(4):
            x = aio.tanh(x @ x + float(number * 10 + layer))
        return x

    return aio.jit(function)


def processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main(count: int) -> None:
    x = await (aio.ones((16, 16)) * 1)
    functions = [make(number) for number in range(count)]
    late: list[float] = []

    async def measure() -> None:
        before = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            late.append(now - before - 0.001)
            before = now

    measuring = asyncio.create_task(measure())
    await asyncio.sleep(0.1)
    late.clear()
    compiles = aio.compile_cache.stats()["compiles"]
    start, busy = time.perf_counter(), processor_seconds()
    results = []
    for function in functions:
        results.append(function(x))
        await asyncio.sleep(0)
    enqueued = time.perf_counter() - start
    await aio.ready(results)
    seconds = time.perf_counter() - start
    measuring.cancel()
    quantiles = [float(np.quantile(late, q)) * 1e3 for q in (0.5, 0.99, 1.0)]
    print(f"{count} programs: enqueued in {enqueued:.2f} s, ready after {seconds:.2f} s")
    count = aio.compile_cache.stats()["compiles"] - compiles
    print(f"compiled {count}, cores busy {(processor_seconds() - busy) / seconds:.2f}")
    print("lag p50 {:.2f} ms, p99 {:.2f} ms, largest {:.2f} ms".format(*quantiles))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
