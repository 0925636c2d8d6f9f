"""The Open Inference Protocol's addresses, with the extensions for binary tensors and for the model repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

import aioarray as aio

from ..models import tensors
from ..models.description import configuration
from . import protocol
from .binary import LENGTH_HEADER
from .bodies import read_body
from .disconnect import cancel_on_disconnect
from .failures import RefusedError
from .gate import LIVE_PATHS, READY_PATHS
from .inference import infer
from .routes import OBJECT, add_route, content, off_loop, refusals
from .snapshot import model_statistics
from .state import client_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from .snapshot import Numbers
    from .state import ServerState

_REFUSALS: Final = refusals({"type": "string"})
_PARAMETERS: Final = {"type": "object", "additionalProperties": True}
_DATATYPE: Final = {"type": "string", "enum": list(tensors.DATATYPES)}
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
_BINARY: Final = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_INFER: Final = {"required": True, "content": {**content(_INFER_BODY)["content"], **_BINARY}}
_TENSORS: Final = {
    "description": "The outputs, as JSON or as JSON with binary data behind it.",
    "content": {**OBJECT["content"], **_BINARY},
}
_OPTIONAL: Final = {"required": False, **OBJECT}
_INDEX: Final = content({"type": "array", "items": {"type": "object"}})


def open_inference_router(state: ServerState, numbers: Numbers, *, manage: bool) -> APIRouter:
    """The routes under /v2; those that load and unload models only with ``manage``."""
    handlers = _Handlers(state, numbers)
    router = APIRouter(tags=["Open Inference Protocol"])

    def add(method: str, path: str | tuple[str, ...], handler: Any, body: Any = None, answer: Any = OBJECT) -> None:
        # Of a model without a version the latest one that is ready answers.
        paths = [path] if isinstance(path, str) else list(path)
        if paths[0].startswith("/v2/models/{model}"):
            paths.append(paths[0].replace("{model}", "{model}/versions/{version}"))
        add_route(router, method, paths, handler, body=body, responses={**_REFUSALS, 200: answer})

    add("POST", "/v2/models/{model}/infer", handlers.infer, _INFER, _TENSORS)
    add("GET", "/v2", handlers.server)
    add("GET", LIVE_PATHS, handlers.live)
    add("GET", READY_PATHS, handlers.ready)
    add_route(router, "GET", "/v2/models/stats", handlers.all_statistics, responses={**_REFUSALS, 200: OBJECT})
    add("GET", "/v2/models/{model}", handlers.metadata)
    add("GET", "/v2/models/{model}/config", handlers.configuration)
    add("GET", "/v2/models/{model}/stats", handlers.statistics)
    add("GET", "/v2/models/{model}/ready", handlers.model_ready)
    add("POST", "/v2/repository/index", handlers.index, _OPTIONAL, _INDEX)
    if manage:
        add("POST", "/v2/repository/models/{model}/load", handlers.load, _OPTIONAL)
        add("POST", "/v2/repository/models/{model}/unload", handlers.unload, _OPTIONAL)
    return router


def _named(request: Request) -> tuple[str, str | None]:
    """The model's name and version in the address."""
    return request.path_params["model"], request.path_params.get("version")


class _Handlers:
    def __init__(self, state: ServerState, numbers: Numbers) -> None:
        self._state = state
        self._numbers = numbers

    async def server(self, request: Request) -> Response:
        """What server this is."""
        return JSONResponse({"name": "aioarray", "version": aio.__version__, "extensions": list(protocol.EXTENSIONS)})

    async def live(self, request: Request) -> Response:
        """200 while the server answers and no batch has been running for too long; otherwise 503."""
        live = self._state.live()
        return JSONResponse({"live": live}, 200 if live else 503)

    async def ready(self, request: Request) -> Response:
        """200 once all models are compiled and warm; 503 before, and while the server is going down."""
        ready = self._state.registry.ready
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    async def metadata(self, request: Request) -> Response:
        """Inputs and outputs of a model."""
        registry, (name, version) = self._state.registry, _named(request)
        return JSONResponse({**registry.get(name, version).metadata(), "versions": registry.versions(name)})

    async def model_ready(self, request: Request) -> Response:
        """200 if the model can answer."""
        name, version = _named(request)
        self._state.registry.get(name, version)
        return JSONResponse({"name": name, "ready": True})

    async def configuration(self, request: Request) -> Response:
        """Inputs, outputs and batching of a model, in Triton's form."""
        return JSONResponse(configuration(self._state.registry.get(*_named(request))))

    async def statistics(self, request: Request) -> Response:
        """What a model has done, in Triton's form: of one version, or of all."""
        name, version = _named(request)
        self._state.registry.get(name, version)
        return JSONResponse(model_statistics(await self._numbers(), name, version))

    async def all_statistics(self, request: Request) -> Response:
        """What all models have done, in Triton's form."""
        return JSONResponse(model_statistics(await self._numbers(), None, None))

    async def infer(self, request: Request) -> Response:
        """Outputs of a model for the inputs in the body."""
        state, (name, version) = self._state, _named(request)
        check = state.registry.get(name, version).check_tensor  # one that is not there is told before a body is read
        body = await read_body(request, state.limits.max_body)
        header_length = request.headers.get(LENGTH_HEADER)
        asked = await off_loop(len(body), protocol.read, body, header_length, state.limits.max_json, check)

        timeout, client = asked.timeout, client_of(request)
        model, outputs = await cancel_on_disconnect(
            request, lambda: infer(state, name, version, asked, timeout, client)
        )
        size, names = sum(array.nbytes for array in outputs.values()), list(model.outputs)
        written, headers = await off_loop(size, protocol.write, model.name, model.version, asked, names, outputs)
        return Response(written, 200, headers)

    async def index(self, request: Request) -> Response:
        """The models that there are, and their states."""
        return JSONResponse(self._state.registry.index())

    async def load(self, request: Request) -> Response:
        """Load a model that the server was told of, or load it again; answers when it is ready."""
        loaded = await self._state.registry.load(_named(request)[0])
        return JSONResponse({"name": loaded.name, "version": loaded.version})

    async def unload(self, request: Request) -> Response:
        """Take a model out of service; answers when all requests that it has accepted are answered."""
        name, _ = _named(request)
        if name not in self._state.registry.sources:
            raise RefusedError(409, f"{name[:60]!r} could not be loaded again by its name")
        await self._state.registry.unload(name)
        return JSONResponse({"name": name})
