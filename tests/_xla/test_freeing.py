"""Large memory: handed over by whoever gives it up, freed by another thread, and never much of it waiting."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import _xla
from aioarray._engine import engine
from aioarray._xla.freeing import LARGE, MOST_WAITING, Freeing, freed_elsewhere, freeing

if TYPE_CHECKING:
    from collections.abc import Callable

N = LARGE // 4  # elements of float32
NBYTES = 4 * N


class Thing:
    """Something to free."""


def all_freed() -> None:
    """Wait until what was handed over has been freed."""
    done = threading.Event()
    engine.threads.call_soon(done.set)
    assert done.wait(60)


def large(number: float = 1.0) -> aio.Array:
    x = (aio.ones(N) + number).block_until_ready()
    all_freed()
    return x


def test_nothing_waits_before_there_is_a_thread_and_after_its_end() -> None:
    box = [Thing()]
    gone = weakref.ref(box[0])
    freeing = Freeing()
    freeing.hand_over(box, 10)
    assert gone() is None
    calls: list[Callable[[], None]] = []
    freeing.begin(calls.append)
    freeing.end()
    freeing.hand_over([Thing()], 10)
    assert (calls, freeing.waiting, freeing.handed_over) == ([], 0, 0)


def test_another_thread_frees() -> None:
    calls: list[Callable[[], None]] = []
    freeing = Freeing()
    freeing.begin(calls.append)
    box = [Thing()]
    gone = weakref.ref(box[0])
    freeing.hand_over(box, 10)
    assert gone() is not None
    assert freeing.waiting == 10
    calls.pop()()
    assert gone() is None
    assert freeing.waiting == 0


def test_what_waits_is_bounded() -> None:
    calls: list[Callable[[], None]] = []
    freeing = Freeing()
    freeing.begin(calls.append)
    things = [Thing() for _ in range(3)]
    gone = list(map(weakref.ref, things))
    freeing.hand_over([things.pop(0)], 2 * MOST_WAITING)  # one may be larger
    freeing.hand_over([things.pop(0)], 1)  # freed here
    assert [thing() is None for thing in gone] == [False, True, False]
    calls.pop()()
    freeing.hand_over([things.pop(0)], 1)
    assert [thing() is None for thing in gone] == [True, True, False]


def handed_over(give_up: Callable[[], object]) -> int:
    before = freeing.handed_over
    give_up()
    count = freeing.handed_over - before
    all_freed()
    assert freeing.waiting == 0
    return count


def test_deleting_and_dropping_hand_over() -> None:
    x = large()
    assert handed_over(x.delete) == 1
    assert handed_over(x.delete) == 0
    assert x.is_deleted()
    box = [large()]
    assert handed_over(box.clear) == 1
    small = aio.ones(N - 1)
    assert handed_over(small.delete) == 0


def test_the_memory_is_gone_afterwards() -> None:
    x = large()
    x.is_ready()  # takes the buffer over
    client = _xla.get_client()
    before = sum(_xla.nbytes(buffer) for buffer in client.live_arrays())
    x.delete()
    all_freed()
    assert before - sum(_xla.nbytes(buffer) for buffer in client.live_arrays()) == NBYTES


def test_what_others_hold_stays() -> None:
    x = large(2.0)
    copy = x.__copy__()
    view = np.asarray(x)
    x.delete()
    all_freed()
    assert float(copy[0]) == 3.0
    del copy
    all_freed()
    assert view[-1] == 3.0


def test_an_update_in_place_hands_over_the_old_value() -> None:
    x = large()

    def update() -> None:
        x[0] = 5.0
        x.block_until_ready()

    assert handed_over(update) == 1
    assert x[:2].tolist() == [5.0, 2.0]
    assert handed_over(x.delete) == 1


def test_an_update_leaves_the_memory_to_both_names() -> None:
    x = large()
    y = x.at[0].set(7.0).block_until_ready()
    x[0] = 8.0
    x.block_until_ready()
    all_freed()
    assert (float(x[0]), float(y[0]), float(x[1])) == (8.0, 7.0, 2.0)


def test_a_result_that_nobody_waited_for() -> None:
    box = [aio.ones(N) + 1]
    box.clear()
    aio.ones(1).block_until_ready()
    all_freed()
    assert freeing.waiting == 0


def test_the_last_view_of_the_host_hands_over() -> None:
    x = large()
    view = np.asarray(x)
    part = view[: N // 2].reshape(2, -1)
    x.delete()
    all_freed()
    box = [part]
    del part
    del view
    assert handed_over(box.clear) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.bool_, ml_dtypes.bfloat16, np.int64])
def test_what_is_freed_elsewhere_is_the_same_array(dtype: type) -> None:
    array = np.arange(24).astype(dtype).reshape(2, 3, 4)
    array.flags.writeable = False
    view = freed_elsewhere(array)
    assert (view.dtype, view.shape, view.flags.writeable) == (array.dtype, array.shape, False)
    assert view.ctypes.data == array.ctypes.data
    assert np.array_equal(view, array)
    turned = array.T
    assert freed_elsewhere(turned) is turned
