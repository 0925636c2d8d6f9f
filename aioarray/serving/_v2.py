"""The Open Inference Protocol's addresses, with the extensions for binary tensors and for the model repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter
from starlette.requests import Request  # noqa: TC002  FastAPI reads the annotation
from starlette.responses import JSONResponse, Response

import aioarray as aio

from .._base.errors import InvalidInputError
from . import _binary, _protocol, _tensors
from ._bodies import read_body
from ._failures import RefusedError
from ._state import off_loop, while_connected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ._model import Model
    from ._state import ServerState

ERROR: Final[dict[str, Any]] = {
    "description": "It was not answered; the body says why.",
    "content": {"application/json": {"schema": {"type": "object", "properties": {"error": {"type": "string"}}}}},
}
_STATUSES: Final = (400, 401, 404, 408, 413, 415, 422, 429, 500, 503, 504)
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = dict.fromkeys(_STATUSES, ERROR)
_PARAMETERS: Final = {"type": "object", "additionalProperties": True}
_DATATYPE: Final = {"type": "string", "enum": list(_tensors.DATATYPES)}
_SHAPE: Final = {"type": "array", "items": {"type": "integer", "minimum": 0}}
_INFER_BODY: Final = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "id": {"type": "string"},
        "parameters": _PARAMETERS,
        "inputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "shape", "datatype"],
                "properties": {
                    "name": {"type": "string"},
                    "shape": _SHAPE,
                    "datatype": _DATATYPE,
                    "parameters": _PARAMETERS,
                    "data": {"type": "array", "items": {}},
                },
            },
        },
        "outputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "parameters": _PARAMETERS},
            },
        },
    },
}
_INFER: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _INFER_BODY},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_OBJECT: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/json": {"schema": {"type": "object"}}}},
}
_TENSORS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The outputs, as JSON or as JSON with binary data behind it.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    },
}
_OPTIONAL_BODY: Final = {
    "requestBody": {"required": False, "content": {"application/json": {"schema": {"type": "object"}}}}
}


def v2_router(state: ServerState, *, manage: bool) -> APIRouter:
    """The routes under /v2; those that load and unload models only with ``manage``."""
    routes = _Routes(state)
    router = APIRouter(tags=["Open Inference Protocol"])

    def add(path: str, handler: Callable[..., Awaitable[Response]], method: str = "GET", **options: Any) -> None:
        responses = {**_REFUSALS, **options.pop("responses", _OBJECT)}
        router.add_api_route(
            path, handler, methods=[method], responses=responses, response_class=JSONResponse, **options
        )

    add("/v2/models/{model}/infer", routes.infer, "POST", openapi_extra=_INFER, responses=_TENSORS)
    add("/v2", routes.server)
    add("/v2/health/live", routes.live)
    add("/v2/health/ready", routes.ready)
    add("/v2/models/{model}", routes.metadata)
    add("/v2/models/{model}/versions/{version}", routes.version_metadata)
    add("/v2/models/{model}/ready", routes.model_ready)
    add("/v2/models/{model}/versions/{version}/ready", routes.version_ready)
    add(
        "/v2/models/{model}/versions/{version}/infer",
        routes.version_infer,
        "POST",
        openapi_extra=_INFER,
        responses=_TENSORS,
    )
    add(
        "/v2/repository/index",
        routes.index,
        "POST",
        openapi_extra=_OPTIONAL_BODY,
        responses={200: {"content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}}}},
    )
    if manage:
        add("/v2/repository/models/{model}/load", routes.load, "POST", openapi_extra=_OPTIONAL_BODY)
        add("/v2/repository/models/{model}/unload", routes.unload, "POST", openapi_extra=_OPTIONAL_BODY)
    return router


class _Routes:
    """The handlers. They take a model's name and version from the address."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def server(self) -> Response:
        """What server this is."""
        return JSONResponse({"name": "aioarray", "version": aio.__version__, "extensions": list(_protocol.EXTENSIONS)})

    async def live(self) -> Response:
        """200 while the server answers and no batch has been running for too long; otherwise 503."""
        live = self._state.live()
        return JSONResponse({"live": live}, 200 if live else 503)

    async def ready(self) -> Response:
        """200 once all models are compiled and warm; 503 before, and while the server is going down."""
        ready = self._state.registry.ready
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    async def metadata(self, request: Request, model: str) -> Response:
        """Inputs and outputs of a model's latest version."""
        return await self._metadata(request, model, None)

    async def version_metadata(self, request: Request, model: str, version: str) -> Response:
        """Inputs and outputs of a version of a model."""
        return await self._metadata(request, model, version)

    async def _metadata(self, request: Request, name: str, version: str | None) -> Response:
        async def work() -> Response:
            registry = self._state.registry
            metadata = registry.get(name, version).metadata()
            return JSONResponse({**metadata, "versions": registry.versions(name)})

        return await self._state.answer(request, work)

    async def model_ready(self, request: Request, model: str) -> Response:
        """200 if the model can answer."""
        return await self._model_ready(request, model, None)

    async def version_ready(self, request: Request, model: str, version: str) -> Response:
        """200 if the version of the model can answer."""
        return await self._model_ready(request, model, version)

    async def _model_ready(self, request: Request, name: str, version: str | None) -> Response:
        async def work() -> Response:
            self._state.registry.get(name, version)
            return JSONResponse({"name": name, "ready": True})

        return await self._state.answer(request, work)

    async def infer(self, request: Request, model: str) -> Response:
        """Outputs of a model's latest version for the inputs in the body."""
        return await self._infer(request, model, None)

    async def version_infer(self, request: Request, model: str, version: str) -> Response:
        """Outputs of a version of a model for the inputs in the body."""
        return await self._infer(request, model, version)

    async def _infer(self, request: Request, name: str, version: str | None) -> Response:
        state = self._state

        async def work() -> Response:
            state.registry.get(name, version)  # one that is not there is told before a large body is read
            body = await read_body(request, state.max_body)
            header_length = request.headers.get(_binary.LENGTH_HEADER)
            asked = await off_loop(len(body), _protocol.read, body, header_length, state.max_json)

            async def compute(model: Model) -> Response:
                wanted = {output.name for output in asked.outputs or ()}
                if not wanted <= model.outputs.keys():
                    unknown = sorted(wanted - model.outputs.keys())[0][:60]
                    raise InvalidInputError(f"{name}: there is no output {unknown!r}; it has {list(model.outputs)}")
                outputs = await model.infer(
                    asked.inputs,
                    timeout=state.time_for(asked.timeout),
                    priority=model.priority_of(asked.priority),
                    client=state.client_of(request),
                )
                size = sum(array.nbytes for array in outputs.values())
                names = list(model.outputs)
                content, headers = await off_loop(
                    size, _protocol.write, model.name, model.version, asked, names, outputs
                )
                return Response(content, 200, headers)

            return await while_connected(request, lambda: state.call(name, version, compute))

        return await state.answer(request, work)

    async def index(self) -> Response:
        """The models that there are, and their states."""
        return JSONResponse(self._state.registry.index())

    async def load(self, request: Request, model: str) -> Response:
        """Load a model that the server was told of, or load it again; answers when it is ready."""

        async def work() -> Response:
            loaded = await self._state.registry.load(model)
            return JSONResponse({"name": loaded.name, "version": loaded.version})

        return await self._state.answer(request, work)

    async def unload(self, request: Request, model: str) -> Response:
        """Take a model out of service; answers when all requests that it has accepted are answered."""

        async def work() -> Response:
            if model not in self._state.registry.sources:
                raise RefusedError(409, f"{model[:60]!r} could not be loaded again by its name")
            await self._state.registry.unload(model)
            return JSONResponse({"name": model})

        return await self._state.answer(request, work)
