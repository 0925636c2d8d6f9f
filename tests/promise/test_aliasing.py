"""What an Array was made of may change afterwards; what it gives out cannot change it."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Iterator

ALIGNMENT = 64


def placed(length: int, offset: int) -> np.ndarray:
    """float32 numbers whose memory begins ``offset`` bytes after a multiple of 64."""
    memory = np.empty(length * 4 + ALIGNMENT + offset, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT + offset
    result = memory[start : start + length * 4].view(np.float32)
    result[:] = np.arange(length)
    assert result.ctypes.data % ALIGNMENT == offset
    return result


@pytest.fixture
def switch_often() -> Iterator[None]:
    """Threads take turns many times in each operation."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("length", [4, 32, 4096, 5_000_000])
def test_asarray_has_the_values_of_then(length: int, offset: int) -> None:
    x = placed(length, offset)
    a = aio.asarray(x)
    double = a + a  # enqueued before the change
    x[:] = -1
    np.testing.assert_array_equal(np.asarray(a), np.arange(length, dtype=np.float32))
    np.testing.assert_array_equal(np.asarray(double), 2 * np.arange(length, dtype=np.float32))


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("length", [4, 4096])
def test_a_numpy_operand_has_the_values_of_then(length: int, offset: int) -> None:
    x = placed(length, offset)
    total = aio.zeros(length) + x
    x[:] = -1
    np.testing.assert_array_equal(np.asarray(total), np.arange(length, dtype=np.float32))


@pytest.mark.asyncio
@pytest.mark.parametrize("length", [4, 5_000_000])
async def test_device_put_has_the_values_of_its_return(length: int) -> None:
    x = placed(length, 0)
    tree = await aio.device_put({"x": [x, None]})
    x[:] = -1
    np.testing.assert_array_equal(await tree["x"][0].to_host(), np.arange(length, dtype=np.float32))


@pytest.mark.asyncio
async def test_to_host_is_read_only_or_independent() -> None:
    a = await (aio.arange(1000) + 1)
    value = await a.to_host()
    if value.flags.writeable:
        value[:] = -1
    else:
        with pytest.raises(ValueError, match="read-only"):
            value[:] = -1
    np.testing.assert_array_equal(await a.to_host(), np.arange(1000) + 1)


def test_numpy_asarray_is_read_only_or_independent() -> None:
    a = aio.arange(1000) + 1
    value = np.asarray(a)
    assert not value.flags.writeable
    copy = np.array(a, copy=True)
    copy[:] = -1
    np.testing.assert_array_equal(np.asarray(a), np.arange(1000) + 1)


def test_a_host_view_outlives_delete() -> None:
    a = aio.arange(100_000) + 1
    value = np.asarray(a)
    a.delete()
    del a
    junk = [aio.zeros(100_000) for _ in range(10)]
    aio.block_until_ready(junk)
    np.testing.assert_array_equal(value, np.arange(100_000) + 1)


def test_updates_leave_earlier_results_alone() -> None:
    a = aio.zeros(8)
    b = a + 0
    view = np.asarray(a)
    a[0] = 5.0
    np.testing.assert_array_equal(view, np.zeros(8))
    np.testing.assert_array_equal(np.asarray(b), np.zeros(8))
    np.testing.assert_array_equal(np.asarray(a), [5, 0, 0, 0, 0, 0, 0, 0])


def test_threads_that_update_one_array_lose_nothing(switch_often: None) -> None:
    threads, count = 4, 40
    parts, total = aio.zeros(threads * count), aio.zeros(())
    begin = threading.Barrier(threads)

    def update(thread: int) -> None:
        nonlocal total
        begin.wait()
        for i in range(thread * count, (thread + 1) * count):
            parts[i] = float(i + 1)
            total += 1

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(update, range(threads)))
    assert np.asarray(parts).tolist() == list(range(1, threads * count + 1))
    assert float(total) == threads * count
