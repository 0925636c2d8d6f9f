"""How late an event loop is: what the promise is held to, and what the benchmarks of the loop measure."""

from __future__ import annotations

import asyncio
import time

import numpy as np

TICK_SECONDS = 1e-3


class LoopLag:
    """Measures how late a coroutine is that sleeps a millisecond at a time: ``async with LoopLag() as lag``."""

    def __init__(self) -> None:
        self.late: list[float] = []

    async def __aenter__(self) -> LoopLag:
        self._task = asyncio.create_task(self._measure())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(2 * TICK_SECONDS)  # lets it see a gap that began before
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _measure(self) -> None:
        before = time.perf_counter()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.perf_counter()
            self.late.append(now - before - TICK_SECONDS)
            before = now

    def figures(self) -> dict[str, float]:
        return {
            "p50": float(np.quantile(self.late, 0.5)),
            "p99": float(np.quantile(self.late, 0.99)),
            "max": max(self.late),
        }
