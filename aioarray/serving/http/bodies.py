"""Reading a request's body, within limits of size and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio
from starlette.requests import ClientDisconnect

from .compression import ENCODINGS, Inflater
from .disconnect import ClientGoneError
from .failures import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

# A client that sends a byte now and then would hold its place for ever.
SECONDS: Final = 60.0


async def read_body(request: Request, limit: int) -> bytes:
    """The body, inflated if it is compressed; refuses one of more than ``limit`` bytes, and one that does not come."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", *ENCODINGS):
        raise RefusedError(
            415, f"the body is encoded as {encoding[:40]!r}; send it as it is, or as one of {', '.join(ENCODINGS)}"
        )
    parts: list[bytes] = []
    size = 0

    def take(more: int) -> None:
        nonlocal size
        size += more
        if size > limit:
            raise RefusedError(413, f"the body has more than the {limit} bytes that are allowed")

    def inflated(more: int) -> None:
        take(more)
        # What has come is charged by the gate, and so is what comes out of it.
        if (charge := request.scope.get("aioarray.charge")) is not None:
            charge(more)

    inflater = None if encoding == "identity" else Inflater(encoding, inflated)
    with anyio.move_on_after(SECONDS):
        try:
            async for part in request.stream():
                if inflater is not None:
                    parts += await inflater.feed(part)
                else:
                    take(len(part))
                    parts.append(part)
        except ClientDisconnect:
            raise ClientGoneError from None
        if inflater is not None:
            inflater.finish()
        return parts[0] if len(parts) == 1 else b"".join(parts)
    raise RefusedError(408, f"the body did not come within {SECONDS:g} s")
