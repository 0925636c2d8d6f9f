"""Every public function, operator, index and kind of operand, small and large: is NumPy or JAX anywhere quicker?

At 4×4 a call is not waited for, and is held against JAX's. At size its result is, and is held against both.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._calls import SMALL, Call, arguments, calls
from ._contenders import ONLY, load
from ._model import OURS, Benchmark, Metric, Row, Settings, Target, present, repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 1.25


def libraries() -> dict[str, dict[str, Any]]:
    """What expressions name besides their arguments, for each library of this process."""
    jax = load("jax")
    found: dict[str, dict[str, Any]] = {}
    if os.environ.get(ONLY, OURS) == OURS:
        key = aio.random.key(0)
        found[OURS] = {"xp": aio, "nn": aio.nn, "random": aio.random, "key": key, "array": aio.asarray}
    if jax is not None:
        jnp = load("jax", "numpy")
        key = jax.random.key(0)
        found["jax"] = {"xp": jnp, "nn": jax.nn, "random": jax.random, "key": key, "array": jnp.asarray}
    if load("numpy") is not None:
        found["numpy"] = {"xp": np, "array": np.asarray}
    return found


def contender(call: Call, size: str, library: str, names: dict[str, Any]) -> Callable[[], object] | None:
    """``call`` for a library; None where it has no such function or does not take such arguments."""
    code = call.code()
    variables = {**names, **arguments(size, names["array"])}

    def plain() -> object:
        return eval(code, variables)

    wait = {OURS: aio.block_until_ready, "jax": _wait_for_jax}.get(library)
    if size == SMALL or wait is None:
        chosen = plain
    else:

        def chosen() -> object:
            return wait(plain())

    if library != OURS:
        with contextlib.suppress(AttributeError, TypeError, ValueError, NotImplementedError):
            chosen()
            return chosen
        return None
    return chosen


def _wait_for_jax(x: Any) -> Any:
    return load("jax").block_until_ready(x)


def rows(settings: Settings) -> Iterator[Row]:
    names = libraries()
    for name, call in calls().items():
        for size in call.sizes[: 1 if settings.quick else None]:
            found = {library: contender(call, size, library, values) for library, values in names.items()}
            seconds = 2e-3 if size == SMALL else 1e-2
            against = ("jax",) if size == SMALL else ("jax", "numpy")
            yield Row(
                f"{name}, {size}",
                present(**{library: repeated(run, seconds) if run else None for library, run in found.items()}),
                {"": Metric("s", tuple(Target(LIMIT, other) for other in against))},
                rounds=7,
            )


BENCHMARK = Benchmark(
    "Every function, operator and index, beside JAX and NumPy",
    rows,
    beside=("jax", "numpy"),
    means=(Target(1.0, "jax"), Target(1.0, "numpy")),
)
