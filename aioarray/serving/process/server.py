"""``aioarray serve``: one process, or several that share an address."""

from __future__ import annotations

import gc
import signal
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
import uvicorn

import aioarray as aio

from ..http.app import create_app
from ..models.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from ..models.registry import Registry
    from ..models.resolve import ModelOptions

FAILED: Final = 3  # a model, or workers again and again
USAGE: Final = 2


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

    def progress(done: int, total: int, name: str) -> None:
        tell(f"compiled {name} ({done} of {total})")

    app = create_app(models, progress=progress, **options.app)
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


def say_line(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)
