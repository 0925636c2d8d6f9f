"""What the parts of a server share."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from .._base.errors import NotServingError
from ._disconnect import cancel_on_disconnect
from ._failures import error_response, failure_of
from ._numbers import snapshot
from ._registry import NotReadyError, UnknownModelError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from starlette.requests import Request
    from starlette.responses import Response

    from ._gate import Gate
    from ._model import Model
    from ._numbers import Numbers
    from ._registry import Registry
    from ._siblings import Siblings
    from ._watchdog import Watchdog

T = TypeVar("T")


@dataclass(slots=True)
class ServerState:
    """One server's parts and limits. Loop thread only."""

    registry: Registry
    watchdog: Watchdog
    max_body: int
    max_json: int
    timeout: float | None  # seconds, of requests that ask for none or for more
    stuck_after: float  # seconds that a batch may run before the server counts as dead
    search: bool = False  # whether there is a search page
    worker: str = ""  # which of several processes this is
    siblings: Siblings | None = None  # those that serve at the same address
    gate: Gate | None = None  # set once the application is put together
    started: float = field(default_factory=time.time)

    async def numbers(self) -> Numbers:
        """What was counted: of all processes that serve at this address."""
        own = snapshot(self)
        return own if self.siblings is None else await self.siblings.merged(own)

    def live(self) -> bool:
        """Whether no device is stuck. An event loop that is stuck does not get to answer."""
        batchers = (model.batcher for model in self.registry.models())
        return all(batcher.stats().running_seconds < self.stuck_after for batcher in batchers if batcher is not None)

    def check_room(self, path: str) -> None:
        """``QueueFullError`` if what is asked at ``path`` is of a model that turns every request away now.

        Only addresses that name the model are looked at; where the body names it, the body is read first.
        """
        _, *parts = path.split("/")
        if parts[:2] != ["v2", "models"] or parts[-1] != "infer" or len(parts) not in (4, 6):
            return
        try:
            model = self.registry.get(parts[2], parts[4] if len(parts) == 6 else None)
        except (UnknownModelError, NotReadyError):
            return  # which the answer will tell
        if model.batcher is not None:
            model.batcher.check_room()

    def time_for(self, asked: float | None) -> float | None:
        """How many seconds a request may take."""
        if asked is None or self.timeout is None:
            return self.timeout if asked is None else asked
        return min(asked, self.timeout)

    async def call(self, name: str, version: str | None, work: Callable[[Model], Awaitable[T]]) -> T:
        """What ``work`` gives for a model; for its successor, if it was replaced before it accepted the request."""
        while True:
            model = self.registry.get(name, version)
            try:
                return await work(model)
            except NotServingError:
                if self.registry.get(name, version) is model:
                    raise

    async def answer(self, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        """The response that ``work`` makes, or the one that tells why there is none."""
        try:
            return await work()
        except Exception as error:  # every error is somebody's answer
            return error_response(request.url.path, failure_of(error))

    def client_of(self, request: Request) -> Hashable:
        """Whose turn a request takes: the API key's, or else the address's."""
        key = request.scope.get("aioarray.client")
        return key if key is not None else (request.client.host if request.client is not None else None)


# Reading or writing less than this takes less time than asking another thread to.
HERE_BYTES = 1 << 16


async def off_loop(size: int, function: Callable[..., T], *args: Any) -> T:
    """``function(*args)``, in another thread if ``size`` bytes are many."""
    if size <= HERE_BYTES:
        return function(*args)
    return await anyio.to_thread.run_sync(function, *args)


async def while_connected(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """What ``work`` gives, cancelled when the client goes."""
    return await cancel_on_disconnect(request, work)


def worker_name() -> str:
    """This process's, where several serve at one address."""
    return os.environ.get("AIOARRAY_WORKER", "")
