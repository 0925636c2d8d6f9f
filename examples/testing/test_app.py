"""The endpoint, over HTTP but without a network: `httpx.AsyncClient` calls the application on the test's own loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

pytest.importorskip("fastapi", reason="FastAPI is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from app import app  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aioarray import testing

pytestmark = pytest.mark.asyncio

BODY = {"documents": [[1.0, 2.0, 3.0, 4.0]]}


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Any]:
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        yield client


@pytest.mark.aioarray(max_compiles=0)
async def test_scores(client: Any) -> None:
    response = await client.post("/scores", json=BODY)
    assert response.status_code == 200
    assert response.json()["scores"] == pytest.approx([0.999329], rel=1e-5)


async def test_a_document_of_the_wrong_length(client: Any) -> None:
    response = await client.post("/scores", json={"documents": [[1.0]]})
    assert response.status_code == 422


async def test_the_device_fails(client: Any, fault_injector: Any) -> None:
    fault_injector("INTERNAL: bus error", match="scores_of")
    response = await client.post("/scores", json=BODY)
    assert response.status_code == 500
    assert response.json() == {"detail": "the device failed: INTERNAL"}


async def test_requests_are_under_way_at_the_same_time(client: Any, device_gate: testing.Gate) -> None:
    requests = [asyncio.create_task(client.post("/scores", json=BODY)) for _ in range(10)]
    await device_gate.wait_for(10)
    device_gate.release()
    responses = await asyncio.gather(*requests)
    assert [response.status_code for response in responses] == [200] * 10


async def test_a_client_that_goes_away(client: Any, device_gate: testing.Gate) -> None:
    request = asyncio.create_task(client.post("/scores", json=BODY))
    await device_gate.wait_for(1)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert app.state.scorer.under_way == 0
