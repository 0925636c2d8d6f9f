"""Bodies of requests: too large, too slow, broken off."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Any

import anyio
import pytest

starlette_requests = pytest.importorskip("starlette.requests", reason="Starlette is not installed")

from aioarray.errors import InvalidInputError  # noqa: E402
from aioarray.serving import ClientGoneError  # noqa: E402
from aioarray.serving.http import bodies, compression  # noqa: E402
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
    with pytest.raises(RefusedError, match=r"'br'.*gzip, deflate") as caught:
        read([part(b"123", more=False)], content_encoding="br")
    assert caught.value.status == 415


PACKED = {"gzip": gzip.compress, "deflate": zlib.compress}


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_that_is_compressed(encoding: str) -> None:
    # Within one step, in many, and of nothing.
    for data in (b"0123456789", bytes(range(256)) * 12_000, b""):
        packed = PACKED[encoding](data)
        third = len(packed) // 3
        parts = [part(packed[:third]), part(packed[third : 2 * third]), part(packed[2 * third :], more=False)]
        for header in (encoding, encoding.upper()):
            assert read(parts, len(data), content_encoding=header) == data


def test_a_bomb_is_inflated_no_further_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    start = zlib.decompressobj

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._stream = start(wbits)

        def decompress(self, data: bytes, most: int) -> bytes:
            result = self._stream.decompress(data, most)
            made.append(len(result))
            return result

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

    monkeypatch.setattr("aioarray.serving.http.compression.zlib.decompressobj", Counting)
    bomb = gzip.compress(bytes(1 << 28))
    with pytest.raises(RefusedError, match="more than the 3000000 bytes") as caught:
        read([part(bomb, more=False)], 3_000_000, content_encoding="gzip")
    assert caught.value.status == 413
    assert max(made) <= compression.STEP_BYTES
    assert sum(made) <= 3_000_000 + compression.STEP_BYTES


@pytest.mark.parametrize(
    ("packed", "encoding", "reason"),
    [
        (b"nothing of the kind", "gzip", "is not gzip"),
        (gzip.compress(b"123"), "deflate", "is not deflate"),
        (gzip.compress(b"123")[:-1], "gzip", "ends within"),
        (b"", "gzip", "ends within"),
        (zlib.compress(b"123") + b"4", "deflate", "goes on behind"),
    ],
)
def test_a_body_that_is_not_what_it_says(packed: bytes, encoding: str, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        read([part(packed, more=False)], content_encoding=encoding)


def test_what_comes_out_is_charged() -> None:
    charged: list[int] = []
    request = request_of([part(gzip.compress(b"a" * 200_000), more=False)], content_encoding="gzip")
    request.scope["aioarray.charge"] = charged.append
    assert len(on_asyncio(lambda: bodies.read_body(request, 1 << 20))) == 200_000
    assert sum(charged) == 200_000


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("", None),
        ("gzip", "gzip"),
        ("deflate", "deflate"),
        ("gzip, deflate, br, zstd", "gzip"),
        ("br", None),
        ("*", "gzip"),
        ("gzip;q=0, *", "deflate"),
        ("GZIP;q=0.2, deflate; q=0.8", "deflate"),
        ("identity;q=1, *;q=0", None),
        ("gzip;q=x", None),
    ],
)
def test_the_encoding_of_an_answer(header: str, chosen: str | None) -> None:
    assert compression.choose(header) == chosen
