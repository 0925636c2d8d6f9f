"""A suite as users write them, for any runner of coroutines: a test puts its runner's marker in the place of RUNNER.

Run under pytest-asyncio in both of its modes, under anyio's plugin on asyncio and trio, on several processes and in
random order; see `test_runners`.
"""

from __future__ import annotations

import anyio
import numpy as np
import pytest

import aioarray as aio
from aioarray import testing

pytestmark = [RUNNER, pytest.mark.aioarray(max_loop_lag=60_000)]  # type: ignore[name-defined]  # noqa: F821


@pytest.fixture(scope="module")
def ones() -> aio.Array:
    return aio.asarray(np.ones(3, np.float32))


async def test_values(ones: aio.Array) -> None:
    x = ones + 1
    await testing.assert_allclose(x, 2)
    assert float(await aio.sum(x)) == 6


async def test_many_tasks_await_one_array(ones: aio.Array) -> None:
    seen: list[aio.Array] = []

    async def wait(x: aio.Array) -> None:
        seen.append(await x)

    with testing.hold() as gate:
        x = ones * 3
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(wait, x)
            await anyio.wait_all_tasks_blocked()
            assert seen == []
            gate.release()
    assert len(seen) == 50


async def test_the_order_of_completion_is_the_tests_choice(ones: aio.Array, device_gate: testing.Gate) -> None:
    arrays = [ones + i for i in range(5)]
    order: list[int] = []

    async def wait(i: int) -> None:
        await arrays[i]
        order.append(i)

    async with anyio.create_task_group() as group:
        for i in range(5):
            group.start_soon(wait, i)
        for i in (3, 1, 4, 0, 2):
            device_gate.release(arrays[i])
            while i not in order:
                await anyio.lowlevel.checkpoint()
    assert order == [3, 1, 4, 0, 2]


async def test_cancelling_an_await_only_stops_the_waiting(ones: aio.Array, device_gate: testing.Gate) -> None:
    x = ones + 1
    with anyio.move_on_after(0.01) as scope:
        await x
    assert scope.cancelled_caught
    device_gate.release()
    await testing.assert_array_equal(x, 2)


async def test_a_slow_device(ones: aio.Array) -> None:
    with testing.hold(match="add") as gate, testing.delay(0.01, match="multiply"):
        x = ones + 1
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.01):
                await x
        gate.release()
        await testing.assert_allclose(x * 2, 4)


async def test_one_failure_leaves_the_others_alone(ones: aio.Array, fault_injector) -> None:  # type: ignore[no-untyped-def]
    fault_injector("RESOURCE_EXHAUSTED: out of memory", match="multiply", nth=2)
    first, second, third = ones * 2, ones * 3, ones * 4
    with pytest.raises(aio.errors.DeviceError, match=r"multiply .* out of memory"):
        await second
    await aio.ready([first, third])


async def test_tasks_do_not_see_each_others_gates(ones: aio.Array) -> None:
    async def held() -> None:
        with testing.hold() as gate:
            x = ones + 1
            started.set()
            await done.wait()
            assert not x.is_ready()
            gate.release()
            await x

    async def free() -> None:
        await started.wait()
        await (ones + 2)
        done.set()

    started, done = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(held)
        group.start_soon(free)


@pytest.mark.aioarray(max_compiles=1)
async def test_one_program_for_all_requests(compile_counter: testing.Counter) -> None:
    @aio.jit
    def score(x: aio.Array) -> aio.Array:
        return aio.sum(x * x) - 1

    requests = [score(aio.asarray(np.full(11, i, np.float32))) for i in range(20)]
    for i, result in enumerate(requests):
        assert float(await result) == 11 * i * i - 1
    assert compile_counter.compiles <= 1


async def test_back_pressure(ones: aio.Array) -> None:
    x = ones
    for _ in range(300):
        x = x + 1
        await aio.drain(64)
    await testing.assert_allclose(x, 301)


async def test_reads_off_the_loop(ones: aio.Array) -> None:
    assert await aio.run_sync(lambda: float(aio.sum(ones))) == 3
