"""How long the warm call of a jitted function takes, beside ``jax.jit`` in the same process, measured alternately.

    python tests/benchmarks/jit_calls.py

needs `jax` installed. Prints medians in microseconds: of the call alone, and until the result is there.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 15
CALLS = 100


def network(xp: Any) -> Callable[[Any, Any], Any]:
    def apply(parameters: Any, x: Any) -> Any:
        hidden = xp.maximum(x @ parameters["w1"] + parameters["b1"], 0.0)
        return hidden @ parameters["w2"] + parameters["b2"]

    return apply


def total(parameters: Any, x: Any) -> Any:
    for value in parameters:
        x = x + value
    return x


def deep(xp: Any) -> Callable[[Any, Any], Any]:
    def apply(parameters: Any, x: Any) -> Any:
        for layer in parameters:
            x = xp.tanh(x @ layer["w"] + layer["b"])
        return x

    return apply


def sample(call: Callable[..., Any], arguments: Any) -> tuple[float, float]:
    start = time.perf_counter()
    result = call(*arguments)
    called = time.perf_counter()
    result.block_until_ready()
    return called - start, time.perf_counter() - start


def cases() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], Any]]:
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray[Any, Any]:
        return generator.normal(size=shape).astype(np.float32)

    two_layers = {"w1": normal(784, 128), "b1": normal(128), "w2": normal(128, 10), "b2": normal(10)}
    hundred = [normal(4) for _ in range(100)]
    fifty = [{"w": normal(16, 16), "b": normal(16)} for _ in range(50)]
    return {
        "32x784 -> 128 -> 10": (network(aio), network(jnp), (two_layers, normal(32, 784))),
        "100 leaves, added": (total, total, (hundred, normal(4))),
        "50 layers of 2 leaves": (deep(aio), deep(jnp), (fifty, normal(4, 16))),
    }


def main() -> None:
    print(f"{'':24}{'call':>9}{'jax':>9}{'ratio':>7}{'done':>11}{'jax':>9}{'ratio':>7}")
    for name, (ours, theirs, arguments) in cases().items():
        mine, other = aio.jit(ours), jax.jit(theirs)
        leaves, structure = jax.tree.flatten(arguments)
        my_arguments = structure.unflatten([aio.asarray(x) for x in leaves])
        other_arguments = structure.unflatten([jnp.asarray(x) for x in leaves])
        np.testing.assert_allclose(
            np.asarray(mine(*my_arguments)), np.asarray(other(*other_arguments)), rtol=1e-4, atol=1e-4
        )
        for _ in range(50):
            sample(mine, my_arguments)
            sample(other, other_arguments)
        figures = []
        for _ in range(ROUNDS):
            first = [sample(mine, my_arguments) for _ in range(CALLS)]
            second = [sample(other, other_arguments) for _ in range(CALLS)]
            figures.append(
                [statistics.median(column) * 1e6 for column in (*zip(*first, strict=True), *zip(*second, strict=True))]
            )
        call, done, jax_call, jax_done = (statistics.median(column) for column in zip(*figures, strict=True))
        ratios = [statistics.median(f[0] / f[2] for f in figures), statistics.median(f[1] / f[3] for f in figures)]
        print(f"{name:24}{call:9.1f}{jax_call:9.1f}{ratios[0]:7.2f}{done:11.1f}{jax_done:9.1f}{ratios[1]:7.2f}")


if __name__ == "__main__":
    main()
