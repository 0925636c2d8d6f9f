"""Which models there are: their configuration and statistics, and loading and unloading them."""

from __future__ import annotations

import asyncio

import pytest

from tests.serving.clients import Held, affine, letters, serving, tensor, until

pytestmark = pytest.mark.asyncio


async def test_configuration_and_statistics() -> None:
    async with serving([affine(), affine(version="2"), letters()]) as (_, client):
        configuration = (await client.get("/v2/models/affine/config")).json()
        assert configuration["max_batch_size"] == 4
        assert configuration["input"] == [{"name": "x", "data_type": "TYPE_FP32", "dims": [3]}]
        assert configuration["output"] == [{"name": "output", "data_type": "TYPE_FP32", "dims": [3]}]
        assert configuration["dynamic_batching"]["preferred_batch_size"] == [1, 2, 4]
        texts = (await client.get("/v2/models/letters/config")).json()["input"]
        assert texts == [{"name": "text", "data_type": "TYPE_STRING", "dims": []}]
        before = (await client.get("/v2/models/affine/versions/1/stats")).json()["model_stats"]
        assert before[0]["inference_stats"]["success"] == {"count": 0, "ns": 0}
        for rows in (1, 3):
            body = {"inputs": [tensor([1.0] * 3 * rows, (rows, 3))]}
            assert (await client.post("/v2/models/affine/versions/1/infer", json=body)).status_code == 200
        (stats,) = (await client.get("/v2/models/affine/versions/1/stats")).json()["model_stats"]
        assert (stats["name"], stats["version"]) == ("affine", "1")
        assert (stats["inference_count"], stats["execution_count"]) == (4, 2)
        durations = stats["inference_stats"]
        assert durations["success"]["count"] == durations["queue"]["count"] == durations["compute_infer"]["count"] == 2
        assert durations["success"]["ns"] >= durations["queue"]["ns"] + durations["compute_infer"]["ns"] > 0
        assert [each["batch_size"] for each in stats["batch_stats"] if each["compute_infer"]["count"]] == [1, 4]
        assert stats["last_inference"] > 1.7e12
        both = (await client.get("/v2/models/affine/stats")).json()["model_stats"]
        assert [each["version"] for each in both] == ["1", "2"]
        assert len((await client.get("/v2/models/stats")).json()["model_stats"]) == 3
        for path in ("other/config", "other/stats", "affine/versions/3/config", "affine/versions/3/stats"):
            assert (await client.get(f"/v2/models/{path}")).status_code == 404


async def test_models_are_loaded_and_unloaded_while_requests_run() -> None:
    held = Held("model")
    sources = {"model": held.model, "affine": affine}
    async with serving(sources, manage=True) as (_, client), asyncio.TaskGroup() as group:
        held.close()
        body = {"inputs": [tensor([1], (1, 1))]}
        accepted = group.create_task(client.post("/v2/models/model/infer", json=body))
        await held.arrived.wait()
        unloading = group.create_task(client.post("/v2/repository/models/model/unload"))

        async def gone() -> bool:
            return bool((await client.get("/v2/models/model")).status_code == 404)

        await until(gone)
        assert not unloading.done()  # it answers what it has accepted
        held.opened.set()
        assert (await accepted).status_code == 200
        assert (await unloading).status_code == 200
        index = (await client.post("/v2/repository/index")).json()
        assert {(row["name"], row["state"]) for row in index} == {("model", "UNAVAILABLE"), ("affine", "READY")}
        assert (await client.post("/v2/repository/models/model/load")).status_code == 200
        assert (await client.post("/v2/models/model/infer", json=body)).status_code == 200
        assert (await client.post("/v2/repository/models/other/load")).status_code == 404
        assert (await client.post("/v2/repository/models/other/unload")).status_code == 409


async def test_managing_has_to_be_allowed() -> None:
    async with serving([affine()]) as (_, client):
        for what in ("load", "unload"):
            assert (await client.post(f"/v2/repository/models/affine/{what}")).status_code == 404
        assert (await client.post("/v2/repository/index")).status_code == 200
