"""Small requests beside heavy work of many kinds: how long they take, from the call to the result, and the slowest."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from ._contenders import by_thread, load, plainly
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Wait = Callable[[Any], Awaitable[Any]]
    # Does one piece of heavy work and waits for it.
    Heavy = Callable[[], Awaitable[object]]

REQUESTS = 400
PAUSE_SECONDS = 2e-3
# No more requests after that.
LONGEST_SECONDS = 8.0
CHAIN = 12
TASKS = (1, 2, 6, 12, 100)


def requesting(
    small: Callable[[], Any], heavy: Heavy, tasks: int, wait: Wait, requests: int
) -> Callable[[], Awaitable[dict[str, float]]]:
    """A contender: latencies of ``small()`` while ``tasks`` tasks do ``heavy()`` again and again."""

    async def working(stop: asyncio.Event, done: list[float]) -> None:
        while not stop.is_set():
            await heavy()
            done.append(time.perf_counter())

    async def sample() -> dict[str, float]:
        for _ in range(4):
            await wait(small())
        stop = asyncio.Event()
        done: list[float] = []
        begun = time.perf_counter()
        works = [asyncio.create_task(working(stop, done)) for _ in range(tasks)]
        await asyncio.sleep(0.1)
        latencies, lags = [], []
        for _ in range(requests):
            if time.perf_counter() > begun + LONGEST_SECONDS:
                break
            start = time.perf_counter()
            await wait(small())
            latencies.append(time.perf_counter() - start)
            start = time.perf_counter()
            await asyncio.sleep(PAUSE_SECONDS)
            lags.append(time.perf_counter() - start - PAUSE_SECONDS)
        stop.set()
        await asyncio.gather(*works)
        seconds = time.perf_counter() - begun
        return {
            "p50": float(np.quantile(latencies, 0.5)),
            "p99": float(np.quantile(latencies, 0.99)),
            "max": max(latencies),
            "lag p99": float(np.quantile(lags, 0.99)),
            "heavy work/s": len(done) / seconds,
        }

    return sample


def chains(xp: Any, size: int, wait: Wait) -> Heavy:
    """Chained products: the result of each is awaited at the end of the chain."""
    matrix = xp.asarray(np.full((size, size), 1 / size, np.float32))

    async def heavy() -> None:
        x = matrix
        for _ in range(CHAIN):
            x = x @ matrix
        await wait(x)

    return heavy


def elementwise(xp: Any, size: int, wait: Wait) -> Heavy:
    vector = xp.asarray(np.linspace(0, 1, size, dtype=np.float32))

    async def heavy() -> None:
        await wait(xp.tanh(xp.sin(vector)))

    return heavy


def sorts(xp: Any, size: int, wait: Wait) -> Heavy:
    vector = xp.asarray(np.random.default_rng(0).random(size, np.float32))

    async def heavy() -> None:
        await wait(xp.sort(vector))

    return heavy


def compiles(xp: Any, jit: Any, wait: Wait, count: int = 20) -> Heavy:
    """Programs that were never compiled, ``count`` at a time."""
    vector = xp.asarray(np.ones(64, np.float32))
    number = 0

    async def heavy() -> None:
        nonlocal number
        results = []
        for _ in range(count):
            number += 1
            results.append(jit(lambda x, n=number: xp.sin(x * n) + xp.sum(x) * (n + 0.5))(vector))
        for result in results:
            await wait(result)

    return heavy


def network(xp: Any, jit: Any, rows: int, width: int) -> Callable[[], Any]:
    """Three layers on ``rows`` rows, as one program."""
    weights = [xp.asarray(np.full((width, width), 1 / width, np.float32)) for _ in range(3)]
    x = xp.asarray(np.ones((rows, width), np.float32))

    def layers(x: Any, a: Any, b: Any, c: Any) -> Any:
        return xp.tanh(xp.tanh(x @ a) @ b) @ c

    compiled = jit(layers)
    return lambda: compiled(x, *weights)


def negation(xp: Any) -> Callable[[], Any]:
    five = xp.asarray(np.arange(5, dtype=np.float32))
    return lambda: -five


def contender(xp: Any, jit: Any, wait: Wait, small: str, kind: str, tasks: int, settings: Settings) -> Any:
    size = 300 if settings.quick else 1200
    length = 100_000 if settings.quick else 10_000_000
    heavy = {
        "products": lambda: chains(xp, size, wait),
        "elementwise": lambda: elementwise(xp, length, wait),
        "sorts": lambda: sorts(xp, length // 5, wait),
        "compiles": lambda: compiles(xp, jit, wait),
    }[kind]()
    request = {
        "negate 5": lambda: negation(xp),
        "network 8×256": lambda: network(xp, jit, 8, 256),
        "network 64×512": lambda: network(xp, jit, 64, 512),
    }[small]()
    return requesting(request, heavy, tasks, wait, 20 if settings.quick else REQUESTS)


def rows(settings: Settings) -> Iterator[Row]:
    jax, jnp = load("jax"), load("jax", "numpy")
    cases = [(small, "products", tasks) for small in ("negate 5", "network 8×256", "network 64×512") for tasks in TASKS]
    cases += [("negate 5", kind, 2) for kind in ("elementwise", "sorts", "compiles")]
    for small, kind, tasks in cases:
        limits = (1e-3, 5e-3) if small == "negate 5" else (11e-3, 22e-3)
        yield Row(
            f"{small} beside {tasks} × {kind}",
            present(
                aioarray=contender(aio, aio.jit, plainly, small, kind, tasks, settings),
                jax=contender(jnp, jax.jit, by_thread, small, kind, tasks, settings) if jnp else None,
            ),
            {
                "p50": Metric("s", neutral=True),
                "p99": Metric("s", (Target(limits[0]),)),
                "max": Metric("s", (Target(limits[1]),)),
                "lag p99": Metric("s", neutral=True),
                "heavy work/s": Metric("1/s", neutral=True),
            },
            rounds=1,
            warm_up=False,
        )


BENCHMARK = Benchmark("A small request stays small", rows, beside=("jax",))
