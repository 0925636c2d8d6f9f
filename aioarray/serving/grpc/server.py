"""The gRPC server: an address, limits of connections, and an end that answers what was accepted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import grpc
import grpc.aio

from .service import InferenceService

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ..http.gate import Keys
    from ..http.snapshot import Numbers
    from ..http.state import ServerState

# Calls beyond these, of whichever kind, are refused by gRPC itself.
MAX_CALLS: Final = 16384


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcOptions:
    """Where to listen, and what connections may do; seconds and counts."""

    host: str = "127.0.0.1"
    port: int = 8001  # 0 takes a free one
    certfile: str | None = None
    keyfile: str | None = None
    shared: bool = False  # several processes listen at the port
    max_connections: int = 4096
    handshake_seconds: float = 10.0
    idle_seconds: float = 300.0  # without calls, before a connection is closed
    ping_seconds: float = 60.0  # between the server's own pings, which tell whether a client is still there
    ping_timeout: float = 20.0
    client_ping_seconds: float = 10.0  # clients that ping more often are sent away
    max_metadata: int = 16 << 10
    max_streams: int = 1024  # calls at once of one connection


class GrpcServer:
    """Serves ``state``'s models until ``stop``. Loop thread only; raises ``OSError`` where the port is taken."""

    def __init__(self, state: ServerState, keys: Keys, numbers: Numbers, options: GrpcOptions) -> None:
        self._service = InferenceService(state, keys, numbers)
        self._options = options
        self._max_message = state.limits.max_body
        self._server: Any = None
        self.port: int = 0

    @classmethod
    def beside(cls, app: FastAPI, options: GrpcOptions) -> GrpcServer:
        """One for the models of an application that ``create_app`` has made."""
        return cls(app.state.server, app.state.keys, app.state.numbers, options)

    async def start(self) -> None:
        """Accept connections."""
        options = self._options
        self._server = grpc.aio.server(
            options=list(_arguments(options, self._max_message).items()), maximum_concurrent_rpcs=MAX_CALLS
        )
        self._server.add_generic_rpc_handlers((self._service,))
        host = f"[{options.host}]" if ":" in options.host else options.host
        try:
            if options.certfile is None:
                self.port = self._server.add_insecure_port(f"{host}:{options.port}")
            else:
                self.port = self._server.add_secure_port(f"{host}:{options.port}", _credentials(options))
        except RuntimeError as error:
            raise OSError(f"{options.host}, port {options.port}: gRPC cannot listen there: {error}") from None
        await self._server.start()

    async def stop(self, grace: float) -> None:
        """Take no more calls; return when those accepted are answered, or after ``grace`` seconds."""
        self._service.health.closing = True
        await self._server.stop(grace)


def _arguments(options: GrpcOptions, max_message: int) -> dict[str, int]:
    """The options as gRPC's core names them; those it does not know it ignores."""
    return {
        "grpc.so_reuseport": int(options.shared),
        "grpc.max_receive_message_length": max_message,
        "grpc.max_send_message_length": -1,
        "grpc.max_metadata_size": options.max_metadata,
        "grpc.absolute_max_metadata_size": 2 * options.max_metadata,
        "grpc.max_concurrent_streams": options.max_streams,
        "grpc.max_allowed_incoming_connections": options.max_connections,
        "grpc.server_handshake_timeout_ms": round(options.handshake_seconds * 1000),
        "grpc.max_connection_idle_ms": round(options.idle_seconds * 1000),
        "grpc.keepalive_time_ms": round(options.ping_seconds * 1000),
        "grpc.keepalive_timeout_ms": round(options.ping_timeout * 1000),
        "grpc.keepalive_permit_without_calls": 1,
        "grpc.http2.min_recv_ping_interval_without_data_ms": round(options.client_ping_seconds * 1000),
        "grpc.http2.max_ping_strikes": 3,
    }


def _credentials(options: GrpcOptions) -> grpc.ServerCredentials:
    assert options.certfile is not None
    certificate = Path(options.certfile).read_bytes()
    key = certificate if options.keyfile is None else Path(options.keyfile).read_bytes()
    return grpc.ssl_server_credentials([(key, certificate)])
