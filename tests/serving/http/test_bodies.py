"""Bodies of requests: too large, too slow, broken off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

starlette_requests = pytest.importorskip("starlette.requests", reason="Starlette is not installed")

from aioarray.serving import ClientGoneError  # noqa: E402
from aioarray.serving.http import bodies  # noqa: E402
from aioarray.serving.http.failures import RefusedError  # noqa: E402
from tests.serving.runners import on_asyncio  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence


def request_of(messages: Sequence[dict[str, Any]], **headers: str) -> Any:
    """A request of which these messages come, and then nothing."""
    left = list(messages)

    async def receive() -> dict[str, Any]:
        if not left:
            await anyio.sleep_forever()
        return left.pop(0)

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return starlette_requests.Request({"type": "http", "headers": raw}, receive)


def part(data: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


def read(messages: Sequence[dict[str, Any]], limit: int = 10, **headers: str) -> bytes:
    async def main() -> bytes:
        return await bodies.read_body(request_of(messages, **headers), limit)

    found: bytes = on_asyncio(main)
    return found


def test_a_body_in_parts() -> None:
    assert read([part(b"12345"), part(b""), part(b"67890", more=False)]) == b"1234567890"
    assert read([part(b"", more=False)]) == b""


def test_a_body_that_is_larger_than_it_has_claimed() -> None:
    with pytest.raises(RefusedError, match="more than the 10 bytes") as caught:
        read([part(b"123456"), part(b"78901")], content_length="5")
    assert caught.value.status == 413


def test_a_body_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SECONDS", 0.0)
    with pytest.raises(RefusedError, match="did not come within 0 s") as caught:
        read([part(b"123")])
    assert caught.value.status == 408


def test_a_body_that_is_broken_off() -> None:
    with pytest.raises(ClientGoneError):
        read([part(b"123"), {"type": "http.disconnect"}])


def test_a_body_that_is_encoded() -> None:
    with pytest.raises(RefusedError, match="'gzip'") as caught:
        read([part(b"123", more=False)], content_encoding="gzip")
    assert caught.value.status == 415
