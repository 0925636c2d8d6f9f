"""Each known mistake, in a small test file of its own, is caught by the plugin, which says what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., pytest.RunResult]

# These make mistakes on purpose, in this process: they are the inner session's to report.
pytestmark = pytest.mark.aioarray(leaks="allow", sync_reads="warn")

HEAD = """
import asyncio
import threading

import numpy as np
import pytest

import aioarray as aio
from aioarray import testing

pytestmark = [pytest.mark.asyncio, pytest.mark.aioarray]
"""


def line(source: str, text: str) -> int:
    """The line of a test file that contains ``text``."""
    (number,) = [n for n, code in enumerate(source.strip().splitlines(), 1) if text in code]
    return number


def check(result: pytest.RunResult, *lines: str, **outcomes: int) -> None:
    """That the inner session ended with ``outcomes``, and printed ``lines``, which are patterns, in this order."""
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([f"*{line}*" for line in lines])


def test_an_unawaited_result(run: Run) -> None:
    source = f"""{HEAD}
async def handler(x):
    aio.sum(x * 2)  # forgot to return and await it
    return "ok"

async def test_handler():
    assert await handler(aio.ones(3)) == "ok"
"""
    check(
        run(source),
        "ERROR at teardown of test_handler",
        "aioarray: 1 result was never awaited, read or passed on: await what was computed, or do not compute it",
        f"  `sum` enqueued at *test_an_unawaited_result.py:{line(source, 'aio.sum')} in handler",
        "1 passed, 1 error",
        passed=1,
        errors=1,
    )


def test_an_unawaited_task_counts_as_well(run: Run) -> None:
    source = f"""{HEAD}
async def test_handler():
    results = [aio.ones(3) + i for i in range(10)]
    await results[0]
"""
    check(
        run(source),
        "aioarray: 9 results were never awaited, read or passed on*",
        f"  `add` enqueued at *.py:{line(source, 'results = ')} in * (9 times)",
        passed=1,
        errors=1,
    )


def test_if_array_in_a_coroutine(run: Run) -> None:
    source = f"""{HEAD}
async def test_handler():
    x = aio.ones(3)
    if aio.sum(x) > 2:
        return
"""
    result = run(source)
    check(
        result,
        ">       if aio.sum(x) > 2:",
        "SyncReadError: bool(array) of an Array that was not awaited is a synchronous read: it holds the event loop "
        "until the value is there. Await it first (`await array`*",
        f"test_if_array_in_a_coroutine.py:{line(source, 'if aio.sum')}: SyncReadError",
        failed=1,
    )
    result.stdout.no_fnmatch_line("*host_reads.py*")  # the traceback ends at the line that can be changed


def test_blocking_in_a_callback(run: Run) -> None:
    source = f"""{HEAD}
def report(done, x):
    x.block_until_ready()
    done.set()

@pytest.mark.aioarray(max_loop_lag=100)
async def test_handler():
    done = asyncio.Event()
    with testing.delay(0.4):
        x = aio.ones(3) + 1
    asyncio.get_running_loop().call_soon(report, done, x)
    await done.wait()
"""
    check(
        run(source),
        "aioarray: the event loop was held for longer than max_loop_lag=100 ms:",
        f"  * ms at *test_blocking_in_a_callback.py:{line(source, 'block_until_ready')} in report",
        failed=1,
    )


def test_a_compile_for_each_request(run: Run) -> None:
    source = f"""{HEAD}
@aio.jit
def score(x):
    return aio.sum(x * x) + 1

@pytest.fixture
def warm():
    score(aio.asarray(np.ones(1))).block_until_ready()

@pytest.mark.aioarray(max_compiles=0)
async def test_requests(warm):
    for length in (1, 2, 3):
        await score(aio.asarray(np.ones(length)))
"""
    where = f"needed at *test_a_compile_for_each_request.py:{line(source, 'await score')} in test_requests"
    check(
        run(source),
        "aioarray: 2 programs were compiled in the test, max_compiles=0: keep shapes, dtypes and static arguments the "
        "same from call to call (jit's buckets), and compile in a fixture, which is not counted",
        f"  `score` for float64[[]2], {where}",
        f"  `score` for float64[[]3], {where}",
        failed=1,
    )


def test_leaked_pending_work(run: Run) -> None:
    source = f"""{HEAD}
KEPT = []

async def test_handler(forever):
    KEPT.append(aio.ones(3) + 1)

async def test_other():
    pass

