"""``aioarray serve`` as a process of its own, for the tests."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.serving.clients import LOST, httpx

if TYPE_CHECKING:
    from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]


class ServerProcess:
    """``with`` starts it with the given arguments and waits until it is ready; it is ended, and must end with 0."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
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
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(LOST) or not self.url:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not start:\n" + "".join(self.lines))
        return self

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.match(r"ready at (http://\S+)", line)
            if found:
                self.url = found[1]
                self._ready.set()
        self._ready.set()

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        self.process.send_signal(signal.SIGTERM)
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
        models = httpx.get(f"{self.url}/stats", timeout=LOST).json()["models"]
        (found,) = [entry["stats"] for entry in models if entry["name"] == model]
        numbers: dict[str, Any] = found
        return numbers
