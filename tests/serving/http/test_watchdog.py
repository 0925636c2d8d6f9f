"""Where the event loop is held up is told."""

from __future__ import annotations

import logging
import threading

import pytest

from aioarray.serving import Watchdog
from tests.serving.clients import until


@pytest.mark.asyncio
async def test_watchdog_tells_where_the_loop_is_held_up(caplog: pytest.LogCaptureFixture) -> None:
    async with Watchdog(0.05) as watchdog:
        await until(lambda: watchdog.lag().p50 > 0)
        with caplog.at_level(logging.WARNING, "aioarray.serving"):
            hold_up(watchdog)
        assert watchdog.lag().stalls >= 1
    assert "hold_up" in watchdog.where
    assert "hold_up" in caplog.text
    with pytest.raises(ValueError, match="limit"):
        Watchdog(0)


def hold_up(watchdog: Watchdog) -> None:
    told = threading.Event()
    while not watchdog.stalls:  # the other thread sees it
        told.wait(0.01)
