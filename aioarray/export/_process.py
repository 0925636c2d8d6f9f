"""Asking the process that reads and writes modules (see ``_xla.artifact_process``)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from .. import _xla
from .._base.errors import FormatError

if TYPE_CHECKING:
    from types import TracebackType

_PROGRAM = os.path.join(os.path.dirname(_xla.__file__), "artifact_process.py")

# Reading takes about a second for 50 MB; what takes this long does not end at all.
SECONDS = 20.0
SECONDS_PER_BYTE = 1e-6
# Exit codes after SIGKILL and SIGALRM.
ENDED = (-9, -14)
# Memory that the process may take.
BYTES = 8 << 30
BYTES_PER_BYTE = 40


class ModuleProcess:
    """A process for one thread at a time, started at the first request, and anew after one that has ended it."""

    def __init__(self, largest: int) -> None:
        self._largest = largest  # bytes of a request
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ModuleProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            raise RuntimeError("aio.export reads modules in a Python process of its own, but sys.executable is empty")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TF_CPP_MIN_LOG_LEVEL": "3"}
        # -P: the program's own folder is no place to import from.
        self._process = subprocess.Popen(
            [sys.executable, "-P", _PROGRAM, str(BYTES + BYTES_PER_BYTE * self._largest)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        return self._process

    def ask(self, source: str, what: str, data: bytes, **details: str) -> tuple[dict[str, Any], bytes]:
        """The answer to a request. ``FormatError`` if there is none: the module cannot be read."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        # The process ends itself when it takes too long, and its output with it; this is for systems where it cannot.
        seconds = SECONDS + SECONDS_PER_BYTE * len(data)
        timer = threading.Timer(2 * seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            request = {"do": what, "size": len(data), "seconds": seconds, **details}
            process.stdin.write(json.dumps(request).encode() + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
            answer = json.loads(line) if line.endswith(b"\n") else None
            result = process.stdout.read(answer["size"]) if answer is not None else b""
        except BrokenPipeError:
            answer, result = None, b""
        finally:
            timer.cancel()
        if answer is None or len(result) != answer["size"]:
            self.close()
            code = process.returncode
            reason = "took too long" if code in ENDED else f"ended with {code}"
            raise FormatError(
                f"{source}: jaxlib cannot read the module (the process that tried {reason}); it is damaged"
            )
        if "error" in answer:
            raise FormatError(
                f"{source}: the module cannot be {'read' if what == 'read' else 'written'}: {answer['error']}"
            )
        return answer, result
