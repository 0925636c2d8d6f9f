"""What a connection may do: limits that uvicorn's protocol leaves to whoever uses it.

Uvicorn reads as fast as a client sends, and waits for ever. Here a connection is closed when its head does not come,
when its body does not, when its answers are not read; a head has a limit of size; requests behind one that is being
answered are not parsed before it is their turn; and there is a limit of connections, at which the one that has been
doing nothing for longest gives way. Event loop's thread only.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

logger = logging.getLogger("aioarray.serving")

# Bytes that are parsed at a time where heads may be in them: so many requests can be in there at most.
SLICE: Final = 4096
# Seconds that a client that was refused has to read why, while what it sends is thrown away.
LINGER: Final = 1.0
LOG_PERIOD: Final = 10.0  # seconds between log lines of one kind


@dataclass(slots=True, kw_only=True)
class ConnectionLimits:
    """Bytes, counts and seconds; and which connections of a server wait for a request."""

    max_head: int = 64 << 10
    max_headers: int = 256
    max_connections: int = 4096
    head_seconds: float = 10.0
    body_seconds: float = 75.0  # more than the application's, which answers 408
    write_seconds: float = 60.0
    waiting: dict[GuardedProtocol, None] = field(default_factory=dict)  # the one that waits for longest first
    logged: dict[str, float] = field(default_factory=dict)

    def log(self, what: str) -> None:
        """A warning, unless the same was logged just now."""
        now = time.monotonic()
        if now - self.logged.get(what, -LOG_PERIOD) >= LOG_PERIOD:
            self.logged[what] = now
            logger.warning("%s", what)


class _Flow(FlowControl):
    """Uvicorn resumes reading after every answer; here only while nothing is held back."""

    held = False

    def resume_reading(self) -> None:
        if not self.held:
            super().resume_reading()


def guarded(limits: ConnectionLimits) -> type[GuardedProtocol]:
    """The protocol with these limits, as uvicorn's option ``http`` takes it."""

    class Limited(GuardedProtocol):
        pass

    Limited.limits = limits
    return Limited


class GuardedProtocol(HttpToolsProtocol):
    """One connection."""

    limits: ConnectionLimits

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._gate: _Flow
        self._held = b""  # what came and is not parsed yet
        self._between = False  # a request is whole, and the next has not begun
        self._in_head = True
        self._head_bytes = 0
        self._body_left: int | None = 0  # of the request being read; None where it comes in chunks
        self._refused = False
        self._timer: asyncio.TimerHandle | None = None  # for what the client has to send
        self._write_timer: asyncio.TimerHandle | None = None  # for what it has to read

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self.flow = self._gate = _Flow(transport)
        if len(self.connections) > self.limits.max_connections:
            self.limits.log(f"there are more than {self.limits.max_connections} connections, the limit")
            idle = next(iter(self.limits.waiting), None)
            if idle is None:
                self._refuse(503)
                return
            del self.limits.waiting[idle]
            idle.transport.abort()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone, or was closed."""
        self.limits.waiting.pop(self, None)
        self._cancel(self._timer)
        self._cancel(self._write_timer)
        self._held = b""
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self.limits.waiting[self] = None
        self._expect(self.limits.head_seconds, self._no_head)

    def _expect(self, seconds: float, late: Callable[[], None]) -> None:
        self._cancel(self._timer)
        self._timer = self.loop.call_later(seconds, late)

    @staticmethod
    def _cancel(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()

    def _no_head(self) -> None:
        self.limits.log(f"closed a connection whose request did not come within {self.limits.head_seconds:g} s")
        if self._head_bytes:
            self._refuse(408)
        else:
            self.transport.close()

    def _no_body(self) -> None:
        self.limits.log(f"closed a connection whose body did not come within {self.limits.body_seconds:g} s")
        self.transport.abort()

    # Reading

    def data_received(self, data: bytes) -> None:
        """Some bytes have come."""
        if self._refused:
            return
        self._held += data
        self._parse()

    def _parse(self) -> None:
        """Parse what is held back, up to a request that has to wait for the one before it."""
        held, position = memoryview(self._held), 0
        while position < len(held) and not self._refused and not self.transport.is_closing():
            if self.pipeline or self.flow.write_paused:
                self._held = bytes(held[position:])
                self._gate.held = True
                self.flow.pause_reading()
                return
            if self._between:
                self._between, self._in_head, self._head_bytes = False, True, 0
                self._expect(self.limits.head_seconds, self._no_head)
            # The rest of a body has no head in it, as far as its length is known.
            data = held[position : position + max(SLICE, self._body_left or 0)]
            position += len(data)
            if self._in_head:
                self._head_bytes += len(data)
            super().data_received(bytes(data))
            if self._in_head and self._head_bytes > self.limits.max_head:
                self._refuse(431)
        self._held = b""
        if self._gate.held:
            self._gate.held = False
            self.flow.resume_reading()

    def on_message_begin(self) -> None:
        """The first byte of a request; behind another one in the same slice too."""
        super().on_message_begin()
        self._between, self._in_head = False, True

    def on_headers_complete(self) -> None:
        """A whole head."""
        if self._refused:
            return
        self.limits.waiting.pop(self, None)
        self._in_head, self._head_bytes = False, 0
        if len(self.headers) > self.limits.max_headers:
            self._refuse(431)
            return
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) != 1 and self.parser.get_http_version() == "1.1":
            self._refuse(400)
            return
        self._body_left = 0
        for name, value in self.headers:
            if name == b"content-length":
                self._body_left = int(value)
            elif name == b"transfer-encoding":
                self._body_left = None
        self._expect(self.limits.body_seconds, self._no_body)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of a body."""
        if self._body_left is not None:
            self._body_left = max(0, self._body_left - len(body))
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """A whole request."""
        if not self._refused:
            self._between, self._body_left = True, 0
            self._cancel(self._timer)
            super().on_message_complete()

    # Answers

    def on_response_complete(self) -> None:
        """An answer was written, as far as the client takes it."""
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if not self.pipeline and not self._held and self._between:
            self.limits.waiting[self] = None  # uvicorn's own timer runs
        self._parse()

    def pause_writing(self) -> None:
        """The client does not read its answers."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.limits.write_seconds, self._not_read)

    def resume_writing(self) -> None:
        """It goes on."""
        self._cancel(self._write_timer)
        super().resume_writing()
        self._parse()

    def _is_answering(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _not_read(self) -> None:
        self.limits.log(f"closed a connection whose answers were not read for {self.limits.write_seconds:g} s")
        self.transport.abort()

    def _refuse(self, status: int) -> None:
        """Answer with ``status``, and read nothing more. What is being answered before is not cut into."""
        self._refused = True
        self._held = b""
        self._cancel(self._timer)
        self._unset_keepalive_if_required()
        self.limits.waiting.pop(self, None)
        self._gate.held = False
        self.flow.resume_reading()
        if self._is_answering():
            self.cycle.keep_alive = False  # closed when that is written
            return
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode())
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # Closed at once, what the client has sent meanwhile would have it reset, and the answer lost.
        self._timer = self.loop.call_later(LINGER, self.transport.abort)
