"""The same operations on 1024×1024 numbers, each waited for: what counts is the program that XLA makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from . import _operations
from ._contenders import load
from ._model import Benchmark, Metric, Row, Settings, Target, present, repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ELSEWHERE = "XLA copies in the thread that calls it, where JAX's caller waits; ours hands that to another thread"
NOTES = {
    "reshape": f"{ELSEWHERE}; NumPy's is a view",
    "concat": ELSEWHERE,
    "stack": ELSEWHERE,
    "a[0]": "NumPy's is a view",
    "a[1:3]": "NumPy's is a view",
}


def waited(call: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: call().block_until_ready()


def rows(settings: Settings) -> Iterator[Row]:
    jax, jnp, torch = load("jax"), load("jax", "numpy"), load("torch")
    size = 64 if settings.quick else 1024
    a = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    host = a, a.T.copy(), a > 0
    ours = _operations.ours(*map(aio.asarray, host))
    jaxs = _operations.of_jax(jax, jnp, *map(jnp.asarray, host)) if jax else {}
    numpys = _operations.of_numpy(np, *host) if load("numpy") else {}
    torchs = _operations.of_torch(torch, *map(torch.asarray, host)) if torch else {}
    for name, call in ours.items():
        yield Row(
            name,
            present(
                aioarray=repeated(waited(call), 0.02),
                jax=repeated(waited(jaxs[name]), 0.02) if jaxs else None,
                numpy=repeated(numpys[name], 0.02) if numpys else None,
                torch=repeated(torchs[name], 0.02) if torchs else None,
            ),
            {"": Metric("s", (Target(1.0, "jax"),))},
            rounds=21,
            note=NOTES.get(name, ""),
        )


BENCHMARK = Benchmark(
    "Eager operations on 1024×1024 float32, waited for",
    rows,
    beside=("jax", "numpy", "torch"),
    means=(Target(1.0, "jax"),),
)
