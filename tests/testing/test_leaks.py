"""What is told of memory that a test leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aioarray as aio
from aioarray.testing import _leaks

if TYPE_CHECKING:
    import pytest

NUMBERS = 1 << 18


def live(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The buffers that there are, as far as is looked; those of earlier tests would go at any moment."""
    buffers: list[Any] = []
    monkeypatch.setattr(_leaks, "_live_buffers", lambda: list(buffers))
    return buffers


def test_memory_that_is_let_go_a_moment_later_is_no_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that waited for an end hold its buffer until they run."""
    buffers = live(monkeypatch)
    earlier = _leaks.before()
    buffers.append(aio.full(NUMBERS, 2.0).block_until_ready()._buffer)
    waits: list[float] = []

    def release(seconds: float) -> None:
        waits.append(seconds)
        buffers.clear()

    monkeypatch.setattr(_leaks, "sleep", release)
    assert _leaks.memory(earlier, NUMBERS) == []
    assert len(waits) == 1


def test_memory_that_stays_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = live(monkeypatch)
    earlier = _leaks.before()
    held = aio.full(NUMBERS, 3.0).block_until_ready()
    buffers.append(held._buffer)
    monkeypatch.setattr(_leaks, "_RELEASE_SECONDS", 0.0)
    told = _leaks.memory(earlier, NUMBERS)
    assert told[0].startswith("device memory has grown by 1 MiB")
    assert "float32[262144]" in told[1]
