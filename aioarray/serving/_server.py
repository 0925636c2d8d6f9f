"""``aioarray serve``: one process, or several that share an address."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import uvicorn

import aioarray as aio

from . import _siblings
from ._app import create_app
from ._resolve import resolve
from ._text import TextEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import SpawnProcess
    from types import FrameType

    from ._registry import Registry
    from ._resolve import ModelOptions

FAILED: Final = 3  # a model, or workers again and again
USAGE: Final = 2
MAX_DEATHS: Final = 5  # of each worker, in
DEATHS_WITHIN: Final = 30.0  # seconds: then something is wrong that another start will not mend
MARGIN: Final = 5.0  # seconds for a worker to end after its grace time


@dataclass(frozen=True)
class ServeOptions:
    """What the command line says. It goes to other processes."""

    model: str
    models: ModelOptions
    host: str
    port: int
    workers: int
    grace: int
    cache_dir: str | None
    app: dict[str, Any]  # options of create_app
    search: bool
    log_level: str


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises ``OSError`` where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except BaseException:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener


def address(listener: socket.socket) -> str:
    """Where a client on this machine finds it."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Signals:
    """SIGTERM and SIGINT end the process with status 0: at once before it serves, and by uvicorn's hand after.

    Uvicorn raises the signals again that it has received, when it is done: then they come here, and are spent.
    """

    def __init__(self) -> None:
        self.serving = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.serving:
            sys.exit(0)


def serve_here(options: ServeOptions, listener: socket.socket, say: Callable[[str], object] | None) -> int:
    """Serve in this process until a signal comes; the exit status. ``say`` is told what goes on."""
    signals = Signals()
    if options.cache_dir is not None:
        aio.compile_cache.set_dir(options.cache_dir)
    tell = say or (lambda text: None)
    tell(f"loading {options.model}")
    try:
        models = anyio.run(resolve, options.model, options.models)
    except (ValueError, TypeError, ImportError, AttributeError, OSError) as error:
        print(f"aioarray serve: {error}", file=sys.stderr)
        return USAGE
    embedder = next((model.name for model in models if isinstance(model, TextEmbedder)), None)

    def progress(done: int, total: int, name: str) -> None:
        tell(f"compiled {name} ({done} of {total})")

    app = create_app(models, search=embedder if options.search else None, progress=progress, **options.app)
    config = uvicorn.Config(
        app,
        log_level=options.log_level,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=options.grace,
    )
    server = uvicorn.Server(config)

    async def serve() -> int:
        async with anyio.create_task_group() as group:
            group.start_soon(_announce, app.state.registry, server, address(listener), tell)
            signals.serving = True
            await server.serve(sockets=[listener])
            group.cancel_scope.cancel()
        return FAILED if app.state.registry.failures else 0

    return anyio.run(serve, backend_options={"loop_factory": config.get_loop_factory()})


async def _announce(registry: Registry, server: uvicorn.Server, url: str, tell: Callable[[str], object]) -> None:
    """Say where the server is once it is ready; end it if one of its models could not be started."""
    await registry.settled.wait()
    for name, reason in registry.failures.items():
        print(f"aioarray serve: {name} could not be started: {reason}", file=sys.stderr)
    if registry.failures:
        server.should_exit = True
    elif registry.ready:  # and not on its way down
        # Modules, models and programs stay: looking through them again and again held the loop for a tenth of a second.
        gc.collect()
        gc.freeze()
        tell(f"ready at {url}")


# Several processes


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
                _siblings.end(folder, str(number))
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
    os.environ["AIOARRAY_WORKER"] = str(number)
    os.environ[_siblings.FOLDER] = folder
    threading.Thread(target=_end_with_parent, name="aioarray-parent", daemon=True).start()
    # One of them tells of its progress; the others do the same.
    sys.exit(serve_here(options, listener, say_line if number == 0 else None))


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they see to it themselves."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)


def say_line(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)
