"""``aioarray serve`` in one process: a socket, a loop, and the signals that end it."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING, Final

import anyio
import uvicorn

import aioarray as aio

from ..http.app import create_app
from ..http.siblings import siblings
from .connection import ConnectionLimits, guarded
from .loading import ERRORS_OF_MODELS, load_models

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from ..models.registry import Registry
    from .settings import ServeSettings

logger = logging.getLogger("aioarray.serving")

FAILED: Final = 3  # a model, or workers again and again
USAGE: Final = 2
MARGIN: Final = 3.0  # seconds to end in after the grace time
ENDING: Final = (signal.SIGTERM, signal.SIGINT, *([] if sys.platform == "win32" else [signal.SIGHUP]))
SPARE_DESCRIPTORS: Final = 64  # for files, models, other sockets
BACKLOG: Final = 2048  # connections that wait to be accepted
# ... and that are in one turn of the loop, before it is seen whether there are too many: fewer than spare descriptors.
ACCEPTED_AT_ONCE: Final = 8
LOOK_PERIOD: Final = 0.25  # seconds


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises ``OSError`` where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener


def address(listener: socket.socket, scheme: str = "http") -> str:
    """Where a client on this machine finds it."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def descriptors() -> int:
    """How many files and sockets this process may have open, raised as far as it is allowed to."""
    if sys.platform == "win32":
        return 8192
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        soft = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


class Server(uvicorn.Server):
    """Uvicorn's, which ends in time also where a thread hangs. Main thread only.

    SIGTERM, SIGINT and SIGHUP end the process with status 0: at once before it serves. Uvicorn raises the signals
    again that it has received, when it is done: then they come here, and are spent.
    """

    def __init__(self, config: uvicorn.Config, grace: float) -> None:
        super().__init__(config)
        self.serving = False
        self._grace = grace
        self._ending = False
        for number in ENDING:
            signal.signal(number, self._handle_signal)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # asyncio takes one number for both

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.serving:
            sys.exit(0)
        if not self._ending:  # SIGHUP, which uvicorn leaves alone
            self.handle_exit(signal.SIGTERM, frame)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take no more requests, answer those accepted, and end; within the grace time, whatever hangs."""
        if not self._ending:
            self._ending = True
            timer = threading.Timer(self._grace + MARGIN, self._give_up)
            timer.daemon = True
            timer.start()
        super().handle_exit(sig, frame)

    def _give_up(self) -> None:
        print(f"aioarray serve: not ended within {self._grace:g} s; something hangs, and is given up", file=sys.stderr)
        sys.stderr.flush()
        os._exit(FAILED)


def serve_here(
    settings: ServeSettings, listener: socket.socket, say: Callable[[str], object] | None, *, when_ready: bool = False
) -> int:
    """Serve in this process until a signal comes; the exit status. ``say`` is told what goes on.

    With ``when_ready`` nothing is accepted before the models are ready, as long as other processes serve.
    """
    if settings.cache_dir is not None:
        aio.compile_cache.set_dir(settings.cache_dir)
    limits = ConnectionLimits(
        max_connections=min(settings.max_connections, max(1, descriptors() - SPARE_DESCRIPTORS)),
        head_seconds=settings.head_timeout,
    )
    config = uvicorn.Config(
        "",  # the application is made once the models are there
        http=guarded(limits),
        ws="none",
        loop="asyncio",  # on uvloop new connections starve beside many that are busy
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        lifespan="off",
        backlog=ACCEPTED_AT_ONCE,
        ssl_certfile=settings.certfile,
        ssl_keyfile=settings.keyfile,
        root_path=settings.root_path.rstrip("/"),
        timeout_graceful_shutdown=settings.grace,
    )
    server = Server(config, settings.grace)
    tell = say or (lambda text: None)
    tell(f"loading {', '.join(choice.model for choice in settings.models)}")
    try:
        models = anyio.run(load_models, settings.models)
    except ERRORS_OF_MODELS as error:
        print(f"aioarray serve: {error}", file=sys.stderr)
        return USAGE

    def progress(done: int, total: int, name: str) -> None:
        tell(f"compiled {name} ({done} of {total})")

    app = create_app(
        models,
        progress=progress,
        timeout=settings.timeout,
        max_body=settings.max_body,
        max_json=settings.max_json,
        max_bytes=settings.max_bytes,
        max_concurrency=settings.max_concurrency,
        stuck_after=settings.stuck_after,
        lag_limit=settings.lag_limit,
        api_keys=settings.api_key,
        allowed_hosts=settings.allowed_host,
    )
    config.app = app
    registry: Registry = app.state.registry

    async def serve() -> int:
        async with app.router.lifespan_context(app), anyio.create_task_group() as group:
            if when_ready:
                await _until_wanted(registry)
            url = address(listener, "http" if settings.certfile is None else "https")
            group.start_soon(_announce, registry, server, url, tell)
            server.serving = True
            await server.serve(sockets=[listener])
            group.cancel_scope.cancel()
        return FAILED if registry.failures else 0

    return anyio.run(serve, backend_options={"loop_factory": config.get_loop_factory()})


async def _until_wanted(registry: Registry) -> None:
    """Return once the models are ready, or no other process is."""
    others = siblings()
    while not registry.settled.is_set() and others is not None and await others.any_ready():
        with anyio.move_on_after(LOOK_PERIOD):
            await registry.settled.wait()


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


def say_line(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)
