"""What serves one's own FastAPI application."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray.serving import Batcher, TensorSpec
from tests.serving.clients import LOST, httpx

fastapi = pytest.importorskip("fastapi", reason="FastAPI is not installed")


def own_application(batcher: Batcher) -> Any:
    app = fastapi.FastAPI(lifespan=aio.serving.lifespan([batcher]))
    Call = Annotated[aio.serving.BatchCall, fastapi.Depends(aio.serving.calling(batcher))]

    async def double(x: list[float], call: Any) -> Any:
        return aio.serving.ArrayResponse({"y": await call(x)})

    double.__annotations__.update(x=list[float], call=Call, **{"return": Any})
    app.add_api_route("/double", double, methods=["POST"])

    async def pending() -> Any:
        return aio.serving.ArrayResponse([aio.ones(2) * 3, np.arange(3), aio.asarray([1.0, np.nan]), "text", None])

    pending.__annotations__["return"] = Any
    app.add_api_route("/pending", pending, methods=["GET"])
    return app


@pytest.mark.asyncio
@pytest.mark.parametrize("nested", [False, True])
async def test_an_array_returned_by_an_endpoint_names_the_response_for_it(nested: bool) -> None:
    app = fastapi.FastAPI()
    assert aio.serving.ArrayResponse  # what serving has for FastAPI is loaded

    async def bare() -> Any:
        x = aio.ones(3) + 1
        return {"x": [x]} if nested else x

    del bare.__annotations__["return"]
    app.add_api_route("/", bare, methods=["GET"])
    async with (
        asyncio.timeout(LOST),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
    ):
        with pytest.raises(TypeError, match=r"aio\.serving\.ArrayResponse"):
            await client.get("/")


@pytest.mark.asyncio
async def test_parts_in_an_own_application() -> None:
    batcher = Batcher(lambda x: x * 2, specs=TensorSpec((3,), "float32"), max_batch_size=2)
    app = own_application(batcher)
    async with (
        asyncio.timeout(LOST),
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
    ):
        assert batcher.ready
        assert (await client.post("/double", json=[1, 2, 3])).json() == {"y": [2.0, 4.0, 6.0]}
        answer = await client.post("/double", json=[1, 2])
        assert answer.status_code == 400
        assert "shape" in answer.json()["detail"]
        assert (await client.get("/pending")).json() == [[3.0, 3.0], [0, 1, 2], [1.0, None], "text", None]
    assert batcher.stats().completed == 1


def test_an_application_starts_again_and_again_on_any_backend() -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    model = aio.serving.Model("m", aio.jit(lambda x: x * 2), {"x": aio.serving.TensorSpec((3,), "float32")})
    app = aio.serving.create_app([model], ready_first=True)
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]}
    for backend in ("asyncio", "trio", "asyncio"):
        with testclient.TestClient(app, backend=backend) as client:
            assert client.get("/v2/health/ready").status_code == 200
            answer = client.post("/v2/models/m/infer", json=body)
            assert answer.json()["outputs"][0]["data"] == [2.0, 4.0, 6.0]


def test_a_lifespan_starts_again_and_again_on_any_backend() -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    batcher = Batcher(lambda x: x * 2, specs=TensorSpec((3,), "float32"), max_batch_size=2)
    app = own_application(batcher)
    for backend in ("asyncio", "trio", "asyncio"):
        with testclient.TestClient(app, backend=backend) as client:
            assert client.post("/double", json=[1, 2, 3]).json() == {"y": [2.0, 4.0, 6.0]}
