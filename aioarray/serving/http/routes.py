"""How a route is added: its description for clients, and an answer for whatever it raises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from . import compression
from .failures import error_response, failure_of, path_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fastapi import APIRouter

T = TypeVar("T")

# Reading or writing less than this takes less time than asking another thread to.
HERE_BYTES: Final = 1 << 16
STATUSES: Final = (400, 401, 404, 408, 413, 415, 422, 429, 500, 503, 504)


def content(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    """How OpenAPI describes a body."""
    return {"content": {kind: {"schema": schema}}}


OBJECT: Final = content({"type": "object"})


def refusals(error: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """The responses to what was not answered, whose field ``error`` is as described."""
    schema = {"type": "object", "properties": {"error": error}, "required": ["error"]}
    return {key: {"description": "It was not answered; the body says why.", **content(schema)} for key in STATUSES}


def add_route(
    router: APIRouter,
    method: str,
    paths: str | Sequence[str],
    handler: Callable[[Request], Awaitable[Response]],
    *,
    responses: dict[int | str, dict[str, Any]],
    body: dict[str, Any] | None = None,
) -> None:
    """Have ``handler``, whose docstring is its description, answer at ``paths``; also where it raises."""

    async def answer(request: Request) -> Response:
        try:
            return await _compressed(request, await handler(request))
        except Exception as error:  # every error is somebody's answer
            return error_response(path_of(request.scope), failure_of(error))

    # Here the name of a type is its text, which FastAPI would look for elsewhere.
    answer.__annotations__ = {"request": Request, "return": Response}
    for path in [paths] if isinstance(paths, str) else paths:
        parameters = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"{(\w+)}", path)
        ]
        if method == "GET":  # probes ask so; HTTP leaves out the body
            router.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False)
        extra = {"parameters": parameters, **({} if body is None else {"requestBody": body})}
        router.add_api_route(
            path,
            answer,
            methods=[method],
            name=handler.__name__,
            description=handler.__doc__,
            responses=responses,
            response_class=JSONResponse,
            openapi_extra=extra,
        )


async def _compressed(request: Request, response: Response) -> Response:
    """The response, deflated if the client takes that and it is not small."""
    if len(response.body) < compression.MIN_BYTES:
        return response
    response.headers["vary"] = "Accept-Encoding"
    encoding = compression.choose(request.headers.get("accept-encoding", ""))
    if encoding is not None:
        response.body = await off_loop(len(response.body), compression.deflate, response.body, encoding)
        response.headers["content-encoding"] = encoding
        response.headers["content-length"] = str(len(response.body))
    return response


async def off_loop(size: int, function: Callable[..., T], *args: Any) -> T:
    """``function(*args)``, in another thread if ``size`` bytes are many."""
    if size <= HERE_BYTES:
        return function(*args)
    return await anyio.to_thread.run_sync(function, *args)
