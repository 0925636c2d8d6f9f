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
from starlette.responses import JSONResponse, Response

from ..._base.errors import InvalidInputError
from ..models.registry import UnknownModelError
from ..models.text import Embedded, TextEmbedder
from . import protocol
from .bodies import read_body
from .disconnect import cancel_on_disconnect
from .routes import OBJECT, add_route, content, off_loop, refusals
from .state import client_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from ..models.model import Model
    from .state import ServerState

MAX_TEXTS: Final = 2048
OWNER: Final = "aioarray"

_RESPONSES: Final = {**refusals({"type": "object"}), 200: OBJECT}
_TEXT: Final = {"type": "string", "minLength": 1}
_BODY: Final = {
    "required": True,
    **content(
        {
            "type": "object",
            "required": ["input", "model"],
            "properties": {
                "input": {
                    "anyOf": [_TEXT, {"type": "array", "minItems": 1, "maxItems": MAX_TEXTS, "items": _TEXT}],
                },
                "model": {"type": "string"},
                "encoding_format": {"type": "string", "enum": ["float", "base64"]},
                "dimensions": {"type": "integer", "minimum": 1},
                "user": {"type": "string"},
                "truncate": {"type": "boolean"},
            },
        }
    ),
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
    given = protocol.read_json(body)
    model = given.get("model")
    if not isinstance(model, str):
        raise InvalidInputError("model is missing, or is not a string")
    texts = given.get("input")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInputError(
            "input has to be a string or a list of strings, at least one; numbers of tokens are not accepted, since "
            "they are those of another tokeniser"
        )
    if len(texts) > MAX_TEXTS:
        raise InvalidInputError(f"input has {len(texts)} texts; at most {MAX_TEXTS} are allowed")
    if not all(texts):
        raise InvalidInputError("input has an empty string")
    encoding = given.get("encoding_format")
    if encoding is None:
        encoding = "float"
    if encoding not in ("float", "base64"):
        raise InvalidInputError(f"encoding_format is {str(encoding)[:40]!r}; it has to be 'float' or 'base64'")
    dimensions = given.get("dimensions")
    if dimensions is not None and type(dimensions) is not int:
        raise InvalidInputError("dimensions is not an integer")
    truncate = given.get("truncate", False)
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
    handlers = _Handlers(state)
    router = APIRouter(tags=["OpenAI"])
    add_route(router, "POST", "/v1/embeddings", handlers.embeddings, responses=_RESPONSES, body=_BODY)
    add_route(router, "GET", "/v1/models", handlers.models, responses=_RESPONSES)
    add_route(router, "GET", "/v1/models/{model}", handlers.model, responses=_RESPONSES)
    return router


class _Handlers:
    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def embeddings(self, request: Request) -> Response:
        """The vectors of one or several texts."""
        limits = self._state.limits
        asked = read(await read_body(request, min(limits.max_body, limits.max_json)))

        async def compute(model: Model) -> Embedded:
            embedder = _embedder(model)
            if asked.dimensions not in (None, embedder.dimensions):
                raise InvalidInputError(f"dimensions is {asked.dimensions}; {model.name} has {embedder.dimensions}")
            return await embedder.embed(
                asked.texts, truncate=asked.truncate, timeout=limits.time_for(None), client=client_of(request)
            )

        result = await cancel_on_disconnect(request, lambda: self._state.call(asked.model, None, compute))
        written = await off_loop(result.vectors.nbytes, write, asked, result)
        return Response(written, 200, media_type="application/json")

    async def models(self, request: Request) -> Response:
        """The models that embed texts."""
        models = [self._entry(model) for model in self._state.registry.models() if isinstance(model, TextEmbedder)]
        return JSONResponse({"object": "list", "data": models})

    async def model(self, request: Request) -> Response:
        """One of them."""
        return JSONResponse(self._entry(_embedder(self._state.registry.get(request.path_params["model"]))))

    def _entry(self, model: Model) -> dict[str, Any]:
        return {"id": model.name, "object": "model", "created": int(self._state.started), "owned_by": OWNER}


def _embedder(model: Model) -> TextEmbedder:
    if not isinstance(model, TextEmbedder):
        raise UnknownModelError(f"the model {model.name!r} does not embed texts")
    return model
