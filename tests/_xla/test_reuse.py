"""Memory of large arrays that are gone is taken again, never while anybody can see it, and given up after a while."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aioarray as aio
from aioarray import _xla
from aioarray._xla.buffers import empty_aligned
from aioarray._xla.reuse import KEEP_SECONDS, LARGE_BYTES, SLACK, HostMemory, host_memory
from tests._xla.programs import run_python

if TYPE_CHECKING:
    from collections.abc import Callable


class Later:
    """Calls functions when the test says so, at the time that it says."""

    def __init__(self) -> None:
        self.now = 100.0
        self.soon: list[Callable[[], None]] = []
        self.planned: list[tuple[float, Callable[[], None]]] = []

    def call_soon(self, function: Callable[[], None]) -> None:
        self.soon.append(function)

    def call_at(self, when: float, function: Callable[[], None]) -> None:
        self.planned.append((when, function))

    def run(self) -> None:
        """What is to be called by now."""
        while self.soon:
            self.soon.pop()()
        due = [function for when, function in self.planned if when <= self.now]
        self.planned = [(when, function) for when, function in self.planned if when > self.now]
        for function in due:
            function()


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def memory(later: Later) -> HostMemory:
    memory = HostMemory(lambda: later.now)
    memory.keep(later.call_soon, later.call_at)
    return memory


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_memory_that_was_given_back_is_taken_again(memory: HostMemory) -> None:
    first = memory.take(1000)
    where = address(first)
    second = memory.take(1000)
    assert address(second) != where
    del first
    assert memory.kept() == 1000
    assert address(memory.take(1000)) == where
    assert memory.kept() == 1000  # what the line before took is gone again


def test_memory_is_not_taken_while_a_view_of_it_is_there(memory: HostMemory) -> None:
    view = memory.take(1000)[64:].view(np.float32)[3:].reshape(-1, 3)[:, 1]
    assert memory.kept() == 0
    exported = memoryview(view)
    del view
    gc.collect()
    assert memory.kept() == 0
    del exported
    assert memory.kept() == 1000


@pytest.mark.parametrize(("asked", "fits"), [(800, True), (790, True), (700, False), (801, False)])
def test_memory_of_about_the_size_is_taken(memory: HostMemory, asked: int, fits: bool) -> None:
    assert (asked <= 800 <= asked + asked // SLACK) == fits
    del (first := [memory.take(800)])[:]
    taken = memory.take(asked)
    assert taken.nbytes == asked
    assert memory.kept() == (0 if fits else 800)
    assert not first


def test_no_more_is_kept_than_the_limit_and_the_newest_first(memory: HostMemory) -> None:
    memory.limit = 2500
    blocks = [memory.take(1000 + i) for i in range(4)]
    while blocks:
        blocks.pop(0)
    assert memory.kept() == 1002 + 1003
    big = [memory.take(5000)]
    big.clear()
    assert memory.kept() == 0


def test_the_limit_holds_for_what_nobody_has_looked_at(memory: HostMemory, later: Later) -> None:
    memory.limit = 2500
    blocks = [memory.take(1000) for _ in range(10)]
    blocks.pop()
    later.run()
    while blocks:
        blocks.pop()
        later.run()
        assert sum(block.nbytes for _, block in [*memory._kept, *memory._returned]) <= memory.limit


def test_taking_does_not_wait_for_the_lock(memory: HostMemory) -> None:
    """Which the same thread may hold, where a signal handler takes memory."""
    del (first := [memory.take(1000)])[:]
    with memory._lock:
        assert memory.take(1000).nbytes == 1000
    assert memory.kept() == 2000, first


def test_memory_is_given_up_after_a_while(memory: HostMemory, later: Later) -> None:
    blocks = [memory.take(1000), memory.take(2000)]
    blocks.pop()
    later.run()
    later.now += KEEP_SECONDS / 2
    blocks.pop()
    later.run()
    assert memory.kept() == 3000
    later.now += KEEP_SECONDS / 2
    later.run()
    assert memory.kept() == 1000
    later.now += KEEP_SECONDS / 2
    later.run()
    assert memory.kept() == 0
    assert later.planned == []
    del (again := [memory.take(10)])[:]
    assert len(later.soon) == 1, again  # and so on


def test_nothing_is_kept_before_somebody_gives_it_up() -> None:
    memory = HostMemory()
    del (first := [memory.take(1000)])[:]
    assert memory.kept() == 0, first


def test_release(memory: HostMemory) -> None:
    del (first := [memory.take(1000)])[:]
    memory.release()
    assert memory.kept() == 0, first


# The one of the process


@pytest.fixture
def nothing_kept() -> None:
    """Nor on its way there from other tests."""
    aio.zeros(1).block_until_ready()
    gc.collect()
    _xla.collect_garbage()
    host_memory.release()


@pytest.mark.usefixtures("nothing_kept")
def test_copies_of_large_arrays_take_it_and_delete_gives_it_up() -> None:
    source = np.ones(LARGE_BYTES // 4, np.float32)
    array = aio.asarray(source)
    del array
    _xla.collect_garbage()
    assert host_memory.kept() >= LARGE_BYTES
    array = aio.asarray(source)
    assert host_memory.kept() == 0
    array = aio.asarray(source) + array
    assert np.asarray(array)[0] == 2.0
    _xla.collect_garbage()
    buffer = aio.asarray(source)._buffer
    assert buffer is not None
    _xla.delete(buffer)
    assert host_memory.kept() == 0


@pytest.mark.usefixtures("nothing_kept")
def test_what_is_small_is_not_kept() -> None:
    empty_aligned((LARGE_BYTES // 8,), np.dtype(np.float32))
    assert host_memory.kept() == 0


def test_values_stay_what_they_are_while_memory_goes_round() -> None:
    """On several threads, with views and results of donated buffers that outlive the Arrays."""
    rows = LARGE_BYTES // 4 // 1024
    double = aio.jit(lambda x: x * 2.0, donate_argnums=0)
    wrong: list[str] = []

    def go_round(number: int) -> None:
        kept: list[tuple[float, np.ndarray]] = []
        for turn in range(12):
            value = float(100 * number + turn)
            array = aio.asarray(np.full((rows, 1024), value, np.float32))
            view = np.asarray(array)[turn % 3 :: 7]
            kept.append((value, view))
            if turn % 3 == 0:
                del view
                kept.pop()
                kept.append((2.0 * value, np.asarray(double(array))))
            kept = kept[-3:]
            wrong.extend(f"{value} is {seen.min()} to {seen.max()}" for value, seen in kept if (seen != value).any())

    threads = [threading.Thread(target=go_round, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    host_memory.release()


def test_a_forked_child_keeps_nothing() -> None:
    run_python(
        f"""
import os, warnings
import numpy as np
import aioarray as aio
from aioarray._xla.reuse import host_memory
warnings.simplefilter("ignore")
block = host_memory.take(1000)
array = aio.asarray(np.ones({LARGE_BYTES // 4}, np.float32))
child = os.fork()
if not child:
    del block, array
    os._exit(host_memory.kept() != 0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    )
