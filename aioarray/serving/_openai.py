"""Embeddings in the form of OpenAI's API, for every model that is a ``TextEmbedder``.

https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson
from fastapi import APIRouter
from starlette.requests import Request  # noqa: TC002  FastAPI reads the annotation
from starlette.responses import JSONResponse, Response

from .._base.errors import InvalidInputError
from . import _protocol
from ._bodies import read_body
from ._registry import UnknownModelError
from ._state import off_loop, while_connected
from ._text import Embedded, TextEmbedder

if TYPE_CHECKING:
    from ._model import Model
    from ._state import ServerState

MAX_TEXTS: Final = 2048
OWNER: Final = "aioarray"

_ERROR: Final[dict[str, Any]] = {
    "description": "It was not answered; the body says why.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"error": {"type": "object"}}, "required": ["error"]}
        }
    },
}
_STATUSES: Final = (400, 401, 404, 408, 413, 415, 422, 429, 500, 503, 504)
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = dict.fromkeys(_STATUSES, _ERROR)
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["input", "model"],
                    "properties": {
                        "input": {
                            "anyOf": [
                                {"type": "string", "minLength": 1},
                                {
                                    "type": "array",
                                    "minItems": 1,
                                    "maxItems": MAX_TEXTS,
                                    "items": {"type": "string", "minLength": 1},
                                },
                            ]
                        },
                        "model": {"type": "string"},
                        "encoding_format": {"type": "string", "enum": ["float", "base64"]},
                        "dimensions": {"type": "integer", "minimum": 1},
                        "user": {"type": "string"},
                        "truncate": {"type": "boolean"},
                    },
                }
            }
        },
    }
}


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest:
    """What a client asks for."""

    texts: list[str]
    model: str
    base64: bool
    dimensions: int | None
    truncate: bool


def read(body: bytes) -> EmbeddingsRequest:
    """The request in a body. ``InvalidInputError`` for what is not one."""
    content = _protocol.read_json(body)
    model = content.get("model")
    if not isinstance(model, str):
        raise InvalidInputError("model is missing, or is not a string")
    given = content.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInputError(
            "input has to be a string or a list of strings, at least one; numbers of tokens are not accepted, since "
            "they are those of another tokeniser"
        )
    if len(texts) > MAX_TEXTS:
        raise InvalidInputError(f"input has {len(texts)} texts; at most {MAX_TEXTS} are allowed")
    if not all(texts):
        raise InvalidInputError("input has an empty string")
    encoding = content.get("encoding_format")
    if encoding is None:
        encoding = "float"
    if encoding not in ("float", "base64"):
        raise InvalidInputError(f"encoding_format is {str(encoding)[:40]!r}; it has to be 'float' or 'base64'")
    dimensions = content.get("dimensions")
    if dimensions is not None and type(dimensions) is not int:
        raise InvalidInputError("dimensions is not an integer")
    truncate = content.get("truncate", False)
    if not isinstance(truncate, bool):
        raise InvalidInputError("truncate is not true or false")
    return EmbeddingsRequest(texts, model, encoding == "base64", dimensions, truncate)


def write(asked: EmbeddingsRequest, result: Embedded) -> bytes:
    """The body that answers ``asked``."""
    vectors = np.ascontiguousarray(result.vectors, "<f4")
    entries = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(vector.tobytes()).decode() if asked.base64 else vector,
        }
        for index, vector in enumerate(vectors)
    ]
    content = {
        "object": "list",
        "data": entries,
        "model": asked.model,
        "usage": {"prompt_tokens": result.tokens, "total_tokens": result.tokens},
    }
    body: bytes = orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
    return body


def openai_router(state: ServerState) -> APIRouter:
    """``POST /v1/embeddings`` and ``GET /v1/models``."""
    routes = _Routes(state)
    router = APIRouter(tags=["OpenAI"])
    responses = {**_REFUSALS, 200: {"content": {"application/json": {"schema": {"type": "object"}}}}}
    for path, handler, method, extra in (
        ("/v1/embeddings", routes.embeddings, "POST", _BODY),
        ("/v1/models", routes.models, "GET", None),
        ("/v1/models/{model}", routes.model, "GET", None),
    ):
        router.add_api_route(
            path,
            handler,
            methods=[method],
            responses=responses,
            response_class=JSONResponse,
            openapi_extra=extra,
        )
    return router


class _Routes:
    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def embeddings(self, request: Request) -> Response:
        """The vectors of one or several texts."""
        state = self._state

        async def work() -> Response:
            body = await read_body(request, min(state.max_body, state.max_json))
            asked = read(body)

            async def compute(model: Model) -> Embedded:
                if not isinstance(model, TextEmbedder):
                    raise UnknownModelError(f"the model {asked.model[:60]!r} does not embed texts")
                if asked.dimensions not in (None, model.dimensions):
                    raise InvalidInputError(f"dimensions is {asked.dimensions}; {model.name} has {model.dimensions}")
                return await model.embed(
                    asked.texts,
                    truncate=asked.truncate,
                    timeout=state.time_for(None),
                    client=state.client_of(request),
                )

            result = await while_connected(request, lambda: state.call(asked.model, None, compute))
            content = await off_loop(result.vectors.nbytes, write, asked, result)
            return Response(content, 200, media_type="application/json")

        return await state.answer(request, work)

    async def models(self) -> Response:
        """The models that embed texts."""
        models = [self._entry(model) for model in self._state.registry.models() if isinstance(model, TextEmbedder)]
        return JSONResponse({"object": "list", "data": models})

    async def model(self, request: Request, model: str) -> Response:
        """One of them."""

        async def work() -> Response:
            found = self._state.registry.get(model)
            if not isinstance(found, TextEmbedder):
                raise UnknownModelError(f"the model {model[:60]!r} does not embed texts")
            return JSONResponse(self._entry(found))

        return await self._state.answer(request, work)

    def _entry(self, model: Model) -> dict[str, Any]:
        return {"id": model.name, "object": "model", "created": int(self._state.started), "owned_by": OWNER}
