"""Many shapes through one jitted function with the default limits: does the process grow?

python tests/benchmarks/compile_memory.py [count]
"""

from __future__ import annotations

import gc
import sys
import time

import numpy as np

import aioarray as aio


def resident_megabytes() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def main(count: int) -> None:
    function = aio.jit(lambda x: x * 2 + 1)
    start = time.perf_counter()
    for number in range(1, count + 1):
        function(np.ones(number, np.float32)).block_until_ready()
        if number % (count // 20) == 0:
            gc.collect()
            stats = aio.compile_cache.stats()
            print(
                f"{number:7} shapes {resident_megabytes():8.1f} MB, {stats['entries']} programs, "
                f"{stats['evicted']} evicted, "
                f"{stats['bytes'] / 1e6:.0f} MB counted, {time.perf_counter() - start:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
