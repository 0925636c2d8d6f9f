"""The server as a process: real clients, clients that vanish, SIGTERM, workers that are killed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving.clients import LOST, get, httpx, post, tensor
from tests.serving.processes import ROOT, ServerProcess, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Processes are started, which takes long where other things run; nothing here waits for nothing.
pytestmark = pytest.mark.timeout(400)

CLIENTS = 500
ROW = {"inputs": [tensor([1], (1, 1))]}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[ServerProcess]:
    with ServerProcess("tests.serving.clients:several", "--buckets", "1,4", "--cache-dir", str(cache)) as process:
        yield process


def test_tells_what_it_compiles_and_where_it_is(server: ServerProcess) -> None:
    text = "".join(server.lines)
    assert "loading tests.serving.clients:several" in text
    # Both versions at once, and which program is ready first is open.
    compiled = re.findall(r"^compiled (affine\[\d\]) \((\d) of 3\)$", text, re.MULTILINE)
    assert sorted(name for name, _ in compiled) == sorted(["affine[1]", "affine[2]", "affine[4]"] * 2)
    assert sorted(number for _, number in compiled) == sorted(["1", "2", "3"] * 2)
    assert text.rstrip().splitlines()[-1] == f"ready at {server.url}"


def test_keeps_what_it_compiles_for_the_next_start(server: ServerProcess, cache: Path) -> None:
    assert server.url
    kept = {path for path in cache.rglob("*") if path.is_file()}
    assert len(kept) >= 3  # a program for each size of batches


def test_openai_client(server: ServerProcess) -> None:
    openai = pytest.importorskip("openai", reason="the openai client is not installed")
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["letters"]
        assert client.models.retrieve("letters").owned_by == "aioarray"
        for options in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}, {"dimensions": 4}):
            result = client.embeddings.create(model="letters", input=["abba", "cab"], **options)
            if options.get("encoding_format") != "base64":
                assert [entry.embedding for entry in result.data] == [[2.0, 2, 0, 0], [1.0, 1, 1, 0]]
            assert [entry.index for entry in result.data] == [0, 1]
            assert result.usage.prompt_tokens == result.usage.total_tokens == 7
        assert len(client.embeddings.create(model="letters", input="dad").data) == 1
        with pytest.raises(openai.NotFoundError) as caught:
            client.embeddings.create(model="other", input="a")
        assert caught.value.code == "model_not_found"
        assert caught.value.type == "invalid_request_error"
        with pytest.raises(openai.BadRequestError, match="17 tokens; at most 16"):
            client.embeddings.create(model="letters", input="a" * 17)
        cut = client.embeddings.create(model="letters", input="a" * 17, extra_body={"truncate": True})
        assert cut.data[0].embedding == [16.0, 0, 0, 0]
        for wrong in ([], "", [""], [1, 2], [[1, 2]], ["a"] * 2049):
            with pytest.raises(openai.BadRequestError):
                client.embeddings.create(model="letters", input=wrong)
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model="letters", input="a", dimensions=5)


def test_clients_that_vanish_are_not_computed_for() -> None:
    body = json.dumps(ROW).encode()
    head = f"POST /v2/models/slow/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"

    async def storm(server: ServerProcess, before: int) -> None:
        host, port = server.url.removeprefix("http://").split(":")
        writers = []
        for _ in range(CLIENTS):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(head.encode() + body)
            writers.append(writer)
        await asyncio.gather(*(writer.drain() for writer in writers))
        await asyncio.to_thread(wait_for, lambda: server.stats("slow")["accepted"] == before + CLIENTS)
        for writer in writers:
            writer.transport.abort()

    with ServerProcess("tests.serving.clients:slow", "--timeout", "2000") as server:
        before = server.stats("slow")["accepted"]
        asyncio.run(storm(server, before))
        wait_for(lambda: server.stats("slow")["queued"] == 0)
        wait_for(lambda: server.stats("slow")["running"] == 0)
        stats = server.stats("slow")
        assert stats["completed"] + stats["cancelled"] == before + CLIENTS
        # Without that all of them would be computed; those that ran did before the others went.
        assert stats["batches"] < CLIENTS / 4
        assert post(f"{server.url}/v2/models/slow/infer", json=ROW).status_code == 200
        assert server.stats("slow")["batches"] == stats["batches"] + 1


def test_sigterm_under_load_answers_what_was_accepted() -> None:
    count = 5
    with ServerProcess("tests.serving.clients:slow", "--grace", "60") as server, ThreadPoolExecutor(count) as pool:
        url = f"{server.url}/v2/models/slow/infer"
        before = server.stats("slow")["accepted"]
        answers = [pool.submit(post, url, json=ROW) for _ in range(count)]
        wait_for(lambda: server.stats("slow")["accepted"] == before + count)
        assert server.stats("slow")["completed"] < before + count
        assert server.stop() == 0, server.lines
        assert [answer.result().status_code for answer in answers] == [200] * count
        with pytest.raises(httpx.ConnectError):
            get(f"{server.url}/v2/health/live")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [((), "never starts"), (("--workers", "2"), "starting 2 workers"), (("--workers", "2"), "never starts")],
)
def test_sigterm_while_it_starts_ends_it_at_once(arguments: tuple[str, ...], line: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "aioarray", "serve", "tests.serving.clients:never", "--port", "0", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        while line not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(LOST) == 0, process.stdout.read()


def told_by_both(server: ServerProcess, holds: Callable[[dict[str, Any]], bool]) -> set[int]:
    """The two processes that answer as new connections come to them, once both have told numbers of which it holds."""
    found: set[int] = set()

    def both() -> bool:
        try:
            numbers = get(f"{server.url}/stats").json()
        except httpx.TransportError:
            return False  # a connection that one had taken that is dead now
        if numbers["server"]["ready"] and len(numbers["workers"]) == 2 and holds(numbers):
            found.add(numbers["server"]["process"])
        return len(found) == 2

    wait_for(both)
    return found


def completed(numbers: dict[str, Any]) -> int:
    """The requests that a model has answered, in all processes."""
    return sum(model["stats"]["completed"] for model in numbers["models"])


def test_a_killed_worker_is_replaced_and_what_it_has_counted_stays() -> None:
    body = {"inputs": [tensor([1, 2, 3], (1, 3))]}
    with ServerProcess("tests.serving.clients:double", "--workers", "2") as server:
        before = told_by_both(server, lambda numbers: True)
        for _ in range(20):
            assert post(f"{server.url}/v2/models/double/infer", json=body).status_code == 200
        told_by_both(server, lambda numbers: completed(numbers) == 20)
        victim = min(before)
        os.kill(victim, signal.SIGKILL)
        after = told_by_both(
            server, lambda numbers: numbers["server"]["process"] != victim and completed(numbers) == 20
        )
        assert len(after - before) == 1
        metrics = get(f"{server.url}/metrics").text
        labels = 'model="double",outcome="completed",version="1"'
        assert f"aioarray_requests_total{{{labels}}} 20.0" in metrics
        assert "aioarray_workers 2.0" in metrics
        assert server.stop() == 0, server.lines
        for process in after:
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)
    assert any("ended with -9; starting another one" in line for line in server.lines)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aioarray", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LOST,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (["serve", "nothing"], 2, "neither minilm, nor a file, nor MODULE:ATTRIBUTE"),
        (["serve", "tests.serving.clients:nothing"], 2, "nothing"),
        (["serve", "tests.serving.clients:tokenize"], 2, "--input NAME:DTYPE:SHAPE"),
        (["serve", "tests.serving.clients:broken"], 3, "no weights"),
        (["serve", "tests.serving.clients:broken", "--workers", "2"], 3, "no weights"),
    ],
)
def test_what_cannot_be_served_is_told(arguments: list[str], status: int, reason: str) -> None:
    done = run(*arguments, "--port", "0")
    assert done.returncode == status, done.stderr
    assert reason in done.stderr


def test_a_port_that_is_taken(server: ServerProcess) -> None:
    done = run("serve", "tests.serving.clients:double", "--port", server.url.rpartition(":")[2])
    assert done.returncode == 1
    assert "port" in done.stderr
