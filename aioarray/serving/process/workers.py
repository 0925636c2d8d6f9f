"""Several processes that share an address: started, replaced when they die, and ended together."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..http import siblings
from ..http.snapshot import WORKER
from .server import FAILED, USAGE, say_line, serve_here

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from multiprocessing.context import SpawnProcess
    from types import FrameType

    from .server import ServeOptions

MAX_DEATHS: Final = 5  # of each worker, in
DEATHS_WITHIN: Final = 30.0  # seconds: then something is wrong that another start will not mend
MARGIN: Final = 5.0  # seconds for a worker to end after its grace time


def serve_many(options: ServeOptions, listener: socket.socket, say: Callable[[str], object]) -> int:
    """Serve in ``options.workers`` processes, and replace those that die, until a signal comes; the exit status."""
    with tempfile.TemporaryDirectory(prefix="aioarray-") as folder:
        return _serve_many(options, listener, say, Path(folder))


def _serve_many(options: ServeOptions, listener: socket.socket, say: Callable[[str], object], folder: Path) -> int:
    """The same; the workers tell each other their numbers in ``folder``."""
    stopping = threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()
        with contextlib.suppress(BlockingIOError):
            os.write(writer, b"x")  # wakes the wait below

    for handled in (signal.SIGTERM, signal.SIGINT):
        signal.signal(handled, stop)
    # Never fork: the threads of XLA would not be there in the child.
    context = multiprocessing.get_context("spawn")

    def start(number: int) -> SpawnProcess:
        process = context.Process(
            target=_worker, args=(options, listener, number, str(folder)), name=f"worker-{number}"
        )
        process.start()
        return process

    say(f"starting {options.workers} workers")
    workers = {number: start(number) for number in range(options.workers)}
    deaths: deque[float] = deque(maxlen=MAX_DEATHS * options.workers)
    status = 0
    while not stopping.is_set():
        wait([reader, *(process.sentinel for process in workers.values())])
        for number, process in workers.items():
            if process.is_alive() or stopping.is_set():
                continue
            process.join()
            if process.exitcode in (USAGE, FAILED):
                status = process.exitcode or FAILED  # it has said why, and another one would say the same
                stopping.set()
                break
            deaths.append(time.monotonic())
            say(f"worker {number} has ended with {process.exitcode}; starting another one")
            with contextlib.suppress(OSError):  # a disk that is full shall not keep anybody from being served
                siblings.end(folder, str(number))
            if len(deaths) == deaths.maxlen and deaths[-1] - deaths[0] < DEATHS_WITHIN:
                say("too many workers have died")
                status = FAILED
                stopping.set()
                break
            workers[number] = start(number)
    for process in workers.values():
        process.terminate()
    end = time.monotonic() + options.grace + MARGIN
    for process in workers.values():
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
            status = status or FAILED
        elif process.exitcode:
            status = status or FAILED
    os.close(reader)
    os.close(writer)
    return status


def _worker(options: ServeOptions, listener: socket.socket, number: int, folder: str) -> None:
    """The life of a worker."""
    os.environ[WORKER] = str(number)
    os.environ[siblings.FOLDER] = folder
    threading.Thread(target=_end_with_parent, name="aioarray-parent", daemon=True).start()
    # One of them tells of its progress; the others do the same.
    sys.exit(serve_here(options, listener, say_line if number == 0 else None))


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they see to it themselves."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
