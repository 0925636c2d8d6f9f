"""What an exception is over gRPC: the codes that stand for HTTP's statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import grpc

if TYPE_CHECKING:
    from ..http.failures import Failure

_CODES: Final = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    404: grpc.StatusCode.NOT_FOUND,
    408: grpc.StatusCode.DEADLINE_EXCEEDED,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,  # as gRPC itself says of messages that are too large
    422: grpc.StatusCode.OUT_OF_RANGE,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    499: grpc.StatusCode.CANCELLED,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
}


def code_of(failure: Failure) -> grpc.StatusCode:
    """The code for ``failure``."""
    return _CODES.get(failure.status, grpc.StatusCode.INTERNAL)


def trailer_of(failure: Failure) -> tuple[tuple[str, str], ...]:
    """When to try again: as gRPC's own retries read it, and as HTTP has it."""
    if failure.retry_after is None:
        return ()
    pushback: Any = ("grpc-retry-pushback-ms", str(max(1, round(failure.retry_after * 1000))))
    return (pushback, *failure.headers.items())
