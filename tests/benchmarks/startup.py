"""From the start of a process to the end of an import, to a first sum, to a first result of a jitted network.

Each sample is a process of its own, its start and end included; the libraries' processes take turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ._contenders import available
from ._machine import ROOT
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

OURS = "import numpy as np\nimport aioarray as xp\njit = xp.jit\n"
JAX = "import numpy as np\nimport jax\nimport jax.numpy as xp\njit = jax.jit\n"
FIRST_SUM = """
a = xp.asarray(np.ones((4, 4), np.float32))
print(float(np.asarray(a + a)[1, 2]))
"""
FIRST_NETWORK = """
def network(parameters, x):
    hidden = xp.maximum(x @ parameters["w1"] + parameters["b1"], 0.0)
    return hidden @ parameters["w2"] + parameters["b2"]

def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)

parameters = {"w1": normal(784, 128), "b1": normal(128), "w2": normal(128, 10), "b2": normal(10)}
print(float(np.asarray(jit(network)(parameters, normal(32, 784)))[3, 4]))
"""


def seconds(program: str, variables: Mapping[str, str]) -> float:
    # Like that of what is installed, the byte code of the checkout is there: the round that warms up writes it.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT), **variables},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def starting(program: str, variables: Mapping[str, str]) -> Callable[[], float]:
    """A contender: seconds of a process that runs ``program``."""
    return lambda: seconds(program, variables)


def rows(settings: Settings) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows(Path(folder), available("jax"))


def _rows(folder: Path, has_jax: bool) -> Iterator[Row]:
    plain = {"PYTHONPYCACHEPREFIX": str(folder / "byte code")}
    folder.chmod(0o700)
    mine = {**plain, "AIOARRAY_CACHE_DIR": str(folder / "ours")}
    theirs = {
        **plain,
        "JAX_COMPILATION_CACHE_DIR": str(folder / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    yield Row(
        "import",
        present(
            aioarray=starting("import aioarray", plain),
            jax=starting("import jax.numpy", plain) if has_jax else None,
            bare=starting("import numpy, jaxlib.xla_client", plain),
        ),
        {"": Metric("s", (Target(0.4, "jax"),))},
        rounds=9,
        note="bare: numpy and jaxlib alone, which both libraries stand on",
    )
    for name, body in {"first a + b": FIRST_SUM, "first network": FIRST_NETWORK}.items():
        yield Row(
            f"{name}, no caches",
            present(aioarray=starting(OURS + body, plain), jax=starting(JAX + body, plain) if has_jax else None),
            {"": Metric("s", (Target(1.0, "jax"),))},
            rounds=5,
        )
        yield Row(  # the round that warms up also fills the caches
            f"{name}, warm caches on disk",
            present(aioarray=starting(OURS + body, mine), jax=starting(JAX + body, theirs) if has_jax else None),
            {"": Metric("s", (Target(0.5, "jax"),))},
            rounds=5,
        )


BENCHMARK = Benchmark("Start of a process", rows, beside=("jax",), apart=False)
