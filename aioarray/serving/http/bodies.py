"""Reading a request's body, within limits of size and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio
from starlette.requests import ClientDisconnect

from .disconnect import ClientGoneError
from .failures import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

# A client that sends a byte now and then would hold its place for ever.
SECONDS: Final = 60.0


async def read_body(request: Request, limit: int) -> bytes:
    """The body; refuses one of more than ``limit`` bytes, one that does not come, and compressed ones."""
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        # A few bytes of these can stand for gigabytes.
        raise RefusedError(415, f"the body is encoded as {encoding[:40]!r}; send it as it is")
    parts: list[bytes] = []
    size = 0
    with anyio.move_on_after(SECONDS):
        try:
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise RefusedError(413, f"the body has more than the {limit} bytes that are allowed")
                parts.append(part)
        except ClientDisconnect:
            raise ClientGoneError from None
        return parts[0] if len(parts) == 1 else b"".join(parts)
    raise RefusedError(408, f"the body did not come within {SECONDS:g} s")
