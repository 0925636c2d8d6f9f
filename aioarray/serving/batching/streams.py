"""``Stream``: what a request to a stream model gives its consumer, and the channel that its items come through."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from .requests import Request


class Channel:
    """Between the model and a stream's consumer. Loop thread only, but for ``abandoned``."""

    __slots__ = ("abandoned", "arrived", "items", "limit", "request", "x")

    def __init__(self, x: Any, request: Request, limit: int) -> None:
        self.x: Any = x  # until it has joined
        self.request: Request = request
        self.items: deque[Any] = deque()
        self.limit: int = limit
        self.arrived: anyio.Event | None = None  # while a task waits
        self.abandoned: bool = False  # set by any thread, when the consumer's last reference goes

    def wake(self) -> None:
        """Resume the task that waits."""
        if self.arrived is not None:
            self.arrived.set()

    def put(self, item: Any) -> bool:
        """Add an item; False if there are too many already."""
        if len(self.items) >= self.limit:
            return False
        self.items.append(item)
        self.wake()
        return True


class Stream:
    """The items that a stream model yields for one request: ``async for item in stream``.

    Leaving ``async with stream``, ``aclose()``, and cancellation while waiting for an item give its slot free, as does
    dropping the last reference. One task at a time may wait for items.
    """

    def __init__(self, channel: Channel, withdraw: Callable[[Request], None]) -> None:
        self._channel = channel
        self._withdraw = withdraw

    def __del__(self) -> None:
        self._channel.abandoned = True

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        channel = self._channel
        while not channel.items:
            request = channel.request
            if request.done:
                error = request.take_error()
                if error is None:
                    raise StopAsyncIteration
                try:
                    raise error
                finally:
                    del error
            if channel.arrived is not None:
                raise RuntimeError("Stream: another task waits for the next item already")
            channel.arrived = anyio.Event()
            try:
                await channel.arrived.wait()
            except BaseException:
                self._close()
                raise
            finally:
                channel.arrived = None
        return channel.items.popleft()

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    async def aclose(self) -> None:
        """Want no more items."""
        self._close()

    def _close(self) -> None:
        self._channel.items.clear()
        self._withdraw(self._channel.request)
