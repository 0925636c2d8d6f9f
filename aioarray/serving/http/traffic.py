"""What is under way in a server, over HTTP and gRPC, and how much room that leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..._base.errors import QueueFullError
from ..batching.statistics import SECONDS, Histogram

if TYPE_CHECKING:
    from .limits import Limits


@dataclass(slots=True)
class Traffic:
    """What passes a server's gates. Loop thread only."""

    running: int = 0  # requests whose bodies are whole, and that are not answered
    bytes: int = 0  # of bodies, as far as they have come
    refused: int = 0
    answers: dict[int, int] = field(default_factory=dict)  # HTTP's status -> count
    codes: dict[str, int] = field(default_factory=dict)  # gRPC's code -> count
    seconds: Histogram = field(default_factory=lambda: Histogram(SECONDS))

    def answered(self, status: int) -> None:
        """Count an answer over HTTP."""
        self.answers[status] = self.answers.get(status, 0) + 1

    def ended(self, code: str) -> None:
        """Count a call over gRPC."""
        self.codes[code] = self.codes.get(code, 0) + 1


class Share:
    """One request's part of the traffic, charged as its body comes. Loop thread only."""

    def __init__(self, traffic: Traffic, limits: Limits) -> None:
        self._traffic = traffic
        self._limits = limits
        self._bytes = 0
        self._requests = 0

    def check_room(self, size: int, requests: int) -> None:
        """``QueueFullError`` unless there is room for so many more bytes, and for so many more requests."""
        traffic, limits = self._traffic, self._limits
        others = traffic.bytes - self._bytes
        if traffic.running + requests > limits.max_concurrency or (others and traffic.bytes + size > limits.max_bytes):
            raise QueueFullError(
                f"{traffic.running} requests of {traffic.bytes} bytes are being answered, and no more are allowed",
                retry_after=1.0,
            )

    def charge(self, size: int, requests: int = 0) -> None:
        """Count so many more bytes, and requests that are whole. ``QueueFullError`` where there is no room for them."""
        try:
            self.check_room(size, requests)
        except QueueFullError:
            self._traffic.refused += 1
            raise
        self._bytes += size
        self._requests += requests
        self._traffic.bytes += size
        self._traffic.running += requests

    def close(self) -> None:
        """The request is answered."""
        self._traffic.bytes -= self._bytes
        self._traffic.running -= self._requests
        self._bytes = self._requests = 0
