"""Eager operations on 4×4 numbers: what a call costs, beside JAX and beside the least that jaxlib can take for it.

The calls are not waited for: programs as small as these are over when the call returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio

from . import _operations
from ._contenders import limit, load
from ._model import Benchmark, Metric, Row, Settings, Target, present, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

EACH = (Target(1.25, "jax"), Target(1.4, "limit"))
# JAX takes a slice as a new array of its own only where it must; these are dispatched by C++ code there.
TIGHTER = {"a + b": (Target(0.9, "jax"), Target(1.4, "limit"))}

OPERAND = "one program of ours serves all numbers, which it takes as an operand; in the limit's it is a constant"
NOTES = {"a * 2": OPERAND, "a[0]": OPERAND}


def rows(settings: Settings) -> Iterator[Row]:
    jax, jnp, torch = load("jax"), load("jax", "numpy"), load("torch")
    a, b = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), np.full((4, 4), 2, np.float32)
    host = a, b, a > 0
    arrays = [aio.asarray(x) for x in host]
    ours = _operations.ours(*arrays)
    jaxs = _operations.of_jax(jax, jnp, *map(jnp.asarray, host)) if jax else {}
    torchs = _operations.of_torch(torch, *map(torch.asarray, host)) if torch else {}
    for name, call in ours.items():
        function = _operations.FUNCTIONS[name]
        used = _operations.ARGUMENTS.get(name, "a")
        places = [letter in used for letter in "abm"]

        def of_used(*given: object, function=function, places=places) -> object:  # type: ignore[no-untyped-def]
            values = iter(given)
            return function(*(next(values) if place else None for place in places))

        taken = [x for x, place in zip(arrays, places, strict=True) if place]
        yield Row(
            name,
            present(
                aioarray=repeated(call),
                jax=repeated(jaxs[name]) if jaxs else None,
                limit=repeated(limit(of_used, *taken)),
                torch=repeated(torchs[name]) if torchs else None,
            ),
            {"": Metric("s", TIGHTER.get(name, EACH))},
            rounds=31,
            note=NOTES.get(name, ""),
        )


BENCHMARK = Benchmark(
    "Eager operations on 4×4 float32, one call",
    rows,
    beside=("jax", "torch"),
    means=(Target(0.5, "jax"), Target(1.4, "limit")),
)
