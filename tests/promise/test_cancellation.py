"""Cancelling an await only stops waiting; work that nobody can see any more is never launched."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
import time
import weakref

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import from_host, run
from aioarray._engine import engine
from tests.promise.failing import failing
from tests.promise.work import LOST, STRICT, full, products, products_for, shift, sin, warm_up, within


@pytest.mark.asyncio
async def test_timeout_ends_the_wait_and_nothing_else(no_unhandled_loop_exceptions: object) -> None:
    warm_up()

    async def measure() -> dict[str, float]:
        a = products_for(1.0)
        other = asyncio.ensure_future(a.to_host())
        await asyncio.sleep(0)
        start = time.perf_counter()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(a, 0.01)
        seconds = time.perf_counter() - start
        assert not a.is_ready()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await a
        value = await asyncio.wait_for(other, LOST)
        assert value[0].sum() == 1
        assert await a is a
        np.testing.assert_array_equal(await a.to_host(), value)
        return {"timeout": seconds}

    await within({"timeout": 0.05}, measure)


@pytest.mark.asyncio
async def test_cancelled_task_leaves_no_waiter_behind() -> None:
    a = products_for(0.3)
    tasks = [asyncio.ensure_future(a.to_host()) for _ in range(100)]
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    dead = [weakref.ref(task) for task in tasks]
    del tasks, task
    await asyncio.sleep(0)  # what is running now still refers to `gather`
    gc.collect()
    assert not [reference for reference in dead if reference() is not None]
    if STRICT:  # elsewhere the work may be over by now
        assert not a.is_ready()
    await a


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(2))
async def test_ten_thousand_awaits_cancelled_at_random_moments(
    seed: int, caplog: pytest.LogCaptureFixture, no_unhandled_loop_exceptions: object
) -> None:
    """Readiness, registration and cancellation meet in every order; whoever is not cancelled gets the value."""
    randomness = random.Random(seed)
    warm_up(128)
    warm_up(256)
    four = full((4,))
    await sin(four)
    alive: list[weakref.ref[object]] = []
    before = aio.stats()
    cancelled = finished = 0

    async def wait(array: aio.Array) -> aio.Array:
        return await array

    for _ in range(200):
        arrays = [products(randomness.randint(1, 4), randomness.choice((128, 256))) for _ in range(5)]
        arrays += [sin(arrays[i]) for i in range(3)]
        tasks = [asyncio.create_task(wait(randomness.choice(arrays))) for _ in range(50)]
        alive += [weakref.ref(array) for array in arrays]
        for task in randomness.sample(tasks, 40):
            for _ in range(randomness.choice((0, 0, 0, 1, 1, 2, 5))):
                await asyncio.sleep(0)
            if randomness.random() < 0.05:
                await asyncio.sleep(randomness.random() * 0.002)
            task.cancel()
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), LOST)
        for task, result in zip(tasks, results, strict=True):
            if isinstance(result, asyncio.CancelledError):
                cancelled += 1
                assert task.cancelled()
            else:
                finished += 1
                assert isinstance(result, aio.Array)
                assert result.is_ready()
        del arrays, tasks, task, results, result
    assert cancelled + finished == 10_000
    assert cancelled > 100, "the test cancelled too late to test anything"
    await aio.drain(1)
    await asyncio.sleep(0)
    gc.collect()
    assert not [reference for reference in alive if reference() is not None]
    assert aio.stats()["failed"] == before["failed"]
    assert not engine.scheduler.flying
    assert not caplog.records


@pytest.mark.asyncio
async def test_cancelled_drain_leaves_nothing_behind(no_unhandled_loop_exceptions: object) -> None:
    a = products_for(0.3)
    tasks = [asyncio.create_task(aio.drain(1)) for _ in range(100)]
    await asyncio.sleep(0.01)
    for task in tasks[1:]:
        task.cancel()
    await asyncio.gather(*tasks[1:], return_exceptions=True)
    assert len(engine.scheduler._state.drainers) == 1
    await asyncio.wait_for(tasks[0], LOST)
    assert a.is_ready()
    assert not engine.scheduler._state.drainers


@pytest.mark.asyncio
async def test_abandoned_as_completed_leaves_nothing_behind(no_unhandled_loop_exceptions: object) -> None:
    arrays = [products_for(0.1) for _ in range(5)]
    completed = aio.as_completed(arrays)
    first = await anext(completed)
    assert id(first) in map(id, arrays)
    await completed.aclose()
    for array in arrays:
        pending = array._pending
        assert pending is None or pending.launch is None or not pending.launch.waiters
    await aio.ready(arrays)


@pytest.mark.asyncio
async def test_dropped_results_are_never_launched() -> None:
    warm_up(1024)
    x = from_host(shift(1024))
    await aio.drain(1)
    before = aio.stats()
    results = [x @ x for _ in range(1000)]
    del results
    await aio.drain(1)
    after = aio.stats()
    assert after["enqueued"] - before["enqueued"] == 1000
    dropped = after["dropped"] - before["dropped"]
    launched = after["launched"] - before["launched"]
    assert dropped + launched == 1000
    assert dropped > 900


@pytest.mark.asyncio
async def test_dropping_the_end_of_a_long_chain_drops_all_of_it() -> None:
    hold = threading.Event()
    first = run(failing(hold=hold), [])
    before = aio.stats()
    x = first
    for _ in range(100_000):
        x = x + x
    assert aio.stats()["pending"] - before["pending"] == 100_000
    del x
    after = aio.stats()
    assert after["dropped"] - before["dropped"] == 100_000
    assert after["pending"] == before["pending"]
    hold.set()
    with pytest.raises(aio.errors.DeviceError):
        await first


@pytest.mark.asyncio
async def test_dropping_a_wide_graph_drops_all_of_it() -> None:
    hold = threading.Event()
    first = run(failing(hold=hold), [])
    before = aio.stats()
    layer = [first + float(i) for i in range(100)]
    for _ in range(50):
        layer = [layer[i] + layer[(7 * i + 3) % 100] for i in range(100)]
    kept = layer[0]
    del layer
    dropped = aio.stats()["dropped"] - before["dropped"]
    assert 0 < dropped < 5100, "what the kept one needs must stay"
    del kept
    assert aio.stats()["dropped"] - before["dropped"] == 5100
    hold.set()
    with pytest.raises(aio.errors.DeviceError):
        await first


@pytest.mark.asyncio
async def test_what_a_kept_result_needs_is_launched() -> None:
    warm_up(512)
    x = from_host(shift(512))
    held = [x @ x for _ in range(100)]  # fills the window
    middle = x
    for _ in range(50):
        middle = middle @ x
    branch_kept = middle @ x
    branch_dropped = [middle @ x for _ in range(50)]
    del middle, branch_dropped
    value = await asyncio.wait_for(branch_kept.to_host(), LOST)
    np.testing.assert_array_equal(value, np.roll(np.eye(512, dtype=np.float32), 52, axis=1))
    await aio.ready(held)


@pytest.mark.asyncio
async def test_awaited_work_whose_array_is_gone_is_done() -> None:
    """An await holds what it waits for."""
    warm_up(512)
    dropped = aio.stats()["dropped"]
    task = asyncio.ensure_future((products(40, 512) @ products(1, 512)).to_host())
    await asyncio.sleep(0)
    gc.collect()
    assert (await asyncio.wait_for(task, LOST))[0, 41] == 1.0
    assert aio.stats()["dropped"] == dropped


@pytest.mark.asyncio
async def test_delete_while_queued() -> None:
    warm_up(512)
    blockers = [products(10, 512) for _ in range(20)]
    before = aio.stats()["dropped"]
    a = blockers[0] @ blockers[1]
    b = a @ a
    awaited = asyncio.ensure_future(a.to_host())
    await asyncio.sleep(0)
    a.delete()
    b.delete()
    assert aio.stats()["dropped"] > before
    for array in (a, b):
        with pytest.raises(aio.errors.DeletedArrayError):
            await array
    value = await asyncio.wait_for(awaited, LOST)
    assert value[0].sum() == 1.0
    await aio.ready(blockers)


@pytest.mark.asyncio
async def test_setitem_while_awaited() -> None:
    a = products_for(0.2)
    old = a @ from_host(shift(1024))
    before = asyncio.ensure_future(a.to_host())
    awaiting = [asyncio.create_task(_await(a)) for _ in range(3)]
    await asyncio.sleep(0)
    a[0] = 7.0
    after = asyncio.ensure_future(a.to_host())
    assert (await before)[0].sum() == 1.0
    for array in await asyncio.gather(*awaiting):
        assert (await array.to_host())[0].sum() == 1.0
    assert (await after)[0].sum() == 7.0 * 1024
    assert (await old.to_host())[0].sum() == 1.0
    assert await a is a


async def _await(array: aio.Array) -> aio.Array:
    return await array


@pytest.mark.asyncio
async def test_every_awaiter_gets_the_array_itself() -> None:
    a = products_for(0.1)
    for array in await asyncio.gather(*[_await(a) for _ in range(20)]):
        assert array is a
