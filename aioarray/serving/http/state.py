"""What the parts of a server share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ..._base.errors import NotServingError
from ..models.registry import NotReadyError, UnknownModelError
from .traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from starlette.requests import Request

    from ..models.model import Model
    from ..models.registry import Registry
    from .limits import Limits
    from .watchdog import Watchdog

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class ServerState:
    """One server's parts. Loop thread only."""

    registry: Registry
    watchdog: Watchdog
    limits: Limits
    traffic: Traffic = field(default_factory=Traffic)
    started: float = field(default_factory=time.time)

    def live(self) -> bool:
        """Whether no call of a model is stuck, nor one that warms it up. A loop that is stuck does not answer."""
        batchers = [model.batcher for model in self.registry.all_models()]
        return all(batcher is None or batcher.call_seconds < self.limits.stuck_after for batcher in batchers)

    def check_room(self, path: str) -> None:
        """``QueueFullError`` if what is asked at ``path`` is of a model that turns every request away now.

        Only addresses that name the model are looked at; where the body names it, the body is read first.
        """
        _, *parts = path.split("/")
        if parts[:2] != ["v2", "models"] or parts[-1] != "infer" or len(parts) not in (4, 6):
            return
        self.check_room_of(parts[2], parts[4] if len(parts) == 6 else None)

    def check_room_of(self, name: str, version: str | None) -> None:
        """``QueueFullError`` if this model turns every request away now."""
        try:
            model = self.registry.get(name, version)
        except (UnknownModelError, NotReadyError):
            return  # which the answer will tell
        if model.batcher is not None:
            model.batcher.check_room()

    async def call(self, name: str, version: str | None, work: Callable[[Model], Awaitable[T]]) -> T:
        """What ``work`` gives for a model; for its successor, if it was replaced before it accepted the request."""
        while True:
            model = self.registry.get(name, version)
            try:
                return await work(model)
            except NotServingError:
                if self.registry.get(name, version) is model:
                    raise


def client_of(request: Request) -> Hashable:
    """Whose turn a request takes: the API key's, or else the address's."""
    key: Hashable = request.scope.get("aioarray.client")
    return key if key is not None else (request.client.host if request.client is not None else None)
