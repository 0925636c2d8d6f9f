"""``create_app``: an inference server as a FastAPI application."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException

import aioarray as aio

from ..models.registry import NotReadyError, Registry, Source
from .failures import Failure, error_response, path_of
from .gate import Gate, Keys
from .limits import Limits
from .open_inference import open_inference_router
from .openai import openai_router
from .siblings import siblings
from .snapshot import snapshot
from .state import ServerState
from .status import status_router
from .watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from ..models.model import Model, Progress
    from .snapshot import Snapshot


def create_app(
    models: Iterable[Model] | Mapping[str, Source],
    *,
    max_body: int = 64 << 20,
    max_json: int = 8 << 20,
    max_concurrency: int = 1024,
    max_bytes: int = 512 << 20,
    timeout: float | None = 30.0,
    api_keys: Iterable[str] = (),
    manage: bool = False,
    lag_limit: float = 1.0,
    stuck_after: float = 300.0,
    progress: Progress | None = None,
    ready_first: bool = False,
    allowed_hosts: Iterable[str] = (),
    title: str = "aioarray",
) -> FastAPI:
    """A FastAPI application that serves ``models`` over the Open Inference Protocol v2 and OpenAI's embeddings.

    ``models`` are ``Model`` objects, or a mapping of names to them or to functions that make one. They start and
    compile in the background when the application does; until then requests, and ``/v2/health/ready``, are answered
    with 503. A body has ``max_body`` bytes at most, the JSON in it ``max_json`` (413); ``max_concurrency`` requests,
    with bodies of ``max_bytes`` together, are worked on at once (429); ``timeout`` is the seconds that a request may
    take at most (504). With ``api_keys`` every request needs one, apart from those for health and for the pages
    themselves. ``manage`` lets clients load and unload the models of a mapping by name. A loop that is
    held up for ``lag_limit`` seconds is logged, with where; a batch that runs for ``stuck_after`` seconds makes
    ``/v2/health/live`` answer 503. ``progress`` is told of each program that is compiled. With
    ``ready_first`` the application has started when its models are ready, and does not start if one cannot be: for
    what sends requests as soon as it has, as Ray Serve does. ``allowed_hosts`` are the names that requests may be
    sent to (421 for others), by default any.

    ``app.state.registry`` is the ``Registry``: ``await app.state.registry.load(model)``, ``.unload(name)``.

    >>> double = aio.serving.Model("double", lambda x: x * 2, {"x": aio.ShapeDtype((3,), "float32")})
    >>> aio.serving.create_app([double]).title
    'aioarray'
    """
    limits = Limits(
        max_body=max_body,
        max_json=max_json,
        max_concurrency=max_concurrency,
        max_bytes=max_bytes,
        timeout=timeout,
        lag_limit=lag_limit,
        stuck_after=stuck_after,
    )
    keys = Keys(api_keys)
    registry = Registry(models, progress)
    state = ServerState(registry=registry, watchdog=Watchdog(lag_limit), limits=limits)
    others = siblings()

    async def numbers() -> Snapshot:
        own = snapshot(state)
        return own if others is None else await others.merged(own)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Outermost: the last numbers to be told are those with what the models answer while they end.
        publishing = nullcontext() if others is None else others.publishing(lambda: snapshot(state))
        async with publishing, state.watchdog, registry:
            if ready_first:
                await registry.settled.wait()
                if registry.failures:
                    raise NotReadyError(f"create_app: models could not be started: {registry.failures}")
            yield

    # FastAPI's own pages for reading the description load their scripts from elsewhere.
    app = FastAPI(title=title, version=aio.__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.registry = registry
    # What a gRPC server beside it takes part in.
    app.state.server, app.state.keys, app.state.numbers = state, keys, numbers
    # In the order in which addresses are looked for: the busiest first.
    app.include_router(openai_router(state))
    app.include_router(open_inference_router(state, numbers, manage=manage))
    app.include_router(status_router(numbers))
    app.add_exception_handler(HTTPException, _refused)
    # Outermost, so that what it refuses costs nothing more.
    make: Any = Gate
    app.add_middleware(make, state=state, keys=keys, hosts=frozenset(host.lower() for host in allowed_hosts))
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """Addresses and methods that there are not, in the form of errors of their part of the server."""
    assert isinstance(error, HTTPException)
    response = error_response(path_of(request.scope), Failure(error.status_code, str(error.detail)))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
