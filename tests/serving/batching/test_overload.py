"""Time: overload, deadlines and delays, on trio's clock that jumps from event to event, so that times are exact."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import pytest
import trio
import trio.testing

from aioarray import errors
from aioarray.serving import Batcher, StreamBatcher

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

    import aioarray as aio
    from aioarray.serving import Slots

BATCH = 8
SECONDS = 0.1  # of a batch, whatever its size


def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


async def model(x: aio.Array) -> aio.Array:
    await anyio.sleep(SECONDS)
    return x


def test_at_five_times_the_capacity_those_accepted_are_served_in_time() -> None:
    rng = random.Random(1)
    capacity = BATCH / SECONDS
    seconds = 20.0
    outcomes: Counter[str] = Counter()
    latencies: list[float] = []
    refusals: list[float] = []
    retry_after: list[float | None] = []
    most_queued = 0

    async def main() -> None:
        nonlocal most_queued
        max_delay = 0.005
        batcher = Batcher(model, max_batch_size=BATCH, max_delay=max_delay, max_wait=SECONDS / 2, buckets=())

        async def client(number: int) -> None:
            start = trio.current_time()
            try:
                result = await batcher(np.float32([number]))
            except errors.QueueFullError as error:
                refusals.append(trio.current_time() - start)
                retry_after.append(error.retry_after)
                outcomes["refused"] += 1
            else:
                assert result[0] == number
                latencies.append(trio.current_time() - start)
                outcomes["served"] += 1

        async with batcher:
            await batcher.warmup(np.zeros(1, np.float32))
            async with anyio.create_task_group() as group:
                end = trio.current_time() + seconds
                number = 0
                while trio.current_time() < end:
                    group.start_soon(client, number)
                    number += 1
                    most_queued = max(most_queued, batcher.stats().queued)
                    await anyio.sleep(rng.expovariate(5 * capacity))
        assert outcomes["served"] + outcomes["refused"] == number
        assert np.quantile(latencies, 0.99) < 2 * SECONDS + max_delay

    run(main)
    # The model is kept busy with whole batches, nothing piles up, and a refusal takes no time at all.
    assert outcomes["served"] > 0.95 * capacity * seconds
    assert most_queued <= 4 * BATCH
    assert max(refusals) == 0
    assert all(seconds is not None and 0 <= seconds <= SECONDS for seconds in retry_after)


def test_max_delay_is_counted_from_the_oldest_request() -> None:
    async def main() -> None:
        left: list[float] = []

        async def slow(x: aio.Array) -> aio.Array:
            left.append(trio.current_time())
            await anyio.sleep(10)
            return x

        batcher = Batcher(slow, max_batch_size=4, max_delay=0.5, max_concurrent_batches=2)
        async with batcher, anyio.create_task_group() as group:
            start = trio.current_time()
            for delay in (0, 1, 1.25, 1.45):
                await anyio.sleep(start + delay - trio.current_time())
                group.start_soon(batcher, np.zeros(1))
        assert [pytest.approx(time - start) for time in left] == [0, 1.5]
        assert batcher.stats().rows == 4

    run(main)


def test_deadlines_are_exact_while_the_model_is_busy() -> None:
    async def main() -> None:
        ended: dict[float, float] = {}
        calls: list[aio.Array] = []
        batcher = Batcher(lambda x: calls.append(x) or model(x), max_batch_size=1)  # type: ignore[func-returns-value]

        async def ask(timeout: float) -> None:
            with pytest.raises(errors.DeadlineError):
                await batcher(np.zeros(1), timeout=timeout)
            ended[timeout] = trio.current_time()

        async with batcher, anyio.create_task_group() as group:
            start = trio.current_time()
            for timeout in (0.03, 0.01, 0.05, 0.02, 0.099):
                group.start_soon(ask, timeout)
        assert {timeout: pytest.approx(timeout) for timeout in ended} == {t: at - start for t, at in ended.items()}
        assert len(ended) == 5
        # One ran; the others were not computed for nobody.
        assert len(calls) == 1

    run(main)


def test_streams_take_turns_by_client_and_deadline() -> None:
    async def steps(slots: Slots) -> AsyncGenerator[Any, None]:
        for_slot = np.zeros(slots.size, int)
        while True:
            for slot, count in slots.joined:
                for_slot[slot] = count
            await anyio.sleep(1)
            for_slot -= 1
            for slot in np.flatnonzero(slots.active & (for_slot <= 0)):
                slots.finish(int(slot))
            yield for_slot.copy()

    async def main() -> None:
        ended: list[str] = []

        async def consume(name: str, stream: Any) -> None:
            try:
                async for _ in stream:
                    pass
                ended.append(f"{name} at {trio.current_time() - start:.4g}")
            except errors.DeadlineError:
                ended.append(f"{name} late at {trio.current_time() - start:.4g}")

        async with StreamBatcher(steps, slots=1) as batcher, anyio.create_task_group() as group:
            start = trio.current_time()
            for name, client, timeout in (
                ("a1", "a", None),
                ("a2", "a", None),
                ("a3", "a", 2.5),
                ("b1", "b", None),
                ("c1", "c", 1.5),
            ):
                group.start_soon(consume, name, batcher(1, client=client, timeout=timeout))
                await trio.testing.wait_all_tasks_blocked()
        assert ended == ["a1 at 1", "c1 late at 1.5", "b1 at 2", "a3 late at 2.5", "a2 at 3"]

    run(main)
