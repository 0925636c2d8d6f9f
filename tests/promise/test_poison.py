"""An error arrives where a value is awaited or read, every time, and nowhere else."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import run
from aioarray._engine import engine
from tests.promise.failing import absurd, failing
from tests.promise.work import LOST, full, products, sin, warm_up

if TYPE_CHECKING:
    from collections.abc import Callable

THIS_FILE = __file__


def line() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


async def check_failed(array: aio.Array, operation: str, where: int, status: str = "RESOURCE_EXHAUSTED") -> None:
    """Every await and every read raises the error, in several tasks, twice."""

    async def awaiting() -> None:
        await array

    for _ in range(2):
        errors = await asyncio.wait_for(
            asyncio.gather(*[awaiting() for _ in range(5)], array.to_host(), return_exceptions=True), LOST
        )
        assert len(errors) == 6
        for error in errors:
            assert isinstance(error, aio.errors.DeviceError)
            assert error.operation == operation
            assert error.status == status
            assert error.location is not None
            assert error.location.startswith(f"{THIS_FILE}:{where} in ")
            assert "injected" in error.detail or status != "RESOURCE_EXHAUSTED" or "emory" in error.detail
        assert len({id(error) for error in errors}) == 6, "exceptions must not be shared"
    reads: list[Callable[[], Any]] = [
        lambda: np.asarray(array),
        array.tolist,
        array.block_until_ready,
        lambda: aio.block_until_ready([array]),
    ]
    with aio.sync_reads("allow"):
        for read in reads:
            with pytest.raises(aio.errors.DeviceError) as caught:
                read()
            assert caught.value.operation == operation
    assert array.is_ready()
    assert "failed" in repr(array)


@pytest.mark.asyncio
@pytest.mark.parametrize("refuse", [False, True])
async def test_chain_enqueued_after_the_failure(no_unhandled_loop_exceptions: object, refuse: bool) -> None:
    a, where = run(failing(refuse=refuse), []), line()
    b = a + 1.0
    c = sin(b)
    for array in (a, b, c):
        await check_failed(array, "poisoned", where)
    np.testing.assert_array_equal(await (full((4,)) + 1.0).to_host(), np.full(4, 2.0))


@pytest.mark.asyncio
@pytest.mark.parametrize("refuse", [False, True])
async def test_chain_queued_before_the_failure(no_unhandled_loop_exceptions: object, refuse: bool) -> None:
    hold = threading.Event()
    a, where = run(failing(hold=hold, refuse=refuse), []), line()
    b = a + 1.0
    c = sin(b)
    unrelated = full((4,)) + 1.0
    both = b * unrelated
    waiting = [asyncio.create_task(check_failed(array, "poisoned", where)) for array in (a, b, c, both)]
    await asyncio.sleep(0)
    hold.set()
    await asyncio.gather(*waiting)
    np.testing.assert_array_equal(await unrelated.to_host(), np.full(4, 2.0))


@pytest.mark.asyncio
async def test_long_chain_queued_before_the_failure() -> None:
    hold = threading.Event()
    a, where = run(failing(hold=hold), []), line()
    last = a
    for _ in range(100_000):
        last = last + a
    hold.set()
    await check_failed(last, "poisoned", where)
    await check_failed(a, "poisoned", where)


@pytest.mark.asyncio
async def test_every_result_of_a_program_fails() -> None:
    hold = threading.Event()
    (a, b), where = run(failing(((4,), (2, 3)), hold=hold), []), line()
    del a
    c = b * 2.0
    hold.set()
    await check_failed(b, "poisoned", where)
    await check_failed(c, "poisoned", where)


@pytest.mark.asyncio
async def test_error_does_not_reach_later_values() -> None:
    a = run(failing(), [])
    with pytest.raises(aio.errors.DeviceError):
        await a
    a = full((4,)) + 1.0
    np.testing.assert_array_equal(await a.to_host(), np.full(4, 2.0))


@pytest.mark.asyncio
async def test_setitem_into_a_failed_array_fails() -> None:
    a = run(failing(), [])
    a[0] = 1.0
    with pytest.raises(aio.errors.DeviceError, match="poisoned"):
        await a


@pytest.mark.asyncio
async def test_allocation_of_absurd_size(no_unhandled_loop_exceptions: object) -> None:
    await full(())
    a, where = absurd(), line()
    b = a[0, :4] + 1.0
    c = b * 2.0
    for array in (a, b, c):
        with pytest.raises(aio.errors.DeviceError) as caught:
            await asyncio.wait_for(array, LOST)
        assert caught.value.status == "RESOURCE_EXHAUSTED"
        assert caught.value.operation == "broadcast_to"
    assert where
    np.testing.assert_array_equal(await (full((4,)) + 1.0).to_host(), np.full(4, 2.0))


@pytest.mark.asyncio
async def test_as_completed_gives_failed_arrays() -> None:
    hold = threading.Event()
    a, fine, queued = run(failing(), []), full((4,)) + 1.0, run(failing(hold=hold), [])
    hold.set()
    got = [array async for array in aio.as_completed([a, fine, queued])]
    assert {id(array) for array in got} == {id(a), id(fine), id(queued)}
    for array in (a, queued):
        with pytest.raises(aio.errors.DeviceError):
            await array


@pytest.mark.asyncio
async def test_trees_raise_the_error() -> None:
    tree = {"fine": full((4,)) + 1.0, "bad": [run(failing(), [])]}
    with pytest.raises(aio.errors.DeviceError):
        await aio.ready(tree)
    with pytest.raises(aio.errors.DeviceError):
        await aio.to_host(tree)


def all_logged() -> None:
    """Wait until the thread that logs has come to what was given to it before."""
    done = threading.Event()
    engine.threads.start(done.set, "aioarray-test")
    assert done.wait(LOST)


@pytest.mark.aioarray(leaks="allow")  # which would find it
def test_error_never_seen_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    a, where = run(failing(message="INTERNAL: nobody looks"), []), line()
    b = [a + float(i) for i in range(10)]
    del a, b
    gc.collect()
    all_logged()
    records = [record for record in caplog.records if record.name == "aioarray"]
    assert len(records) == 1, caplog.text
    assert records[0].levelno == logging.ERROR
    message = records[0].getMessage()
    assert "poisoned" in message
    assert "nobody looks" in message
    assert f"{THIS_FILE}:{where}" in message


def test_error_of_dropped_results_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    hold = threading.Event()
    a = run(failing(message="INTERNAL: nobody looks", hold=hold), [])
    chain = a
    for _ in range(10):
        chain = chain + 1.0
    del a
    hold.set()
    with pytest.raises(aio.errors.DeviceError):
        chain.block_until_ready()
    del chain
    gc.collect()
    all_logged()
    assert not caplog.records, "the error was seen, through a dependent"


def test_seen_error_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    a = run(failing(), [])
    b = a + 1.0
    with pytest.raises(aio.errors.DeviceError):
        b.block_until_ready()
    del a, b
    gc.collect()
    all_logged()
    assert not caplog.records


@pytest.mark.asyncio
async def test_failures_do_not_use_up_the_window() -> None:
    warm_up(256)
    for _ in range(100):
        array = run(failing(), [])
        with pytest.raises(aio.errors.DeviceError):
            await array
        hold = threading.Event()
        hold.set()
        array = run(failing(hold=hold, refuse=True), [])
        with pytest.raises(aio.errors.DeviceError):
            await array
    await aio.drain(1)
    stats = aio.stats()
    assert (stats["pending"], stats["in_flight"]) == (0, 0)
    await products(4, 256)


@pytest.mark.asyncio
async def test_failures_and_values_interleaved_under_load() -> None:
    """Failed and fine programs in one graph, awaited while they are queued, launched and over."""
    warm_up(256)
    fine, failed = [], []
    for i in range(200):
        product = products(2, 256)
        fine.append(product[0, :4] * 1.0)
        failed.append(fine[-1] + (run(failing(message=f"INTERNAL: number {i}"), [])))
    tasks = [asyncio.ensure_future(array.to_host()) for array in [*fine, *failed]]
    results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), LOST)
    for value in results[:200]:
        np.testing.assert_array_equal(value, [0, 0, 1, 0])
    for i, error in enumerate(results[200:]):
        assert isinstance(error, aio.errors.DeviceError)
        assert error.detail == f"number {i}"
