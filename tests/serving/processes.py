"""``aioarray serve`` as a process of its own, for the tests."""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.serving.clients import LOST, get

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]


def wait_for(condition: Callable[[], bool]) -> None:
    """Return once another process has come so far that ``condition()`` holds."""
    end = time.monotonic() + LOST
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


class ServerProcess:
    """``with`` starts it with the given arguments and waits until it is ready; it is ended, and must end with 0."""

    def __init__(self, *arguments: str, descriptors: int | None = None) -> None:
        self.arguments = arguments
        self._descriptors = descriptors  # how many files and sockets it may have open
        self.lines: list[str] = []
        self.url = ""
        self._ready = threading.Event()

    def __enter__(self) -> ServerProcess:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "aioarray", "serve", *self.arguments, "--port", "0"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=None if self._descriptors is None else self._limit_descriptors,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(LOST) or not self.url:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not start:\n" + "".join(self.lines))
        return self

    def _limit_descriptors(self) -> None:
        assert self._descriptors is not None
        resource.setrlimit(resource.RLIMIT_NOFILE, (self._descriptors, self._descriptors))

    @property
    def host_and_port(self) -> tuple[str, int]:
        host, port = self.url.removeprefix("http://").split(":")
        return host, int(port)

    def memory(self) -> int:
        """Bytes that are resident."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.match(r"ready at (https?://\S+)", line)
            if found:
                self.url = found[1]
                self._ready.set()
        self._ready.set()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; the exit status."""
        self.process.send_signal(number)
        status = self.process.wait(LOST)
        self._reader.join(LOST)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            try:
                status = self.stop()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
            assert status == 0, "".join(self.lines)

    def stats(self, model: str) -> dict[str, Any]:
        """The numbers of a model's batcher."""
        models = get(f"{self.url}/stats").json()["models"]
        (found,) = [entry["stats"] for entry in models if entry["name"] == model]
        numbers: dict[str, Any] = found
        return numbers
