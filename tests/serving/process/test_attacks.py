"""What one client does to a server is not felt by the others: attacks on the real process, over sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.serving.clients import LOST, get, head, httpx, post, tensor
from tests.serving.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="memory and descriptors are read from /proc"),
]

HEAD_SECONDS = 2.0
MEBIBYTE = 1 << 20
BODY = json.dumps({"inputs": [tensor([1, 2, 3], (1, 3))]}).encode()
INFER = b"POST /v2/models/double/infer HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with ServerProcess("tests.serving.clients:double", "--head-timeout", str(HEAD_SECONDS)) as process:
        yield process


def connect(server: ServerProcess) -> socket.socket:
    return socket.create_connection(server.host_and_port, timeout=LOST)


def status_of(client: socket.socket) -> int | None:
    """The status of the answer that comes; None if the connection is closed instead."""
    try:
        line = client.recv(4096).split(b"\r\n")[0]
    except ConnectionResetError:
        return None
    return int(line.split()[1]) if line else None


def is_answered(server: ServerProcess) -> None:
    """Another client gets its answers on a new connection."""
    assert get(f"{server.url}/v2/health/live").status_code == 200
    assert post(f"{server.url}/v2/models/double/infer", content=BODY).status_code == 200


def send_until_refused(client: socket.socket, piece: bytes, most: int) -> int:
    """How many bytes went out before the connection was closed, or ``most``."""
    sent = 0
    with contextlib.suppress(ConnectionError, TimeoutError):
        while sent < most:
            sent += client.send(piece)
    return sent


@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /", b""], ids=["value", "url", "name"]
)
def test_an_endless_head_is_refused(server: ServerProcess, start: bytes) -> None:
    before = server.memory()
    with connect(server) as client:
        client.sendall(start or b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        client.settimeout(LOST)
        reader = []
        thread = threading.Thread(target=lambda: reader.append(status_of(client)))
        thread.start()
        send_until_refused(client, b"a" * (1 << 16), 200 * MEBIBYTE)
        thread.join(LOST)
    assert reader == [431]
    assert server.memory() < before + 8 * MEBIBYTE
    is_answered(server)


@pytest.mark.parametrize("count", [300, 50_000])
def test_too_many_headers_are_refused(server: ServerProcess, count: int) -> None:
    with connect(server) as client:
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X%d: a\r\n" % n for n in range(count)) + b"\r\n"
        send_until_refused(client, head, len(head))
        assert status_of(client) == 431
    with connect(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 30_000 + b"\r\n\r\n")
        assert status_of(client) == 200


def test_answers_that_are_not_read_hold_up_reading(server: ServerProcess) -> None:
    before = server.memory()
    with connect(server) as client:
        client.setblocking(False)
        sent, request = 0, b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
        for _ in range(40):
            with contextlib.suppress(BlockingIOError):
                sent += client.send(request)
            is_answered(server)
        # The sockets' buffers are full, and what is taken beyond them would be memory of the server.
        assert sent < 16 * MEBIBYTE
        assert server.memory() < before + 16 * MEBIBYTE
        # They are all answered once they are read: nothing was lost.
        client.setblocking(True)
        client.settimeout(LOST)
        answered, tail = 0, b""
        for _ in range(200):
            data = tail + client.recv(1 << 16)
            answered += data.count(b"HTTP/1.1 200 OK")
            tail = data[-14:] if not data.endswith(b"HTTP/1.1 200 OK") else b""
        assert answered > 10
    is_answered(server)


def test_pipelined_requests_are_answered_in_order(server: ServerProcess) -> None:
    paths = ["/v2", "/nothing", "/v2/health/live"] * 200
    with connect(server) as client:
        client.sendall(b"".join(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for path in paths))
        reader = client.makefile("rb")
        statuses = []
        for _ in paths:
            statuses.append(int(reader.readline().split()[1]))
            length = 0
            while (line := reader.readline()) != b"\r\n":
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            reader.read(length)
    assert statuses == [200, 404, 200] * 200


def closed_after(client: socket.socket) -> tuple[int | None, float]:
    """The status that comes before the connection is closed, and when, in seconds."""
    start = time.monotonic()
    status = status_of(client)
    while client.recv(4096):
        pass
    return status, time.monotonic() - start


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", None),
        (b"GET / HTTP/1.1\r\nHost: local", 408),
        (b"\r\n\r\n", 408),
        (b"GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v2 HT", 200),
    ],
    ids=["nothing", "half a head", "line ends", "half a head behind a request"],
)
def test_a_connection_without_a_request_is_closed(server: ServerProcess, sent: bytes, status: int | None) -> None:
    with connect(server) as client:
        client.sendall(sent)
        found, seconds = closed_after(client)
    assert found == status
    assert HEAD_SECONDS / 2 < seconds < LOST


def test_silent_connections_lock_nobody_out() -> None:
    with (
        ServerProcess("tests.serving.clients:double", "--head-timeout", "100", descriptors=128) as server,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(300):
            stack.enter_context(connect(server))
        for _ in range(5):
            is_answered(server)
        assert server.stop() == 0
        text = "".join(server.lines)
        assert "there are more than 64 connections, the limit" in text
        assert "out of system resource" not in text


def test_bodies_that_only_begin_take_no_room(server: ServerProcess) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            client = stack.enter_context(connect(server))
            client.sendall(INFER + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")
        for _ in range(16):
            client = stack.enter_context(connect(server))
            client.sendall(INFER + b"Content-Length: 67108864\r\n\r\n{")
        is_answered(server)


def test_unfinished_bodies_do_not_count_as_requests() -> None:
    with (
        ServerProcess("tests.serving.clients:double", "--max-concurrency", "2") as server,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(10):
            stack.enter_context(connect(server)).sendall(INFER + b"Content-Length: 1000\r\n\r\n{")
        is_answered(server)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /v2 HTTP/1.1\r\n\r\n",
        b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n",
        b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"NONSENSE\r\n\r\n",
    ],
    ids=["no host", "two hosts", "two lengths", "no request"],
)
def test_heads_that_are_wrong(server: ServerProcess, head: bytes) -> None:
    with connect(server) as client:
        client.sendall(head)
        assert status_of(client) == 400
    is_answered(server)


def test_a_name_that_leads_here_from_elsewhere(server: ServerProcess) -> None:
    for host, status in (("evil.example", 421), ("localhost", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200)):
        with connect(server) as client:
            client.sendall(f"GET /v2 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert status_of(client) == status, host
    with connect(server) as client:  # a probe comes by an address
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: 10.1.2.3:8000\r\n\r\n")
        assert status_of(client) == 200


def test_probes(server: ServerProcess) -> None:
    ask: Callable[..., httpx.Response]
    for ask in (get, head):
        for path in ("/v2/health/live", "/v2/health/ready", "/healthz", "/livez", "/readyz"):
            answer = ask(f"{server.url}{path}", timeout=LOST)
            assert answer.status_code == 200, path
            assert bool(answer.content) == (ask is get)


def test_texts_that_are_none_are_not_parsed(server: ServerProcess) -> None:
    """Millions of empty strings for a model of numbers: refused by their type."""
    count = 8 << 20
    entry = {"name": "x", "shape": [count], "datatype": "BYTES", "parameters": {"binary_data_size": 4 * count}}
    header = json.dumps({"inputs": [entry]}).encode()
    before = server.memory()
    answer = post(
        f"{server.url}/v2/models/double/infer",
        content=header + bytes(4 * count),
        headers={"Inference-Header-Content-Length": str(len(header))},
        timeout=LOST,
    )
    assert answer.status_code == 400
    assert "it has to be FP32" in answer.json()["error"]
    # The body itself, twice, and no object for each string.
    assert server.memory() < before + 160 * MEBIBYTE
