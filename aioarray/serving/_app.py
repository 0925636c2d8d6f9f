"""``create_app``: an inference server as a FastAPI application."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from fastapi import FastAPI
from starlette.exceptions import HTTPException

import aioarray as aio

from ._failures import Failure, error_response
from ._gate import Gate, Keys
from ._metrics import metrics_router
from ._numbers import snapshot
from ._openai import openai_router
from ._registry import Registry, Source
from ._search import SearchIndex, search_router
from ._siblings import siblings
from ._state import ServerState, worker_name
from ._status import status_router
from ._v2 import v2_router
from ._watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from ._model import Model, Progress


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
    search: str | None = None,
    lag_limit: float = 1.0,
    stuck_after: float = 300.0,
    progress: Progress | None = None,
    title: str = "aioarray",
) -> FastAPI:
    """A FastAPI application that serves ``models`` over the Open Inference Protocol v2 and OpenAI's embeddings.

    ``models`` are ``Model`` objects, or a mapping of names to them or to functions that make one. They start and
    compile in the background when the application does; until then requests, and ``/v2/health/ready``, are answered
    with 503. A body has ``max_body`` bytes at most, the JSON in it ``max_json`` (413); ``max_concurrency`` requests,
    with bodies of ``max_bytes`` together, are worked on at once (429); ``timeout`` is the seconds that a request may
    take at most (504). With ``api_keys`` every request needs one, apart from those for health and for the pages
    themselves. ``manage`` lets clients load and unload the models of a mapping by name. ``search`` names a
    ``TextEmbedder`` for the page at /search. A loop that is held up for ``lag_limit`` seconds is logged, with where; a
    batch that runs for ``stuck_after`` seconds makes ``/v2/health/live`` answer 503. ``progress`` is told of each
    program that is compiled.

    ``app.state.registry`` is the ``Registry``: ``await app.state.registry.load(model)``, ``.unload(name)``.

    >>> double = aio.serving.Model("double", lambda x: x * 2, {"x": aio.ShapeDtype((3,), "float32")})
    >>> aio.serving.create_app([double]).title
    'aioarray'
    """
    for option, value in (
        ("max_body", max_body),
        ("max_json", max_json),
        ("max_concurrency", max_concurrency),
        ("max_bytes", max_bytes),
    ):
        if value < 1:
            raise ValueError(f"create_app: {option} is {value}; it must be at least 1")
    for option, seconds in (("timeout", timeout), ("stuck_after", stuck_after)):
        if seconds is not None and not seconds > 0:
            raise ValueError(f"create_app: {option} is {seconds}; it must be above 0")
    keys = Keys(api_keys)
    registry = Registry(models, progress)
    watchdog = Watchdog(lag_limit)
    worker = worker_name()
    state = ServerState(
        registry, watchdog, max_body, max_json, timeout, stuck_after, search is not None, worker, siblings(worker)
    )
    index = None if search is None else SearchIndex(state, search)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with watchdog, registry, anyio.create_task_group() as group:
            if index is not None:
                group.start_soon(index.build)
            if state.siblings is not None:
                group.start_soon(state.siblings.publish, lambda: snapshot(state))
            yield
            group.cancel_scope.cancel()

    # FastAPI's own pages for reading the description load their scripts from elsewhere.
    app = FastAPI(title=title, version=aio.__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.registry = registry
    app.state.server = state
    # In the order in which addresses are looked for: the busiest first.
    app.include_router(openai_router(state))
    app.include_router(v2_router(state, manage=manage))
    app.include_router(status_router(state))
    app.include_router(metrics_router(state))
    if index is not None:
        app.include_router(search_router(state, index))
    app.add_exception_handler(HTTPException, _refused)
    # Outermost, so that what it refuses costs nothing more.
    make: Any = _GateOf
    app.add_middleware(
        make,
        state=state,
        keys=keys,
        max_body=max_body,
        max_concurrency=max_concurrency,
        max_bytes=max_bytes,
    )
    return app


class _GateOf(Gate):
    """The gate, as FastAPI makes it: when the first request or the lifespan comes."""

    def __init__(self, app: Any, *, state: ServerState, **options: Any) -> None:
        super().__init__(app, state.check_room, **options)
        state.gate = self


async def _refused(request: Request, error: Exception) -> Response:
    """Addresses and methods that there are not, in the form of errors of their part of the server."""
    assert isinstance(error, HTTPException)
    response = error_response(request.url.path, Failure(error.status_code, str(error.detail)))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
