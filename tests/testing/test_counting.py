"""``count`` and the limits that are made of it: deterministic numbers, of the code in the ``with`` alone."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import threading
import time

import anyio.lowlevel
import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray import testing
from aioarray.errors import DeviceError, SyncReadWarning


def test_launches_are_operations_and_calls_of_jitted_functions() -> None:
    @aio.jit
    def step(x: aio.Array) -> aio.Array:
        return aio.tanh(x @ x + 1)

    x = aio.ones((3, 3)).block_until_ready()
    with testing.count() as c:
        results = [x + 1, x @ x, step(x), step(x), aio.nn.softmax(x)]
        assert c.launches == 5
    assert c.launched == ("add", "matmul", "step", "step", "softmax")
    x + 1
    assert c.launches == 5
    aio.block_until_ready(results)
    assert c.failed == c.dropped == c.host_copies == c.sync_reads == 0
    assert "launches=5" in repr(c)


def test_compiles_are_programs_that_were_not_there_and_say_who_needed_them() -> None:
    function = aio.jit(lambda x: x * 17 - 3, name="seventeen")
    with testing.count() as c:
        for _ in range(3):
            function(aio.ones(3))
        function(aio.ones(4)).block_until_ready()
    mine = [event for event in c.compiled if event.name == "seventeen"]
    assert len(mine) == 2
    assert all("test_counting.py" in str(event) for event in mine)
    with testing.count() as c:
        function(aio.ones(3))
        function(aio.ones(4)).block_until_ready()
    assert c.compiles == 0


def test_compiling_ahead_of_time_is_counted() -> None:
    async def main() -> None:
        function = aio.jit(lambda x: x * 19 - 3, name="nineteen")
        with testing.count() as c:
            await function.compile(aio.ShapeDtype((3,), "float32"))
        assert [event.name for event in c.compiled] == ["nineteen"]
        assert c.launches == 0

    asyncio.run(main())


def test_host_copies_count_both_ways() -> None:
    async def main() -> None:
        with testing.count() as c:
            x = aio.asarray(np.ones(3))
            y = await aio.device_put({"a": np.ones(2), "b": x})
            await aio.to_host(y)
            x.tolist()
            float(await (aio.sum(x) * 2))
        assert (c.host_copies, c.to_host) == (6, 4)

    asyncio.run(main())


def test_synchronous_reads_are_counted_with_their_lines() -> None:
    async def main() -> None:
        x = aio.ones(())
        with testing.count() as c, aio.sync_reads("allow"):
            float(x + 1)
            bool(await (x + 1))
            (x + 2).item()
        assert [event.name for event in c.read_synchronously] == ["float(array)", "array.item()"]
        assert c.sync_reads == 2
        assert all("test_counting.py" in str(event.location) for event in c.read_synchronously)

    asyncio.run(main())
    with testing.count() as c:
        float(aio.ones(()) + 1)  # no loop, no synchronous read
    assert c.sync_reads == 0


def test_dropped_and_failed_launches() -> None:
    x = aio.ones(3).block_until_ready()
    with testing.count() as c, testing.hold(), testing.inject("INTERNAL: no", match="sin"):
        y = x + 1
        z = aio.sin(x)
        w = aio.exp(z)
        del y
        gc.collect()
        assert c.dropped == 1
        assert [event.name for event in c.unfinished] == ["sin", "exp"]
    with pytest.raises(DeviceError):
        w.block_until_ready()
    assert c.failed == 2
    assert c.dropped == 1
    assert c.unfinished == ()
    assert z.is_ready()


@pytest.mark.aioarray(leaks="allow")  # which would find the error that nobody sees
def test_unused_results_and_unseen_errors_are_named() -> None:
    async def main() -> None:
        x = await aio.ones(3)
        with testing.count() as c, testing.inject("INTERNAL: quiet", match="exp", nth=2):
            first = x + 1
            second = first * 2  # uses `first`
            third = aio.sin(x)
            await third
            fourth, fifth = aio.exp(x), aio.exp(x)
            assert fourth.is_ready() in (True, False)  # looking is not using
            repr(fourth)
            await aio.drain(1)
            assert [event.name for event in c.unused] == ["multiply", "exp", "exp"]
            assert all("test_counting.py" in str(event.location) for event in c.unused)
            (message,) = c.unseen_failures
            assert "quiet" in message
            with pytest.raises(DeviceError):
                await fifth
            await second
            await fourth
            assert c.unused == ()
            assert c.unseen_failures == ()

    asyncio.run(main())


def test_tasks_and_threads_count_where_they_belong() -> None:
    async def work(x: aio.Array, n: int) -> int:
        with testing.count() as c:
            for _ in range(n):
                await (x + 1)
                await asyncio.sleep(0)
            await aio.run_sync(lambda: (x * 2).block_until_ready())
        return c.launches

    async def main() -> None:
        x = await aio.ones(3)
        with testing.count() as c:
            assert await asyncio.gather(*(work(x, n) for n in range(5))) == [1, 2, 3, 4, 5]
            thread = threading.Thread(target=lambda: (x - 1).block_until_ready())
            thread.start()
            thread.join()
        assert c.launches == 15

    asyncio.run(main())


def test_counts_nest() -> None:
    x = aio.ones(3)
    with testing.count() as outer:
        x + 1
        with testing.count() as inner:
            x + 1
        x + 1
    assert (outer.launches, inner.launches) == (3, 1)


# assert_no_sync_reads


def read_twice(x: aio.Array) -> None:
    if x + 1:
        with contextlib.suppress(Exception):  # which hides nothing
            int(x + 2)


def read_and_fail(x: aio.Array) -> None:
    float(x + 1)
    raise ZeroDivisionError


def test_every_synchronous_read_is_listed() -> None:
    async def main() -> None:
        x = aio.ones(())
        with pytest.raises(AssertionError, match="2 synchronous reads") as caught, testing.assert_no_sync_reads():
            read_twice(x)
        text = str(caught.value)
        assert text.count("test_counting.py") == 2
        assert "bool(array)" in text
        assert "int(array)" in text
        with pytest.warns(SyncReadWarning):  # the policy is what it was
            float(x + 1)

    with aio.sync_reads("warn"):
        asyncio.run(main())


def test_awaited_reads_pass_and_other_errors_come_through() -> None:
    async def main() -> None:
        x = aio.ones(())
        with testing.assert_no_sync_reads():
            float(await (x + 1))
            await aio.run_sync(lambda: float(x + 2))
        with pytest.raises(ZeroDivisionError), testing.assert_no_sync_reads():
            read_and_fail(x)

    asyncio.run(main())


# max_loop_lag


def test_what_holds_the_loop_is_named() -> None:
    async def main() -> None:
        with pytest.raises(AssertionError, match=r"allowed are 50 ms") as caught, testing.max_loop_lag(50):
            await hold_a_loop()
        assert "in hold_the_loop" in str(caught.value)
        assert "test_counting.py" in str(caught.value)

    asyncio.run(main())


def hold_the_loop(seconds: float) -> None:
    time.sleep(seconds)


async def hold_a_loop() -> None:
    await anyio.lowlevel.checkpoint()
    hold_the_loop(0.3)
    await anyio.sleep(0.01)


def test_what_still_holds_the_loop_at_the_end_is_named_too() -> None:
    async def main() -> None:
        with pytest.raises(AssertionError, match="in hold_the_loop"), testing.max_loop_lag(50):
            hold_the_loop(0.3)

    asyncio.run(main())


def test_lag_on_trio() -> None:
    async def main() -> None:
        with pytest.raises(AssertionError, match="in hold_the_loop"), testing.max_loop_lag(50):
            await hold_a_loop()

    trio.run(main)


def test_a_loop_that_answers_passes() -> None:
    async def main() -> None:
        with testing.max_loop_lag(20_000) as watch:
            for _ in range(50):
                await asyncio.sleep(0.001)
        assert watch.blocked == []
        assert 0.0 < watch.largest < 20.0

    asyncio.run(main())
    assert not [thread for thread in threading.enumerate() if thread.name == "aioarray-loop-watch"]


def test_a_lag_needs_a_loop_and_a_limit() -> None:
    with pytest.raises(ValueError, match="it must be a number above 0"):
        testing.max_loop_lag(0)
    with pytest.raises(ValueError, match="inf milliseconds; it must be a number above 0"):
        testing.max_loop_lag(math.inf)
    with pytest.raises(RuntimeError, match="outside asyncio and trio"), testing.max_loop_lag(10):
        pass
