"""Lives of batchers drawn at random: whatever happens in whatever order, every request ends once and nothing is left.

Requests, cancellations, deadlines, errors of the model, draining, leaving in every way, crashes: all come at random
steps of the loop. What each request ends with depends on that, and on how fast the machine is; that it ends does not.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from aioarray import errors
from aioarray.serving import Batcher, StreamBatcher
from aioarray.serving.batching.cancellation import CancelledWithinError
from tests.serving.runners import RUNNERS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import aioarray as aio
    from aioarray.serving import Slots
    from tests.serving.runners import Runner

SEEDS = 60


class CrashError(BaseException):
    """What no model is expected to raise."""


class ModelError(Exception):
    """What models raise in their ordinary life."""


# What a request may end with, beside its result.
EXPECTED = (
    ModelError,
    CancelledWithinError,
    errors.DeadlineError,
    errors.InvalidInputError,
    errors.NotServingError,
    errors.QueueFullError,
)


class Life:
    """One batcher, its clients, and what happens to them."""

    def __init__(self, seed: int, on_asyncio: bool) -> None:
        self.rng = random.Random(seed)
        self.outcomes: list[int] = []  # the client, at its end
        self.crashes = self.rng.random() < 0.1
        self.cancels_itself = on_asyncio and self.rng.random() < 0.3
        self.clients = self.rng.randint(1, 12)
        self.batcher: Any = None

    async def steps(self, most: int) -> None:
        for _ in range(self.rng.randint(0, most)):
            await anyio.lowlevel.checkpoint()

    def perhaps_fail(self) -> None:
        if self.rng.random() < 0.15:
            raise ModelError
        if self.cancels_itself and self.rng.random() < 0.2:
            raise asyncio.CancelledError
        if self.crashes and self.rng.random() < 0.2:
            raise CrashError

    async def client(self, number: int, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                await self.steps(10)
                await self.ask(number)
            except EXPECTED:
                pass
        self.outcomes.append(number)

    async def ask(self, number: int) -> None:
        raise NotImplementedError

    async def live(self) -> None:
        """Until everybody's end."""
        rng = self.rng
        scopes = [anyio.CancelScope() for _ in range(self.clients)]
        outer = anyio.CancelScope()

        async def cancel() -> None:
            for scope in scopes:
                if rng.random() < 0.4:
                    await self.steps(8)
                    scope.cancel()

        async def serve() -> None:
            async with self.batcher:
                for number, scope in enumerate(scopes):
                    group.start_soon(self.client, number, scope)
                group.start_soon(cancel)
                await self.steps(30)
                match rng.randrange(5):
                    case 0:
                        raise KeyError
                    case 1:
                        await self.batcher.drain()
                    case 2:
                        outer.cancel()

        async def drain() -> None:
            await self.steps(30)
            if rng.random() < 0.5:
                await self.batcher.drain()

        async with anyio.create_task_group() as group:
            group.start_soon(drain)
            with outer:
                try:
                    await serve()
                except KeyError:
                    pass
                except BaseExceptionGroup as error:
                    others = error.split((CrashError, KeyError))[1]
                    if others is not None:
                        raise others from None

    def check(self) -> None:
        assert sorted(self.outcomes) == list(range(self.clients))
        stats, queue = self.batcher.stats(), self.batcher._queue
        assert (stats.queued, stats.queued_rows, stats.running) == (0, 0, 0)
        assert self.batcher._recorder.unanswered == 0
        assert queue.requests == queue.rows == len(queue._groups) == len(queue._overdue) == 0
        assert not self.batcher.ready


class OfBatches(Life):
    """Of a ``Batcher``."""

    def __init__(self, seed: int, on_asyncio: bool) -> None:
        super().__init__(seed, on_asyncio)
        rng = self.rng
        self.batcher = Batcher(
            self.model,
            max_batch_size=rng.choice([1, 2, 4]),
            max_concurrent_batches=rng.choice([1, 3]),
            batch_timeout=rng.choice([None, None, 1e-4]),
            max_delay=rng.choice([0, 1e-3]),
            eager=rng.random() < 0.8,
            max_queue=rng.choice([3, 100]),
        )

    async def model(self, x: aio.Array) -> Any:
        host = await x.to_host()
        await self.steps(4)
        self.perhaps_fail()
        return host * 2

    async def ask(self, number: int) -> None:
        batched = self.rng.random() < 0.5
        x = np.full((self.rng.randint(0, 6), 2) if batched else 2, number, np.float32)
        result = await self.batcher(x, timeout=self.rng.choice([None, None, 5e-4, 0]), batched=batched)
        np.testing.assert_array_equal(result, 2 * x)


class OfStreams(Life):
    """Of a ``StreamBatcher``."""

    def __init__(self, seed: int, on_asyncio: bool) -> None:
        super().__init__(seed, on_asyncio)
        rng = self.rng
        self.batcher = StreamBatcher(
            self.model,
            slots=rng.choice([1, 3]),
            max_queue=rng.choice([2, 100]),
            max_items=rng.choice([1, 100]),
            step_timeout=rng.choice([None, None, 1e-4]),
        )

    async def model(self, slots: Slots) -> AsyncGenerator[Any, None]:
        state = np.zeros(slots.size)
        try:
            while True:
                for slot, x in slots.joined:
                    state[slot] = x
                await self.steps(3)
                self.perhaps_fail()
                for slot in np.flatnonzero(slots.active).tolist():
                    chance = self.rng.random()
                    if chance < 0.3:
                        slots.finish(slot)
                    elif chance < 0.4:
                        slots.fail(slot, ModelError())
                yield state.copy()
        finally:
            await self.steps(2)

    async def ask(self, number: int) -> None:
        rng = self.rng
        stream = self.batcher(float(number), timeout=rng.choice([None, None, 5e-4]))
        if rng.random() < 0.1:
            return  # and drops it
        async for item in stream:
            assert item == number
            if rng.random() < 0.1:
                await stream.aclose()


@pytest.mark.filterwarnings("ignore:.*asynchronous generator:ResourceWarning")
@pytest.mark.parametrize("kind", [OfBatches, OfStreams])
@pytest.mark.parametrize("loop", list(RUNNERS))
def test_every_request_ends_once_and_nothing_is_left(loop: str, kind: type[Life]) -> None:
    run: Runner = RUNNERS[loop]
    for seed in range(SEEDS):
        life = kind(seed, loop == "asyncio")
        try:
            run(life.live)
            life.check()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
