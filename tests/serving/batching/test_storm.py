"""2,000 clients at once, of which many go away, ask for nonsense, or ask what the model fails on.

Every request ends exactly once with the outcome that it has to have, every result carries its own request's number,
none hangs, and nothing is left.
"""

from __future__ import annotations

import gc
import random
from collections import Counter
from typing import Any

import anyio
import anyio.lowlevel
import numpy as np
import pytest

import aioarray as aio
from aioarray import errors
from aioarray.serving import Batcher, TensorSpec
from aioarray.serving.batching.requests import Request
from tests.serving.runners import RUNNERS, Runner

CLIENTS = 2000
MAX_BATCH = 32
POISON = -1.0


class PoisonError(Exception):
    """What the model raises for a batch with a poisoned row."""


class Model:
    """Adds 0.5 on the device; fails for batches with a poisoned row; counts the rows that it computed."""

    def __init__(self) -> None:
        self.rows = 0
        self._add = aio.jit(lambda x, valid: aio.where(aio.reshape(valid, (-1, 1, 1)), x + 0.5, aio.nan))

    async def __call__(self, tree: Any, valid: Any) -> Any:
        values = await tree["x"].to_host()
        self.rows += int(np.sum(valid))
        await anyio.lowlevel.checkpoint()
        if (values[..., 1] == POISON).any():
            raise PoisonError
        return {"y": self._add(tree["x"], valid), "number": tree["number"]}


def expected_kind(rng: random.Random) -> str:
    return rng.choices(
        ["fine", "cancelled", "invalid", "poisoned", "deadline"],
        [0.52, 0.30, 0.05, 0.05, 0.08],
    )[0]


