"""From the start of a process to the first result of a jitted network, beside JAX: with and without a cache on disk.

    python tests/benchmarks/jit_cold_start.py [interpreter with jax]

needs `jax` installed, here or for the other interpreter: jaxlib imports `jax` at the first host read wherever it can,
which is not what a user without `jax` waits for. Prints medians in milliseconds of five fresh processes, imports
included; the processes of the two libraries take turns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5

NETWORK = """
def network(parameters, x):
    hidden = xp.maximum(x @ parameters["w1"] + parameters["b1"], 0.0)
    return hidden @ parameters["w2"] + parameters["b2"]

def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)

parameters = {"w1": normal(784, 128), "b1": normal(128), "w2": normal(128, 10), "b2": normal(10)}
x = normal(32, 784)
print(float(np.asarray(jit(network)(parameters, x))[3, 4]))
"""
OURS = "import numpy as np\nimport aioarray as xp\njit = xp.jit\n" + NETWORK
JAX = "import numpy as np\nimport jax\nimport jax.numpy as xp\njit = jax.jit\n" + NETWORK


def seconds(program: str, environment: dict[str, str]) -> float:
    interpreter = sys.argv[1] if program is JAX and len(sys.argv) > 1 else sys.executable
    start = time.perf_counter()
    subprocess.run(
        [interpreter, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def compare(name: str, ours: dict[str, str], theirs: dict[str, str]) -> None:
    mine, others = [], []
    for _ in range(ROUNDS):
        mine.append(seconds(OURS, ours))
        others.append(seconds(JAX, theirs))
    a, b = statistics.median(mine) * 1e3, statistics.median(others) * 1e3
    print(f"{name:18}{a:9.0f}{b:9.0f}{a / b:7.2f}")


def main() -> None:
    print(f"{'':18}{'aioarray':>9}{'jax':>9}{'ratio':>7}")
    compare("no cache", {}, {})
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o700)
        ours = {"AIOARRAY_CACHE_DIR": os.path.join(directory, "ours")}
        theirs = {
            "JAX_COMPILATION_CACHE_DIR": os.path.join(directory, "theirs"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        seconds(OURS, ours)
        seconds(JAX, theirs)
        compare("warm cache on disk", ours, theirs)


if __name__ == "__main__":
    main()
