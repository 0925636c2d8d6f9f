"""The program that reads modules (``_xla/artifact_process.py``), with a copy of itself for each request.

A damaged module often ends the process that reads it. A copy takes milliseconds to make, a new process some tenths of a
second: too long for the hundred thousands of them in ``fuzz.py``. POSIX only.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys

from aioarray._xla import artifact_process


def serve() -> None:
    """Answer until there are no more requests."""
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        content = sys.stdin.buffer.read(request["size"])
        copy = os.fork()
        if copy == 0:
            artifact_process.limit_memory(int(sys.argv[1]))
            artifact_process.limit_time(request["seconds"])
            answer, data = artifact_process.answer_request(request, content)
            artifact_process.limit_time(0)
            with contextlib.suppress(BrokenPipeError), open(answers, "wb") as file:
                file.write(json.dumps({**answer, "size": len(data)}).encode() + b"\n" + data)
            os._exit(0)
        _, status = os.waitpid(copy, 0)
        if status:
            reason = f"the process that tried ended with {os.waitstatus_to_exitcode(status)}"
            os.write(answers, json.dumps({"error": reason, "size": 0}).encode() + b"\n")


if __name__ == "__main__":
    serve()
