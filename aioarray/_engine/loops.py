"""Which event loop runs on this thread, and its ``Host``."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from ._asyncio import AsyncioHost

if TYPE_CHECKING:
    import asyncio

    from .host import Host


class _Current(threading.local):
    """This thread's latest host."""

    host: AsyncioHost | None = None


_current = _Current()


def running_asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """The asyncio loop that runs on this thread, if any; does not import asyncio, which takes a while."""
    module = sys.modules.get("asyncio.events")
    return None if module is None else module._get_running_loop()


def in_event_loop() -> bool:
    """Whether the calling code runs on an event loop."""
    if running_asyncio_loop() is not None:
        return True
    trio = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_run()


def current_host() -> Host:
    """The host of the loop that runs on this thread. Raises ``RuntimeError`` where none runs."""
    loop = running_asyncio_loop()
    if loop is not None:
        host = _current.host
        if host is None or host.loop() is not loop:
            host = _current.host = AsyncioHost(loop)
        return host
    if in_event_loop():
        from ._trio import TrioHost

        return TrioHost()
    raise RuntimeError("await of an Array outside asyncio and trio; use block_until_ready() there")
