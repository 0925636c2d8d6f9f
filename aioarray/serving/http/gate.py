"""What every request passes first: the API key, the size it claims, and how many there are already."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..._base.errors import QueueFullError
from .failures import Failure, error_response, failure_of, path_of
from .traffic import Share

if TYPE_CHECKING:
    from .state import ServerState

logger = logging.getLogger("aioarray.serving")

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

# Asked without a key: balancers and orchestrators have none, and pages hold no data of their own.
LIVE_PATHS: Final = ("/v2/health/live", "/livez", "/healthz")
READY_PATHS: Final = ("/v2/health/ready", "/readyz")
PROBES: Final = frozenset({*LIVE_PATHS, *READY_PATHS})
OPEN_PATHS: Final = frozenset({"/", *PROBES})


class Keys:
    """API keys, of which only digests are kept, and compared in constant time."""

    def __init__(self, keys: Iterable[str]) -> None:
        keys = list(keys)
        if any(not key for key in keys):
            raise ValueError("api_keys has an empty one, which every request would match")
        self._digests = [_digest(key.encode()) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def find(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """A name for the client whose key is in ``headers`` (as a bearer token, or ``X-API-Key``), or None."""
        for name, value in headers:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                digest = _digest(value[7:].strip())
            elif name == b"x-api-key":
                digest = _digest(value.strip())
            else:
                continue
            matches = [hmac.compare_digest(digest, known) for known in self._digests]
            if any(matches):
                return digest.hex()[:16]
        return None


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


class Gate:
    """ASGI middleware. Loop thread only.

    It refuses before a body is read, and counts what happened. Requests that are only about the server's state are
    never refused for their number: a server that is full still tells that it lives.
    """

    def __init__(self, app: Application, state: ServerState, keys: Keys, hosts: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._state = state
        self._keys = keys
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection's scope."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, limits, traffic = path_of(scope), self._state.limits, self._state.traffic
        if self._hosts and path not in PROBES and _host(scope["headers"]) not in self._hosts:
            # A page of another site, whose name was made to lead here, would be a friend behind the firewall. Probes
            # come by an address, and learn nothing from a page.
            reason = "no server of this name is here; serve with --allowed-host NAME to answer to it"
            await self._refuse(Failure(421, reason), scope, receive, send)
            return
        if self._keys and path not in OPEN_PATHS:
            client = self._keys.find(scope["headers"])
            if client is None:
                reason = "give a valid API key, as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"
                await self._refuse(Failure(401, reason), scope, receive, send)
                return
            scope["aioarray.client"] = client
        if scope["method"] != "POST":
            await self._run(scope, receive, send)
            return
        claimed = _claimed(scope["headers"])
        if claimed > limits.max_body:
            reason = f"the body has {claimed} bytes, and {limits.max_body} are allowed"
            await self._refuse(Failure(413, reason), scope, receive, send)
            return
        share = Share(traffic, limits)
        scope["aioarray.charge"] = share.charge
        try:
            share.check_room(claimed, 1)
            self._state.check_room(path)
        except QueueFullError as error:
            await self._refuse(failure_of(error), scope, receive, send)
            return
        start = time.perf_counter()
        try:
            await self._run(scope, _Body(share, receive).receive, send)
        finally:
            share.close()
            traffic.seconds.add(time.perf_counter() - start)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._state.traffic.answered(message["status"])
            await send(message)

        await self._app(scope, receive, counting)

    async def _refuse(self, failure: Failure, scope: Scope, receive: Receive, send: Send) -> None:
        self._state.traffic.refused += 1
        self._state.traffic.answered(failure.status)
        response = error_response(path_of(scope), failure)
        if failure.status == 401:
            response.headers["www-authenticate"] = "Bearer"
        await response(scope, receive, send)


class _Body:
    """The body of a request, charged as it comes: a client that only says it will send something takes no room."""

    def __init__(self, share: Share, receive: Receive) -> None:
        self._share = share
        self._receive = receive
        self._whole = False

    async def receive(self) -> Message:
        """The next part."""
        message = await self._receive()
        if message["type"] == "http.request":
            size, last = len(message.get("body", b"")), not message.get("more_body", False) and not self._whole
            self._share.charge(size, int(last))
            self._whole = self._whole or last
        return message


def _host(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The name that the client has for this server, without a port."""
    text = next((value for name, value in headers if name == b"host"), b"").decode("latin-1").lower()
    name, colon, port = text.rpartition(":")
    return (name if colon and port.isdigit() else text).strip("[]")


def _claimed(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """How long the client says that its body is; 0 if it does not. It is counted as it comes."""
    for name, value in headers:
        if name == b"content-length" and value.isdigit() and len(value) < 20:
            return int(value)
    return 0
