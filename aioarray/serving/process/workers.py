"""Several processes that share an address: started, replaced when they die, renewed, and ended together."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..http.siblings import PLACE, SUFFIX, end, read
from ..http.snapshot import WORKER
from .server import ENDING, FAILED, MARGIN, USAGE, say_line, serve_here

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from multiprocessing.context import SpawnProcess
    from types import FrameType

    from .settings import ServeSettings

MAX_DEATHS: Final = 5  # of each worker, in
DEATHS_WITHIN: Final = 30.0  # seconds: then something is wrong that another start will not mend
LOOK_PERIOD: Final = 0.25  # seconds, while something is under way that does not wake


@dataclass(slots=True)
class _Worker:
    number: int
    process: SpawnProcess
    place: Path  # of its numbers
    end_by: float = 0.0  # once it was told to end

    def is_ready(self) -> bool:
        found = read(self.place)
        return found is not None and bool(found["server"]["ready"])

    def tell_to_end(self, grace: float) -> None:
        self.process.terminate()
        self.end_by = time.monotonic() + grace + 2 * MARGIN

    def has_ended(self) -> bool:
        """Whether it has; kills it where its time is over."""
        if self.process.is_alive() and time.monotonic() > self.end_by:
            self.process.kill()
            self.process.join()
        if self.process.is_alive():
            return False
        self.process.join()
        return True


class Supervisor:
    """Keeps ``settings.workers`` processes. Main thread only.

    SIGTERM and SIGINT end them all. SIGHUP renews them, one after another: the old one goes on until the new one is
    ready, and answers what it has accepted.
    """

    def __init__(
        self, settings: ServeSettings, listener: socket.socket, say: Callable[[str], object], folder: Path
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._say = say
        self._folder = folder
        # Never fork: the threads of XLA would not be there in the child.
        self._context = multiprocessing.get_context("spawn")
        self._count = itertools.count()
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS * settings.workers)
        self._workers: dict[int, _Worker] = {}
        self._to_renew: list[int] = []
        self._renewal: _Worker | None = None  # which is not ready yet
        self._leaving: list[_Worker] = []
        self._stopping = False
        self._status = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        for number in ENDING:
            signal.signal(number, self._handle_signal)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        if number not in (signal.SIGTERM, signal.SIGINT):
            self._to_renew = list(range(self._settings.workers))
        else:
            self._stopping = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"x")  # wakes the wait below

    def run(self) -> int:
        """Until a signal comes; the exit status."""
        self._say(f"starting {self._settings.workers} workers")
        for number in range(self._settings.workers):
            # The first one tells from the beginning that nothing is ready yet.
            self._workers[number] = self._start(number, when_ready=number > 0)
        while not self._stopping:
            self._wait()
            self._replace_the_dead()
            if not self._stopping:
                self._renew()
        return self._end_all()

    def _start(self, number: int, *, when_ready: bool) -> _Worker:
        place = self._folder / f"{number}-{next(self._count)}{SUFFIX}"
        arguments = (self._settings, self._listener, number, str(place), when_ready)
        process = self._context.Process(target=_run_worker, args=arguments, name=f"worker-{number}")
        process.start()
        return _Worker(number, process, place)

    def _everybody(self) -> list[_Worker]:
        renewal = [] if self._renewal is None else [self._renewal]
        return [*self._workers.values(), *renewal, *self._leaving]

    def _wait(self) -> None:
        sentinels = [worker.process.sentinel for worker in self._everybody()]
        under_way = self._renewal is not None or self._leaving
        ready = wait([self._reader, *sentinels], LOOK_PERIOD if under_way else None)
        if self._reader in ready:
            os.read(self._reader, 4096)

    def _replace_the_dead(self) -> None:
        for number, worker in self._workers.items():
            if self._stopping or worker.process.is_alive():
                continue
            worker.process.join()
            code = worker.process.exitcode
            if code in (USAGE, FAILED) and not worker.is_ready():
                self._fail(code or FAILED)  # it has said why, and another one would say the same
                return
            self._deaths.append(time.monotonic())
            self._say(f"worker {number} has ended with {code}; starting another one")
            self._keep_numbers(worker)
            deaths = self._deaths
            if len(deaths) == deaths.maxlen and deaths[-1] - deaths[0] < DEATHS_WITHIN:
                self._say("too many workers have died")
                self._fail(FAILED)
                return
            self._workers[number] = self._start(number, when_ready=True)

    def _fail(self, status: int) -> None:
        self._status, self._stopping = status, True

    def _keep_numbers(self, worker: _Worker) -> None:
        with contextlib.suppress(OSError):  # a disk that is full shall not keep anybody from being served
            end(worker.place)

    def _renew(self) -> None:
        for worker in list(self._leaving):
            if worker.has_ended():
                self._leaving.remove(worker)
                self._keep_numbers(worker)
        renewal = self._renewal
        if renewal is not None and not renewal.process.is_alive():
            self._say(f"the worker that should take the place of worker {renewal.number} has ended; that one goes on")
            renewal.process.join()
            self._keep_numbers(renewal)
            self._renewal, self._to_renew = None, []
        elif renewal is not None and renewal.is_ready():
            old, self._workers[renewal.number] = self._workers[renewal.number], renewal
            old.tell_to_end(self._settings.grace)
            self._leaving.append(old)
            self._renewal = None
        if self._renewal is None and self._to_renew and not self._leaving:
            number = self._to_renew.pop(0)
            self._say(f"renewing worker {number}")
            self._renewal = self._start(number, when_ready=True)

    def _end_all(self) -> int:
        everybody = self._everybody()
        for worker in everybody:
            if not worker.end_by:
                worker.tell_to_end(self._settings.grace)
        for worker in everybody:
            worker.process.join(max(0.0, worker.end_by - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            # The signal itself ends one that has not got to the point of handling it, or is past that.
            if worker.process.exitcode not in (0, -signal.SIGTERM):
                self._status = self._status or FAILED
        os.close(self._reader)
        os.close(self._writer)
        return self._status


def serve_many(settings: ServeSettings, listener: socket.socket, say: Callable[[str], object]) -> int:
    """Serve in ``settings.workers`` processes until a signal comes; the exit status."""
    with tempfile.TemporaryDirectory(prefix="aioarray-") as folder:
        return Supervisor(settings, listener, say, Path(folder)).run()


def _run_worker(settings: ServeSettings, listener: socket.socket, number: int, place: str, when_ready: bool) -> None:
    """The life of a worker."""
    os.environ[WORKER] = str(number)
    os.environ[PLACE] = place
    threading.Thread(target=_end_with_parent, name="aioarray-parent", daemon=True).start()
    # One of them tells of its progress; the others do the same.
    sys.exit(serve_here(settings, listener, say_line if number == 0 else None, when_ready=when_ready))


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they see to it themselves."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
