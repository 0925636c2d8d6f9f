"""gRPC's health service, for probes and balancers: without a key, and never refused.

The services are "" and the inference service, which serve when the server is ready; "liveness" and "readiness", as
probes name them; and every model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import anyio
import grpc

from ..models.registry import NotReadyError, UnknownModelError
from .messages import INFERENCE_SERVICE, health

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ..http.state import ServerState

SERVING: Final = 1
NOT_SERVING: Final = 2
SERVICE_UNKNOWN: Final = 3
# How often those who watch are told of a change, in seconds, and how many there may be.
PERIOD: Final = 0.5
MAX_WATCHERS: Final = 256


class Health:
    """Loop thread only."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._watchers = 0
        self.closing = False  # the server is going down

    def status(self, service: str) -> int:
        """The status of a service."""
        state = self._state
        if service == "liveness":
            return SERVING if state.live() else NOT_SERVING
        if service in ("", INFERENCE_SERVICE, "readiness"):
            return SERVING if state.registry.ready and not self.closing else NOT_SERVING
        try:
            state.registry.get(service)
        except NotReadyError:
            return NOT_SERVING
        except UnknownModelError:
            return SERVICE_UNKNOWN
        return NOT_SERVING if self.closing else SERVING

    async def check(self, data: bytes, context: Any) -> bytes:
        """The status of the service that is named."""
        status = self.status(_service(data))
        if status == SERVICE_UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no service and no model of this name")
        return _answer(status)

    async def watch(self, data: bytes, context: Any) -> AsyncIterator[bytes]:
        """Its status now, and whenever it changes."""
        service, told = _service(data), None
        if self._watchers >= MAX_WATCHERS:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{MAX_WATCHERS} watch already; ask by Check")
        self._watchers += 1
        try:
            while not (self.closing and told == NOT_SERVING):
                status = self.status(service)
                if status != told:
                    told = status
                    yield _answer(status)
                await anyio.sleep(PERIOD)
        finally:
            self._watchers -= 1


def _service(data: bytes) -> str:
    message = health["HealthCheckRequest"]()
    message.ParseFromString(data)
    service: str = message.service
    return service


def _answer(status: int) -> bytes:
    answer: bytes = health["HealthCheckResponse"](status=status).SerializeToString()
    return answer
