"""Warm calls of a jitted network: of the call alone, and until the result is there."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import load
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALLS = 100
NOTES = {
    "4 leaves, 32×784": "17 to 30 µs are jaxlib's own, by how soon after the last result it wakes XLA's threads",
}


def one_leaf(xp: Any) -> Callable[[Any, Any], Any]:
    return lambda w, x: xp.tanh(xp.maximum(x @ w, 0.0) @ w)


def two_layers(xp: Any) -> Callable[[Any, Any], Any]:
    def apply(parameters: Any, x: Any) -> Any:
        hidden = xp.maximum(x @ parameters["w1"] + parameters["b1"], 0.0)
        return hidden @ parameters["w2"] + parameters["b2"]

    return apply


def deep(xp: Any) -> Callable[[Any, Any], Any]:
    def apply(parameters: Any, x: Any) -> Any:
        for layer in parameters:
            x = xp.tanh(x @ layer["w"] + layer["b"])
        return x

    return apply


def networks() -> dict[str, tuple[Callable[[Any], Callable[..., Any]], Any, Any]]:
    """(network, parameters, input) by name."""
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return generator.normal(size=shape).astype(np.float32) * 0.1

    mlp = {"w1": normal(784, 128), "b1": normal(128), "w2": normal(128, 10), "b2": normal(10)}
    return {
        "1 leaf, 4×16": (one_leaf, normal(16, 16), normal(4, 16)),
        "4 leaves, 32×784": (two_layers, mlp, normal(32, 784)),
        "100 leaves, 4×16": (deep, [{"w": normal(16, 16), "b": normal(16)} for _ in range(50)], normal(4, 16)),
    }


def mapped(convert: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: mapped(convert, value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [mapped(convert, value) for value in tree]
    return convert(tree)


def calling(jit: Callable[..., Any], parameters: Any, x: Any) -> Callable[[], dict[str, float]]:
    """A contender: medians of many calls, each waited for."""

    def sample() -> dict[str, float]:
        calls, results = [], []
        for _ in range(CALLS):
            start = time.perf_counter()
            result = jit(parameters, x)
            called = time.perf_counter()
            result.block_until_ready()
            results.append(time.perf_counter() - start)
            calls.append(called - start)
        return {"call": median(calls), "result": median(results)}

    return sample


def rows(settings: Settings) -> Iterator[Row]:
    jax, jnp = load("jax"), load("jax", "numpy")
    for name, (network, parameters, x) in networks().items():
        yield Row(
            name,
            present(
                aioarray=calling(aio.jit(network(aio)), mapped(aio.asarray, parameters), aio.asarray(x)),
                jax=calling(jax.jit(network(jnp)), mapped(jnp.asarray, parameters), jnp.asarray(x)) if jax else None,
            ),
            {"call": Metric("s", (Target(1.1, "jax"),)), "result": Metric("s", (Target(1.1, "jax"),))},
            rounds=21,
            note=NOTES.get(name, ""),
        )


BENCHMARK = Benchmark("Calls of a jitted network, warm", rows, beside=("jax",))
