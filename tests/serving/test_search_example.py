"""The example of a search page: it computes nothing until somebody opens it, and then waits for its model."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from aioarray.serving import Model, TextEmbedder
from tests.serving.clients import LENGTHS, LOST, affine, httpx, letters_of, tokenize, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio
FOLDER = Path(__file__).resolve().parents[2] / "examples" / "search"


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("search_example", FOLDER / "__main__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PAUSE", 0.001)
    monkeypatch.setattr(module, "PAUSE_AFTER_ERROR", 0.0)
    return module


def some(search: Any) -> list[Any]:
    """What is searched in."""
    return [search.Sentence(letter * count, "letters") for letter in "abcd" for count in range(1, 26)]


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[Any]:
    with anyio.fail_after(LOST):
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
        ):
            await app.state.registry.settled.wait()
            yield client


async def test_it_computes_when_it_is_opened_and_tries_again_what_fails(
    search: Any, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [RuntimeError("out of memory"), MemoryError()]
    asked: list[int] = []

    def failing(texts: Any) -> Any:
        asked.append(len(texts))
        if failures:
            raise failures.pop()
        return tokenize(texts)

    def make() -> Model:
        return TextEmbedder("letters", letters_of, failing, LENGTHS, batch_sizes=(32,), priority_levels=2)

    app = search.create({"letters": make, "affine": affine}, "letters", lambda: some(search))
    async with serving(app) as client:
        assert (await client.get("/search/results", params={"q": "abba"})).status_code == 503
        assert (await client.get("/search/status")).json() == {"done": 0, "size": 0, "model": "letters"}
        assert asked == []
        assert "<!doctype html>" in (await client.get("/search")).text

        async def found() -> bool:
            return bool((await client.get("/search/results", params={"q": "abba"})).status_code == 200)

        await until(found)
        assert sum(bool(record.exc_info) for record in caplog.records) == 2
        answer = (await client.get("/search/results", params={"q": "bad"})).json()
        scores = [result["score"] for result in answer["results"]]
        assert (len(scores), answer["sentences"]) == (10, 100)
        assert scores == sorted(scores, reverse=True)
        assert (await client.get("/search/results")).status_code == 400
        assert (await client.get("/v2/health/ready")).status_code == 200


async def test_it_waits_for_its_model_while_that_is_unloaded(search: Any) -> None:
    def make() -> Model:
        return TextEmbedder("letters", letters_of, tokenize, LENGTHS, batch_sizes=(32,))

    app = search.create({"letters": make}, "letters", lambda: some(search))
    async with serving(app) as client:
        await app.state.registry.unload("letters")
        await client.get("/search")
        assert (await client.get("/search/results", params={"q": "abba"})).status_code == 503
        await app.state.registry.load("letters")

        async def found() -> bool:
            return bool((await client.get("/search/results", params={"q": "abba"})).status_code == 200)

        await until(found)


async def test_sentences(search: Any) -> None:
    found = search.sentences()
    assert len(found) == 3000
    assert len({sentence.text for sentence in found}) == len(found)
    assert all(30 <= len(sentence.text) <= 200 and sentence.source for sentence in found)
    assert len({sentence.source for sentence in found}) > 100
    assert search.sentences(10) == [found[place * 300] for place in range(10)]
