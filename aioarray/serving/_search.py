"""A search page: the sentences nearest in meaning to what was typed, found by a served ``TextEmbedder``."""

from __future__ import annotations

import logging
import time
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
import numpy as np
from fastapi import APIRouter
from starlette.requests import Request  # noqa: TC002  FastAPI reads the annotation
from starlette.responses import HTMLResponse, JSONResponse, Response

import aioarray as aio

from .._base.errors import DeadlineError, InvalidInputError, NotServingError, QueueFullError
from ._corpus import Sentence, sentences
from ._registry import NotReadyError, UnknownModelError
from ._state import while_connected
from ._text import TextEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._model import Model
    from ._state import ServerState

logger = logging.getLogger("aioarray.serving")

RESULTS: Final = 10
MAX_QUERY: Final = 1000
CHUNK: Final = 32
# Seconds until a model that cannot take any more sentences, and one that has failed, are asked again.
PAUSE: Final = 0.5
PAUSE_AFTER_ERROR: Final = 30.0


@aio.jit(static_argnames=("k",))
def nearest(vectors: aio.Array, query: aio.Array, k: int) -> Any:
    """The largest cosines with ``query``, and their places."""
    return aio.top_k(vectors @ query, k)


class SearchIndex:
    """Sentences and their vectors, made while the model has nothing better to do. Loop thread only."""

    def __init__(self, state: ServerState, model: str, texts: Sequence[Sentence] | None = None) -> None:
        self.model = model
        self.size = 0  # how many there will be
        self.done = 0
        self._state = state
        self._texts: Sequence[Sentence] | None = texts
        self._vectors: aio.Array | None = None

    async def build(self) -> None:
        """Embed all sentences, at the model's lowest priority; waits until the model is ready.

        Whatever goes wrong is tried again later: a page less is no reason for the server to end.
        """
        while self._vectors is None:
            try:
                self._vectors = await self._embed_all()
            except Exception:
                logger.exception("the sentences of the search page could not be embedded; they are tried again later")
                await anyio.sleep(PAUSE_AFTER_ERROR)

    async def _embed_all(self) -> aio.Array:
        self.done = 0
        if self._texts is None:
            self._texts = await anyio.to_thread.run_sync(sentences)
        self.size = len(self._texts)
        parts: list[np.ndarray[Any, Any]] = []
        # Sentences of like lengths together: less padding, and the same results.
        order = sorted(range(self.size), key=lambda place: len(self._texts[place].text))  # type: ignore[index]
        self._texts = [self._texts[place] for place in order]
        while self.done < self.size:
            chunk = [sentence.text for sentence in self._texts[self.done : self.done + CHUNK]]
            try:
                result = await self._state.call(self.model, None, lambda model: _embed(model, chunk))  # noqa: B023
            except (NotReadyError, NotServingError, UnknownModelError, QueueFullError, DeadlineError):
                await anyio.sleep(PAUSE)
                continue
            parts.append(result)
            self.done += len(chunk)
        vectors: aio.Array = await aio.device_put(np.concatenate(parts))
        await nearest(vectors, vectors[0], min(RESULTS, self.size))[0]  # compiled before anybody asks
        return vectors

    async def search(self, query: str, client: Any) -> list[dict[str, Any]]:
        """The nearest sentences. Raises ``NotReadyError`` before all are embedded."""
        if self._vectors is None or self._texts is None:
            raise NotReadyError(f"{self.done} of {self.size} sentences are embedded")
        vectors, texts = self._vectors, self._texts

        async def embed(model: Model) -> Any:
            assert isinstance(model, TextEmbedder)
            return await model.embed([query], truncate=True, timeout=self._state.time_for(None), client=client)

        embedded = await self._state.call(self.model, None, embed)
        values, places = await aio.to_host(nearest(vectors, aio.asarray(embedded.vectors[0]), min(RESULTS, self.size)))
        return [
            {"text": texts[place].text, "source": texts[place].source, "score": round(float(value), 4)}
            for value, place in zip(values, places.tolist(), strict=True)
        ]


async def _embed(model: Model, texts: list[str]) -> np.ndarray[Any, Any]:
    assert isinstance(model, TextEmbedder)
    lowest = int(model.options.get("priority_levels", 1)) - 1
    return (await model.embed(texts, truncate=True, priority=lowest)).vectors


def search_router(state: ServerState, index: SearchIndex) -> APIRouter:
    """The page at /search, and what its script asks for."""
    router = APIRouter(tags=["search"])
    page = resources.files(__package__).joinpath("_page", "search.html").read_text(encoding="utf-8")

    async def show() -> Response:
        """The page."""
        return HTMLResponse(page, headers=PAGE_HEADERS)

    async def results(request: Request, q: str = "") -> Response:
        """The sentences nearest in meaning to ``q``."""

        async def work() -> Response:
            if not q.strip() or len(q) > MAX_QUERY:
                raise InvalidInputError(f"q has to have 1 to {MAX_QUERY} characters")
            start = time.perf_counter()
            found = await while_connected(request, lambda: index.search(q, state.client_of(request)))
            milliseconds = round((time.perf_counter() - start) * 1000, 2)
            return JSONResponse({"results": found, "milliseconds": milliseconds, "sentences": index.size})

        return await state.answer(request, work)

    async def status() -> Response:
        """How far the sentences are embedded."""
        return JSONResponse({"done": index.done, "size": index.size, "model": index.model})

    router.add_api_route("/search", show, methods=["GET"], include_in_schema=False)
    router.add_api_route("/search/results", results, methods=["GET"], include_in_schema=False)
    router.add_api_route("/search/status", status, methods=["GET"], include_in_schema=False)
    return router


# A page shows what the server tells, and loads nothing from elsewhere.
PAGE_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
