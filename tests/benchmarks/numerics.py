"""Functions whose time is in their algorithm: random numbers, sorting, Fourier transforms, equations, attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import load
from ._model import Benchmark, Metric, Row, Settings, Target, present, repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTES = {
    "random.uniform": "NumPy's generator goes on from one state; threefry makes each number from its index",
    "sort": "NumPy sorts with vector instructions, XLA with comparisons one by one",
}


def attention(xp: Any, softmax: Callable[..., Any], q: Any, k: Any, v: Any) -> Any:
    scores = xp.einsum("bqhd,bkhd->bhqk", q, k) * 0.125
    return xp.einsum("bhqk,bkhd->bqhd", softmax(scores, -1), v)


def numpy_softmax(x: Any, axis: int) -> Any:
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def inputs(settings: Settings) -> dict[str, tuple[np.ndarray, ...]]:
    generator = np.random.default_rng(0)
    count, size, length = (1000, 16, 8) if settings.quick else (1_000_000, 512, 128)

    def normal(*shape: int) -> np.ndarray:
        return generator.normal(size=shape).astype(np.float32)

    return {
        "random.uniform": (np.zeros(count, np.float32),),
        "sort": (normal(count),),
        "fft": ((normal(1 << 16) + 1j * normal(1 << 16)).astype(np.complex64),),
        "linalg.solve": (normal(size, size), normal(size, 8)),
        "einsum attention": (normal(2, length, 8, 64), normal(2, length, 8, 64), normal(2, length, 8, 64)),
    }


def ours(name: str, x: tuple[Any, ...]) -> Callable[[], Any]:
    key = aio.random.key(0)
    shape = x[0].shape
    calls: dict[str, Callable[[], Any]] = {
        "random.uniform": lambda: aio.random.uniform(key, shape),
        "sort": lambda: aio.sort(x[0]),
        "fft": lambda: aio.fft.fft(x[0]),
        "linalg.solve": lambda: aio.linalg.solve(*x),
        "einsum attention": lambda: attention(aio, lambda s, axis: aio.nn.softmax(s, axis=axis), *x),
    }
    return lambda call=calls[name]: call().block_until_ready()  # type: ignore[misc]


def of_jax(jax: Any, jnp: Any, name: str, x: tuple[Any, ...]) -> Callable[[], Any]:
    key = jax.random.key(0)
    shape = x[0].shape
    calls: dict[str, Callable[[], Any]] = {
        "random.uniform": lambda: jax.random.uniform(key, shape),
        "sort": lambda: jnp.sort(x[0]),
        "fft": lambda: jnp.fft.fft(x[0]),
        "linalg.solve": lambda: jnp.linalg.solve(*x),
        "einsum attention": lambda: attention(jnp, jax.nn.softmax, *x),
    }
    return lambda call=calls[name]: call().block_until_ready()  # type: ignore[misc]


def of_numpy(name: str, x: tuple[Any, ...]) -> Callable[[], Any]:
    generator = np.random.default_rng(0)
    calls: dict[str, Callable[[], Any]] = {
        "random.uniform": lambda: generator.random(x[0].shape, np.float32),
        "sort": lambda: np.sort(x[0]),
        "fft": lambda: np.fft.fft(x[0]),
        "linalg.solve": lambda: np.linalg.solve(*x),
        "einsum attention": lambda: attention(np, numpy_softmax, *x),
    }
    return calls[name]


def of_torch(torch: Any, name: str, x: tuple[Any, ...]) -> Callable[[], Any]:
    calls: dict[str, Callable[[], Any]] = {
        "random.uniform": lambda: torch.rand(x[0].shape),
        "sort": lambda: torch.sort(x[0]),
        "fft": lambda: torch.fft.fft(x[0]),
        "linalg.solve": lambda: torch.linalg.solve(*x),
        "einsum attention": lambda: attention(torch, torch.softmax, *x),
    }
    return calls[name]


def rows(settings: Settings) -> Iterator[Row]:
    jax, jnp, torch = load("jax"), load("jax", "numpy"), load("torch")
    for name, host in inputs(settings).items():
        yield Row(
            name,
            present(
                aioarray=repeated(ours(name, tuple(map(aio.asarray, host))), 0.05),
                jax=repeated(of_jax(jax, jnp, name, tuple(map(jnp.asarray, host))), 0.05) if jax else None,
                numpy=repeated(of_numpy(name, host), 0.05) if load("numpy") else None,
                torch=repeated(of_torch(torch, name, tuple(map(torch.asarray, host))), 0.05) if torch else None,
            ),
            {"": Metric("s", (Target(1.0, "jax"),))},
            rounds=11,
            note=NOTES.get(name, ""),
        )


BENCHMARK = Benchmark("Numerical functions", rows, beside=("jax", "numpy", "torch"))
