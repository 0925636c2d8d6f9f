"""The event loops that serving is tested on, a limit to what may take how long, and models that wait to be let go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import trio

if TYPE_CHECKING:
    import numpy as np

    import aioarray as aio
    from aioarray.serving import Batcher

# What is waited for this long, in seconds, is lost: nothing here takes a tenth of it.
LOST = 110.0

Main = Callable[[], Coroutine[Any, Any, Any]]
Runner = Callable[[Main], Any]


def _within(main: Main) -> Main:
    async def limited() -> Any:
        with anyio.fail_after(LOST):
            return await main()

    return limited


def on_asyncio(main: Main) -> Any:
    with asyncio.Runner() as runner:
        return runner.run(_within(main)())


def on_trio(main: Main) -> Any:
    return trio.run(_within(main))


RUNNERS: dict[str, Runner] = {"asyncio": on_asyncio, "trio": on_trio}


async def settle() -> None:
    """Let the other tasks go as far as they get without anything from outside."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


class Gated:
    """A model that doubles; each call begins, and then waits for ``release``. Counts what it was given."""

    def __init__(self, function: Callable[[np.ndarray], Any] = lambda x: x * 2) -> None:
        self.calls: list[np.ndarray] = []
        self._function = function
        self._gates: list[anyio.Event] = []

    async def __call__(self, x: aio.Array) -> Any:
        gate = anyio.Event()
        self._gates.append(gate)
        self.calls.append(await x.to_host())
        await gate.wait()
        return self._function(self.calls[-1])

    async def begun(self, count: int) -> None:
        """Wait until there were so many calls."""
        while len(self.calls) < count:
            await anyio.lowlevel.checkpoint()

    def release(self) -> None:
        """Let the oldest waiting call go on."""
        next(gate for gate in self._gates if not gate.is_set()).set()


class Asking:
    """Requests under way in a task group, and how each ended: a result or an exception, by name."""

    def __init__(self, batcher: Batcher, group: Any) -> None:
        self.ended: dict[Any, Any] = {}
        self._batcher = batcher
        self._group = group
        self._scopes: dict[Any, anyio.CancelScope] = {}

    def ask(self, name: Any, x: Any, **options: Any) -> None:
        self._scopes[name] = anyio.CancelScope()
        self._group.start_soon(self._ask, name, x, options)

    def cancel(self, name: Any) -> None:
        self._scopes[name].cancel()

    async def have_ended(self, count: int) -> None:
        """Wait until so many have ended."""
        while len(self.ended) < count:
            await anyio.lowlevel.checkpoint()

    async def _ask(self, name: Any, x: Any, options: Any) -> None:
        with self._scopes[name] as scope:
            try:
                self._end(name, await self._batcher(x, **options))
            except Exception as error:
                self._end(name, error)
        if scope.cancelled_caught:
            self._end(name, "cancelled")

    def _end(self, name: Any, outcome: Any) -> None:
        assert name not in self.ended, f"{name} ended twice"
        self.ended[name] = outcome
