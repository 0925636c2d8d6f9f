"""Workers that die, hang, or are renewed, and signals: what was accepted is answered; nobody meets a cold worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.serving.clients import LOST, get, httpx, post, tensor
from tests.serving.processes import ROOT, ServerProcess, wait_for

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="these signals are not there"),
]
ROW = {"inputs": [tensor([1], (1, 1))]}


class Asking:
    """``with`` asks again and again, each time on a new connection, and notes the statuses that come."""

    def __init__(self, url: str, path: str) -> None:
        self.statuses: list[int | str] = []
        self._url = f"{url}/v2/models/{path}/infer"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._stop.wait(0.005):  # the workers that start need the cores, too
            try:
                self.statuses.append(post(self._url, json=ROW).status_code)
            except httpx.TransportError as error:
                self.statuses.append(type(error).__name__)

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(LOST)


def workers(server: ServerProcess) -> list[dict[str, Any]]:
    numbers: dict[str, Any] = get(f"{server.url}/stats").json()
    return [worker for worker in numbers["workers"] if worker["ready"]]


def completed(server: ServerProcess) -> int:
    models = get(f"{server.url}/stats").json()["models"]
    return sum(model["stats"]["completed"] for model in models)


def test_the_one_that_replaces_a_killed_worker_listens_when_it_is_ready() -> None:
    with ServerProcess("tests.serving.clients:warming", "--workers", "2") as server:
        wait_for(lambda: len(workers(server)) == 2)
        before = {worker["process"] for worker in workers(server)}
        with Asking(server.url, "warming") as asking:
            wait_for(lambda: len(asking.statuses) > 20)
            told = completed(server)
            os.kill(min(before), signal.SIGKILL)
            assert completed(server) >= told > 0  # what was told once stays
            wait_for(lambda: len({worker["process"] for worker in workers(server)} - {min(before)}) == 2)
            count = len(asking.statuses)
            wait_for(lambda: len(asking.statuses) > count + 20)
    # A request inside the killed worker may be lost.
    lost = [status for status in asking.statuses if status != 200]
    assert len(lost) <= 1, lost
    assert 503 not in lost


def test_hangup_renews_workers_and_neither_a_request_nor_a_count_is_lost() -> None:
    with ServerProcess("tests.serving.clients:warming", "--workers", "2") as server:
        wait_for(lambda: len(workers(server)) == 2)
        before = {worker["process"] for worker in workers(server)}
        with Asking(server.url, "warming") as asking:
            # One that is told to end by somebody else is replaced like one that dies.
            os.kill(min(before), signal.SIGTERM)
            wait_for(lambda: len({worker["process"] for worker in workers(server)} - {min(before)}) == 2)
            before |= {worker["process"] for worker in workers(server)}
            server.process.send_signal(signal.SIGHUP)

            def are_new() -> bool:
                now = {worker["process"] for worker in workers(server)}
                return len(now) == 2 and not now & before

            wait_for(are_new)
        assert asking.statuses
        assert set(asking.statuses) == {200}
        # The new ones have told of all a moment later.
        wait_for(lambda: completed(server) >= len(asking.statuses))
        assert completed(server) == len(asking.statuses)


def test_hangup_of_a_single_process_answers_what_was_accepted() -> None:
    with ServerProcess("tests.serving.clients:slow") as server, ThreadPoolExecutor(3) as pool:
        before = server.stats("slow")["accepted"]
        answers = [pool.submit(post, f"{server.url}/v2/models/slow/infer", json=ROW) for _ in range(3)]
        wait_for(lambda: server.stats("slow")["accepted"] == before + 3)
        assert server.stop(signal.SIGHUP) == 0
        assert [answer.result().status_code for answer in answers] == [200] * 3


def test_the_grace_time_is_kept_where_a_thread_hangs() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "aioarray", "serve", "tests.serving.clients:hanging", "--port", "0", "--grace", "1"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout, ThreadPoolExecutor(1) as pool:
        for line in process.stdout:
            if line.startswith("ready at "):
                break
        url = line.removeprefix("ready at ").strip()
        answer = pool.submit(post, f"{url}/v2/models/hanging/infer", json=ROW)
        wait_for(lambda: get(f"{url}/stats").json()["models"][0]["stats"]["running"] == 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LOST) == 3
        assert "something hangs, and is given up" in process.stdout.read()
        error = answer.exception(LOST)
        # The connection ends with the process, unless the answer that it is unavailable was quicker.
        assert isinstance(error, httpx.TransportError) or (error is None and answer.result().status_code >= 500)