@pytest.fixture(scope="module")
def forever():
    with testing.hold(match="add"):
        yield
"""
    check(
        run(source, "-o", "aioarray_leak_grace=0.05"),
        "ERROR at teardown of test_handler",
        "aioarray: 1 launch is still pending, and nobody waits for the results: await them, or end what computes them "
        "before the test ends",
        f"  `add` enqueued at *test_leaked_pending_work.py:{line(source, 'KEPT.append')} in test_handler (queued)",
        passed=2,
        errors=1,
    )


def test_a_swallowed_error(run: Run) -> None:
    source = f"""{HEAD}
async def handler(x):
    y = x * 2
    while not y.is_ready():
        await asyncio.sleep(0.001)
    return "ok"  # y has an error, which nobody will hear of

async def test_handler(fault_injector):
    fault_injector("RESOURCE_EXHAUSTED: out of memory", match="multiply")
    assert await handler(aio.ones(3)) == "ok"
"""
    where = f"*test_a_swallowed_error.py:{line(source, 'y = x * 2')} in handler"
    check(
        run(source),
        "ERROR at teardown of test_handler",
        "aioarray: 1 error that nobody saw: await every result, or handle what its await raises",
        f"  multiply, enqueued at {where}: RESOURCE_EXHAUSTED: out of memory",
        passed=1,
        errors=1,
    )


def test_an_await_under_a_held_lock(run: Run) -> None:
    source = f"""{HEAD}
class Service:
    def __init__(self):
        self._lock = threading.Lock()

    async def step(self, x):
        with self._lock:
            return await (x + 1)

async def test_handler():
    service = Service()
    x = aio.ones(3)
    # Without the plugin this hangs: the second step stops the loop, on which the first one would go on.
    await asyncio.gather(service.step(x), service.step(x))
"""
    first, second = line(source, "with self._lock"), line(source, "return await")
    check(
        run(source),
        ">           return await (x + 1)",
        f"HeldLockError: an Array is awaited at *test_an_await_under_a_held_lock.py:{second} in step while "
        f"`self._lock`, a threading.Lock, is held since line {first}: another task that wants it stops the event loop, "
        "and this task with it, for good. Release the lock before the await, or use asyncio.Lock or anyio.Lock "
        "with `async with`",
        failed=1,
    )


def test_an_assertion_that_was_not_awaited(run: Run) -> None:
    source = f"""{HEAD}
async def test_handler():
    testing.assert_allclose(aio.ones(3) + 1, 7)
"""
    where = f"*test_an_assertion_that_was_not_awaited.py:{line(source, 'assert_allclose')} in test_handler"
    check(
        run(source),
        f"aioarray: assert_allclose at {where} has checked nothing: in an event loop, Arrays that were not awaited are "
        "not read; write `await assert_allclose(...)`",
        failed=1,
    )


def test_device_memory_that_has_grown(run: Run) -> None:
    source = f"""{HEAD}
CACHE = {{}}

async def test_handler():
    CACHE["last"] = await (aio.ones((1024, 1024)) + 1)
"""
    check(
        run(source),
        "aioarray: device memory has grown by 4 MiB: delete() what is kept, or let go of it (1 MiB is allowed: "
        "aioarray_leak_bytes)",
        f"  float32[[]1024, 1024], 4 MiB, `add` enqueued at *.py:{line(source, 'CACHE[')} in test_handler, kept in "
        "the global test_device_memory_that_has_grown.CACHE",
        passed=1,
        errors=1,
    )


def test_a_thread_that_still_waits(run: Run) -> None:
    source = f"""{HEAD}
@pytest.fixture(scope="module")
def forever():
    with testing.hold(match="add"):
        yield

def work(x):
    x.block_until_ready()

async def test_handler(forever):
    thread = threading.Thread(target=work, args=(aio.ones(3) + 1,), name="worker-7")
    thread.start()
    while "block" not in frames_of(thread):
        await asyncio.sleep(0.001)

async def test_other():
    pass

def frames_of(thread):
    import sys, traceback
    return [frame.name for frame in traceback.extract_stack(sys._current_frames()[thread.ident])]
"""
    check(
        run(source, "-o", "aioarray_leak_grace=0.05"),
        "1 thread is still waiting for an Array: end that before the test ends",
        f"  worker-7, at *test_a_thread_that_still_waits.py:{line(source, 'x.block_until_ready')} in work",
        passed=2,
        errors=1,
    )
