"""Copies to the device: how many at a time."""

from __future__ import annotations

import os
import threading
from typing import Any

import anyio
import anyio.to_thread
import numpy as np
import pytest

import aioarray as aio
from aioarray._functions import waiting

MOST = max(1, (os.cpu_count() or 1) // 2)
LARGE = np.ones(waiting._LARGE_BYTES, np.uint8)


class Copying:
    """In place of ``from_host``: copies of what is large wait until they are let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.begun = threading.Semaphore(0)
        self.running = self.most = 0
        self._lock = threading.Lock()
        self._original = waiting.from_host
        monkeypatch.setattr(waiting, "from_host", self)

    async def all_begun(self) -> None:
        for _ in range(MOST):
            await anyio.to_thread.run_sync(self.begun.acquire)

    def __call__(self, value: np.ndarray, device: Any) -> aio.Array:
        if value.nbytes < waiting._LARGE_BYTES:
            return self._original(value, device)
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.begun.release()
        assert self.go.wait(60)
        with self._lock:
            self.running -= 1
        return self._original(value, device)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_large_copies_leave_cores_to_the_loop_and_hold_up_no_smaller_ones(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = Copying(monkeypatch)
    results: list[aio.Array] = []

    async def put() -> None:
        results.append(await aio.device_put(LARGE))

    async with anyio.create_task_group() as tasks:
        for _ in range(MOST + 2):
            tasks.start_soon(put)
        await copying.all_begun()
        smaller = np.ones(waiting._COPY_HERE_BYTES + 1, np.uint8)
        assert (await aio.device_put(smaller)).shape == smaller.shape
        assert results == []
        copying.go.set()
    assert copying.most == MOST
    assert [int(await aio.sum(x)) for x in results] == [LARGE.size] * (MOST + 2)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_large_copy_that_waits_for_its_turn_is_cancelled_at_once(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = Copying(monkeypatch)
    async with anyio.create_task_group() as tasks:
        for _ in range(MOST):
            tasks.start_soon(aio.device_put, LARGE)
        await copying.all_begun()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await aio.device_put(LARGE)
        assert scope.cancelled_caught
        copying.go.set()
    assert copying.most == MOST
