"""The service behind HTTP, with FastAPI: `uvicorn app:app`. Tested in `test_app.py`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel
from service import FEATURES, Overloaded, Scorer

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Documents(BaseModel):
    """The body of a request."""

    documents: list[list[float]]


class Scores(BaseModel):
    """The body of a response."""

    scores: list[float]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Be ready, with the program for small requests compiled, before the first one comes."""
    app.state.scorer = Scorer([0.5, -0.25, 0.0, 1.0])
    await app.state.scorer.score([[0.0] * FEATURES])
    yield


app = FastAPI(lifespan=lifespan)


@app.post("/scores")
async def scores(body: Documents, request: Request) -> Scores:
    """Scores of some documents."""
    if any(len(document) != FEATURES for document in body.documents):
        raise HTTPException(422, f"a document has {FEATURES} features")
    try:
        return Scores(scores=await request.app.state.scorer.score(body.documents))
    except Overloaded:
        raise HTTPException(503, "try again later", {"Retry-After": "1"}) from None
    except TimeoutError:
        raise HTTPException(504, "the device is too slow") from None
    except aio.errors.DeviceError as error:
        raise HTTPException(500, f"the device failed: {error.status}") from error