class Client:
    """One client: what it asks, and how that may end."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.number = number
        self.kind = expected_kind(rng)
        self.rows = rng.choice([1, 1, 1, 1, 2, 5, 40])
        self.batched = self.rows > 1 or rng.random() < 0.2
        self.length = rng.randint(1, 8)
        self.delay = rng.randint(0, 30)  # rounds of the loop before it asks
        self.patience = rng.randint(0, 40)  # rounds until it goes away
        self.options = {
            "priority": rng.randint(0, 1),
            "client": rng.choice([None, *range(10)]),
            "timeout": rng.choice([0.0, 1e-4, 2e-3]) if self.kind == "deadline" else None,
            "batched": self.batched,
        }
        self.outcomes: list[str] = []

    def x(self, rng: random.Random) -> Any:
        rows = np.full((self.rows, self.length, 3), self.number, np.float32)
        number = np.full(self.rows, self.number, np.int32)
        if self.kind == "poisoned":
            rows[rng.randrange(self.rows), 0, 1] = POISON
        if self.kind == "invalid":
            bad: list[Any] = [
                {"x": rows[..., :2], "number": number},
                {"x": rows.astype(np.float64), "number": number},
                {"x": np.full((self.rows, 99, 3), 1, np.float32), "number": number},
                {"x": rows},
                "nonsense",
            ]
            return rng.choice(bad)
        if not self.batched:
            return {"x": rows[0], "number": number[0]}
        return {"x": rows, "number": number}

    def check(self, result: Any) -> None:
        y, number = result["y"], result["number"]
        shape = (self.length, 3)
        assert y.shape == ((self.rows, *shape) if self.batched else shape)
        assert (y == self.number + 0.5).all()
        assert (number == self.number).all()

    def allowed(self) -> set[str]:
        # What takes several batches and cannot end in its time is refused at once.
        refused = {"QueueFullError", "TooMuchWorkError"} if self.kind == "deadline" and self.rows > MAX_BATCH else set()
        return ALLOWED[self.kind] | refused

    async def run(self, batcher: Batcher, rng: random.Random) -> None:
        for _ in range(self.delay):
            await anyio.lowlevel.checkpoint()
        x = self.x(rng)
        async with anyio.create_task_group() as group:
            if self.kind == "cancelled":
                group.start_soon(self._go_away, group.cancel_scope)
            try:
                result = await batcher(x, **self.options)
            except Exception as error:
                self.outcomes.append(type(error).__name__)
            else:
                self.check(result)
                self.outcomes.append("result")
            finally:
                if not self.outcomes:
                    self.outcomes.append("cancelled")
            group.cancel_scope.cancel()

    async def _go_away(self, scope: anyio.CancelScope) -> None:
        for _ in range(self.patience):
            await anyio.lowlevel.checkpoint()
        scope.cancel()


ALLOWED = {
    "fine": {"result"},
    "cancelled": {"result", "cancelled"},
    "invalid": {"InvalidInputError"},
    "poisoned": {"PoisonError"},
    "deadline": {"DeadlineError", "result"},
}


@pytest.mark.parametrize(("loop", "seed"), [("asyncio", 1), ("asyncio", 2), ("trio", 3), ("trio", 4)])
def test_storm(loop: str, seed: int) -> None:
    run: Runner = RUNNERS[loop]
    rng = random.Random(seed)
    clients = [Client(number, rng) for number in range(CLIENTS)]
    model = Model()
    # What the tracebacks of errors hold that other tests have as parameters is not this test's.
    of_others = [thing for thing in gc.get_objects() if type(thing) is Request]

    async def main() -> Batcher:
        batcher = Batcher(
            model,
            max_batch_size=MAX_BATCH,
            max_concurrent_batches=rng.choice([1, 2]),
            specs={"x": TensorSpec(("n", 3), "float32", pad=7), "number": TensorSpec((), "int32")},
            outputs={"y": TensorSpec(("n", 3), "float32"), "number": TensorSpec((), "int32")},
            buckets={"batch": (1, 8, MAX_BATCH), "n": (4, 8)},
            arguments={"valid": "batch"},
            priority_levels=2,
            max_queue=10**6,
            check_finite=True,
        )
        async with batcher:
            await batcher.warmup(freeze=True)
            model.rows = 0
            async with anyio.create_task_group() as group:
                for client in clients:
                    group.start_soon(client.run, batcher, rng)
            queue = batcher._queue
            assert queue.requests == queue.rows == len(queue._heap) == len(queue._groups) == len(queue._arrivals) == 0
        return batcher

    batcher = run(main)

    wrong = [(c.number, c.kind, c.outcomes) for c in clients if len(c.outcomes) != 1]
    assert wrong == []
    wrong = [(c.number, c.kind, c.outcomes) for c in clients if c.outcomes[0] not in c.allowed()]
    assert wrong == []
    outcomes = Counter(c.outcomes[0] for c in clients)
    stats = batcher.stats()
    assert stats.queued == stats.queued_rows == stats.running == 0
    assert stats.accepted == stats.completed + stats.failed + stats.expired + stats.cancelled
    assert stats.invalid == outcomes["InvalidInputError"] + outcomes["TooMuchWorkError"]
    assert stats.failed == outcomes["PoisonError"]
    assert stats.expired + stats.hopeless == outcomes["DeadlineError"]
    # Some ended both ways, so that both were put to the test.
    assert min(outcomes["cancelled"], outcomes["result"], outcomes["DeadlineError"], outcomes["PoisonError"]) > 20
    # A client that went away before it asked was never accepted; one with its result already has completed.
    assert stats.completed >= outcomes["result"]
    assert stats.cancelled <= outcomes["cancelled"]
    # No memory: nothing holds a request any more.
    del batcher
    gc.collect()
    earlier = set(map(id, of_others))
    assert [thing for thing in gc.get_objects() if type(thing) is Request and id(thing) not in earlier] == []


def test_bisecting_costs_few_runs_for_few_culprits() -> None:
    """A culprit among 32 is found in 2 log2(32) more calls, and its neighbours are computed at most 6 times."""
    rows: list[int] = []

    async def model(x: aio.Array) -> Any:
        values = await x.to_host()
        rows.append(len(values))
        if (values == POISON).any():
            raise errors.DeviceError("poisoned", operation="test")
        return values

    async def main() -> None:
        async with Batcher(model, max_batch_size=32, buckets=()) as batcher:
            x = np.arange(32, dtype=np.float32)
            x[13] = POISON
            results: dict[int, Any] = {}

            async def ask(i: int) -> None:
                try:
                    results[i] = await batcher(x[i : i + 1])
                except errors.DeviceError as error:
                    results[i] = error

            async with anyio.create_task_group() as group:
                for i in range(32):
                    group.start_soon(ask, i)
            assert isinstance(results[13], errors.DeviceError)
            assert all(results[i] == i for i in range(32) if i != 13)

    RUNNERS["asyncio"](main)
    assert len(rows) == 1 + 2 * 5
