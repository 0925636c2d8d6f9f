"""Donated arguments: memory is reused, the Arrays are deleted, and nobody else's value changes."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import _xla

SIZE = 1 << 16


@aio.jit(donate_argnames="state")
def step(state: Any, x: Any) -> Any:
    return aio.maximum(state + x, 0.0)


def address(x: aio.Array) -> int:
    x.block_until_ready()
    return _xla.unsafe_pointer(x._buffer)


def test_buffer_is_reused_and_array_deleted() -> None:
    x = aio.ones(SIZE)
    state = aio.zeros(SIZE)
    step(aio.zeros(SIZE), x).block_until_ready()
    reused = 0
    for turn in range(5):
        before = address(state)
        donated = state
        state = step(state, x)
        reused += address(state) == before
        assert donated.is_deleted()
        with pytest.raises(aio.errors.DeletedArrayError, match="donated"):
            donated + 1
        assert float(state[0]) == turn + 1
    assert reused >= 4  # the first may share the memory of a NumPy array
    assert not x.is_deleted()


@pytest.mark.asyncio
async def test_running_ahead_with_donated_pending_arrays() -> None:
    x = aio.ones(SIZE)
    state = aio.zeros(SIZE)
    for _ in range(100):
        state = step(state, x)
    np.testing.assert_array_equal(await state.to_host(), np.full(SIZE, 100, np.float32))


def test_same_array_twice_is_refused_before_anything_is_enqueued() -> None:
    x = aio.ones(3)
    before = aio.stats()["enqueued"]
    with pytest.raises(ValueError, match=r"step: argument state is donated, but step: argument x is the same Array"):
        step(x, x)
    with pytest.raises(ValueError, match="same Array"):
        step(copy.copy(x), x)
    assert aio.stats()["enqueued"] == before
    assert not x.is_deleted()


def test_closed_over_array_cannot_be_donated() -> None:
    w = aio.ones(3)
    f = aio.jit(lambda x: x + w, donate_argnums=0)
    assert float(f(aio.ones(3))[0]) == 2.0
    with pytest.raises(ValueError, match="an Array that the function closes over is the same Array"):
        f(w)


def test_handles_of_the_same_buffer_keep_their_value() -> None:
    x = aio.ones(SIZE)
    state = x * 2
    other = copy.copy(state)
    result = step(state, x)
    assert state.is_deleted()
    assert not other.is_deleted()
    assert float(other[0]) == 2.0
    assert float(result[0]) == 3.0


def test_host_views_keep_their_value() -> None:
    x = aio.ones(SIZE)
    state = (x * 2).block_until_ready()
    view = np.asarray(state)
    result = step(state, x).block_until_ready()
    assert (view == 2).all()
    assert float(result[-1]) == 3.0


def test_memory_shared_with_numpy_is_not_overwritten() -> None:
    memory = np.zeros(SIZE + 16, np.float32)
    start = -memory.ctypes.data % 64 // 4
    mine = memory[start : start + SIZE]
    step(aio.asarray(mine, copy=False), aio.ones(SIZE)).block_until_ready()
    assert (mine == 0).all()


@pytest.mark.asyncio
async def test_launches_queued_before_keep_the_value() -> None:
    @aio.jit
    def slow(v: aio.Array, state: aio.Array) -> aio.Array:
        for _ in range(30):
            v = v @ v * 0.01
        return v[0, 0] * 0 + state

    x = aio.ones(SIZE)
    state = x * 4
    reading = slow(aio.ones((50, 50)), state)  # waits for its compilation
    result = step(state, x)
    np.testing.assert_array_equal((await reading.to_host())[:2], [4, 4])
    np.testing.assert_array_equal((await result.to_host())[:2], [5, 5])


@pytest.mark.asyncio
async def test_await_begun_before_gets_the_old_value() -> None:
    x = aio.ones(SIZE)
    state = aio.jit(lambda x: (x @ x) * 0 + x * 7)(x)  # compiles: pending
    waiting = asyncio.ensure_future(state.to_host())
    await asyncio.sleep(0)
    result = step(state, x)
    outcome = (await asyncio.gather(waiting, return_exceptions=True))[0]
    # It had begun to wait for the value, which is then either there or given up; never another one.
    assert isinstance(outcome, aio.errors.DeletedArrayError) or (outcome == 7).all()
    np.testing.assert_array_equal((await result.to_host())[:2], [8, 8])


def test_trees_are_donated_whole() -> None:
    @aio.jit(donate_argnums=0)
    def update(tree: Any, x: Any) -> Any:
        return {"a": tree["a"] + x, "b": [tree["b"][0] * x]}

    tree = {"a": aio.ones(4) * 1, "b": [aio.ones(4) * 1]}
    result = update(tree, 2.0)
    assert tree["a"].is_deleted()
    assert tree["b"][0].is_deleted()
    np.testing.assert_array_equal(np.asarray(result["a"]), [3, 3, 3, 3])


def test_donating_by_keyword() -> None:
    state, x = aio.ones(4) * 1, aio.ones(4)
    result = step(x=x, state=state)
    assert state.is_deleted()
    assert float(result[0]) == 2.0


def test_mistakes_raise_and_donate_nothing() -> None:
    with pytest.raises(ValueError, match="add"):
        step(aio.ones(3), aio.ones(4))
    with pytest.raises(ValueError, match=r"donate_argnames has 'nothing'"):
        aio.jit(lambda x: x, donate_argnames="nothing")
