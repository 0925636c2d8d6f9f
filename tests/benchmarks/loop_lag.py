"""How late the event loop is while work is done from it: arithmetic, products, compiles, copies, all together.

With JAX the work is called in the loop, or each piece of it, its call included, by ``asyncio.to_thread``.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from tests.support.loop_lag import LoopLag

from ._contenders import load
from ._model import Benchmark, Metric, Row, Settings, Target, present

if TYPE_CHECKING:
    from collections.abc import Iterator

# A piece of work gives what has to be waited for, or nothing.
Work = Callable[[], Any]
# Programs that differ, so that none was compiled before.
_numbers = itertools.count(1)


class Loads:
    """The pieces of work, in one library."""

    def __init__(self, xp: Any, jit: Any, to_device: Callable[[Any], Any], to_host: Callable[[Any], Any], quick: bool):
        self._xp, self._jit = xp, jit
        self._to_device, self._to_host = to_device, to_host
        scale = 100 if quick else 1
        self._vector = to_device(np.linspace(0, 1, 10_000_000 // scale, dtype=np.float32))
        self._matrix = to_device(np.full((512, 512), 1 / 512, np.float32))
        self._small = to_device(np.ones((16, 16), np.float32))
        self._host = np.ones(50_000_000 // scale, np.float32)
        self._products = 1000 // scale
        self._compiles = 100 // (10 if quick else 1)

    def elementwise(self) -> list[Work]:
        return [lambda: self._xp.tanh(self._xp.sin(self._vector))] * 10

    def products(self) -> list[Work]:
        return [lambda: self._matrix @ self._matrix] * self._products

    def compiles(self) -> list[Work]:
        return [functools.partial(self._compile, float(next(_numbers))) for _ in range(self._compiles)]

    def _compile(self, number: float) -> Any:
        return self._jit(lambda x: self._xp.tanh(x @ x + number) * number)(self._small)

    def copies(self) -> list[Work]:
        # What is read back is new each time: jax keeps the host's copy of an array.
        return [self._copy] * 4

    def _copy(self) -> Any:
        return self._to_host(self._to_device(self._host))

    def together(self) -> list[Work]:
        """A share of each, in turn."""
        loads = self.elementwise()[:5], self.products()[:200], self.compiles()[:40], self.copies()[:2]
        longest = max(map(len, loads))
        # Evenly: the i-th piece of each load stands where it would in the longest one.
        places = [(i * longest / len(load), piece) for load in loads for i, piece in enumerate(load)]
        return [piece for _, piece in sorted(places, key=lambda place: place[0])]


def lagging(work: Callable[[], list[Work]], do: Callable[[list[Work]], Awaitable[None]]) -> Callable[[], Any]:
    """A contender: the loop's lag while ``do`` does the work."""

    async def sample() -> dict[str, float]:
        async with LoopLag() as lag:
            await do(work())
        return lag.figures()

    return sample


async def by_awaiting(pieces: list[Work]) -> None:
    """The work is enqueued as fast as it goes, and awaited together."""
    pending = []
    for piece in pieces:
        pending.append(piece())
        await asyncio.sleep(0)
    await asyncio.gather(*pending)


async def in_the_loop(pieces: list[Work]) -> None:
    """The work is called from the loop, which blocks for the results at the end."""
    results = []
    for piece in pieces:
        results.append(piece())
        await asyncio.sleep(0)
    for result in results:
        if hasattr(result, "block_until_ready"):
            result.block_until_ready()
        await asyncio.sleep(0)


async def by_threads(pieces: list[Work]) -> None:
    """The work is called and waited for in threads."""

    def finish(piece: Work) -> Any:
        result = piece()
        if hasattr(result, "block_until_ready"):
            result.block_until_ready()
        return result  # to the loop, which wants it

    await asyncio.gather(*(asyncio.to_thread(finish, piece) for piece in pieces))


async def _round_trip(x: Any) -> np.ndarray:
    return await (await aio.device_put(x)).to_host()


class _Ours(Loads):
    def _copy(self) -> Any:
        return _round_trip(self._host)


def rows(settings: Settings) -> Iterator[Row]:
    jax, jnp = load("jax"), load("jax", "numpy")
    ours = _Ours(aio, aio.jit, aio.asarray, np.asarray, settings.quick)
    theirs = Loads(jnp, jax.jit, jnp.array, np.asarray, settings.quick) if jax else None
    for name, work in {
        "heavy elementwise": Loads.elementwise,
        "1,000 queued matmuls": Loads.products,
        "100 compiles": Loads.compiles,
        "200 MB host copies": Loads.copies,
        "all together": Loads.together,
    }.items():
        # The share of the copies is our own method, so the function is looked up by its name.
        together = name == "all together"
        yield Row(
            name,
            present(
                aioarray=lagging(getattr(ours, work.__name__), by_awaiting),
                jax_in_the_loop=lagging(getattr(theirs, work.__name__), in_the_loop) if theirs else None,
                jax_to_thread=lagging(getattr(theirs, work.__name__), by_threads) if theirs else None,
            ),
            {
                "p50": Metric("s"),
                "p99": Metric("s", (Target(1.0, "jax to thread"), *([Target(5e-3)] if together else []))),
                "max": Metric("s", (Target(1.0, "jax to thread"), *([Target(25e-3)] if together else []))),
            },
            rounds=3,
        )


BENCHMARK = Benchmark("Lag of the event loop", rows, beside=("jax",))
