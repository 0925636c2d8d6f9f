"""The server's application: what it answers, and that whatever comes it gives a reason and never status 500."""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
from typing import Any

import anyio
import numpy as np
import pytest

import aioarray as aio
from aioarray.serving import Model
from tests.serving.clients import (
    LENGTHS,
    Held,
    affine,
    letters,
    queued,
    serving,
    tensor,
    until,
)

pytestmark = pytest.mark.asyncio

INFER = "/v2/models/affine/infer"
ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


async def test_metadata_and_health() -> None:
    async with serving([affine(), affine(version="2"), affine(version="10")]) as (_, client):
        assert (await client.get("/v2")).json()["name"] == "aioarray"
        assert (await client.get("/v2/health/live")).json() == {"live": True}
        assert (await client.get("/v2/health/ready")).json() == {"ready": True}
        metadata = (await client.get("/v2/models/affine")).json()
        assert metadata["versions"] == ["1", "2", "10"]
        assert metadata["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}]
        assert metadata["outputs"] == [{"name": "output", "datatype": "FP32", "shape": [-1, 3]}]
        for path in ("/v2/models/affine/ready", "/v2/models/affine/versions/2/ready", "/v2/models/affine/versions/2"):
            assert (await client.get(path)).status_code == 200
        for path in ("/v2/models/other", "/v2/models/affine/versions/3", "/v2/models/other/ready", "/nothing"):
            answer = await client.get(path)
            assert answer.status_code == 404
            assert answer.json()["error"]
        assert (await client.get(INFER)).status_code == 405
        answer = await client.post(INFER, json={"inputs": [tensor([1, 2, 3], (1, 3))]})
        assert answer.json()["model_version"] == "10"
        answer = await client.post("/v2/models/affine/versions/2/infer", json={"inputs": [tensor([1, 2, 3], (1, 3))]})
        assert answer.json()["model_version"] == "2"


async def test_json_tensors() -> None:
    async with serving([affine()]) as (_, client):
        for data in (ROWS, [1, 2, 3, 4, 5, 6]):
            answer = await client.post(INFER, json={"id": "seven", "inputs": [tensor(data, (2, 3))]})
            assert answer.status_code == 200
            assert answer.json() == {
                "model_name": "affine",
                "model_version": "1",
                "id": "seven",
                "outputs": [tensor([3.0, 5.0, 7.0, 9.0, 11.0, 13.0], (2, 3), "output")],
            }
        # More rows than a batch has, and none.
        answer = await client.post(INFER, json={"inputs": [tensor([1.0] * 39, (13, 3))]})
        assert answer.json()["outputs"] == [tensor([3.0] * 39, (13, 3), "output")]
        answer = await client.post(INFER, json={"inputs": [tensor([], (0, 3))]})
        assert answer.json()["outputs"] == [tensor([], (0, 3), "output")]


def binary_body(array: np.ndarray[Any, Any], **request: Any) -> tuple[bytes, dict[str, str]]:
    data = array.tobytes()
    entry = {"name": "x", "shape": list(array.shape), "datatype": "FP32", "parameters": {"binary_data_size": len(data)}}
    header = json.dumps({"inputs": [entry], **request}).encode()
    return header + data, {"Inference-Header-Content-Length": str(len(header))}


async def test_binary_tensors() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    async with serving([affine()]) as (_, client):
        body, headers = binary_body(array, outputs=[{"name": "output", "parameters": {"binary_data": True}}])
        answer = await client.post(INFER, content=body, headers=headers)
        assert answer.status_code == 200
        length = int(answer.headers["inference-header-content-length"])
        (output,) = json.loads(answer.content[:length])["outputs"]
        assert output["parameters"] == {"binary_data_size": 24}
        assert np.frombuffer(answer.content[length:], np.float32).tolist() == (array * 2 + 1).ravel().tolist()
        # JSON out for binary in, and binary for all outputs by a parameter of the request.
        body, headers = binary_body(array)
        assert (await client.post(INFER, content=body, headers=headers)).json()["outputs"][0]["shape"] == [2, 3]
        body, headers = binary_body(array, parameters={"binary_data_output": True})
        answer = await client.post(INFER, content=body, headers=headers)
        assert answer.headers["content-type"] == "application/octet-stream"


def good(**changes: Any) -> dict[str, Any]:
    return {"inputs": [{**tensor([1, 2, 3], (1, 3)), **changes}]}


WRONG_BODIES: dict[str, Any] = {
    "not JSON": b"{",
    "not UTF-8": b'{"id": "\xff"}',
    "NaN": b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[NaN,1,2]}]}',
    "Infinity": b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[-Infinity,1,2]}]}',
    "1e999": b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[1e999,1,2]}]}',
    "deep": b'{"inputs":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep data": b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":' + b"[" * 900 + b"]" * 900 + b"}]}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "many digits": b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[' + b"9" * 9999 + b",1,2]}]}",
    "list": [],
    "empty": {},
    "no inputs": {"inputs": None},
    "an object of inputs": {"inputs": {"x": 1}},
    "an input that is a list": {"inputs": [[]]},
    "two of a name": {"inputs": [*good()["inputs"], *good()["inputs"]]},
    "too many": {"inputs": [{}] * 10_000},
    "none of them": {"inputs": []},
    "a name that is a number": good(name=1),
    "another name": good(name="y"),
    "a very long name": good(name="y" * 100_000),
    "no data": {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32"}]},
    "another type": good(datatype="FP64"),
    "no such type": good(datatype="FLOAT32"),
    "BYTES": good(datatype="BYTES", data=["a", "b", "c"]),
    "a negative shape": good(shape=[-1, 3]),
    "a lying shape": good(shape=[2, 3]),
    "a huge shape": good(shape=[1 << 40, 1 << 40]),
    "a shape beyond integers": good(shape=[2**70]),
    "a huge shape with a zero": good(shape=[0, 1 << 40, 1 << 40, 1 << 40], data=[]),
    "a shape with a zero": good(shape=[1, 0], data=[]),
    "no rows, of another width": good(shape=[0, 5], data=[]),
    "no rows, of a huge width": good(shape=[0, 1 << 40], data=[]),
    "another rank": good(shape=[3]),
    "another width": good(shape=[1, 4], data=[1, 2, 3, 4]),
    "more rows than may wait": good(shape=[2000, 3], data=[0] * 6000),
    "strings": good(data=["1", "2", "3"]),
    "null": good(data=[None, 1, 2]),
    "ragged": good(data=[[1, 2], [3]]),
    "parameters that are a list": good(parameters=[]),
    "a negative size": good(parameters={"binary_data_size": -1}),
    "a size without data": {
        "inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32", "parameters": {"binary_data_size": 12}}]
    },
    "data and a size": good(parameters={"binary_data_size": 0}),
    "shared memory": good(parameters={"shared_memory_region": "secret"}),
    "an id that is a number": {**good(), "id": 1},
    "outputs that are a string": {**good(), "outputs": "output"},
    "an output that is not there": {**good(), "outputs": [{"name": "nothing"}]},
    "an output twice": {**good(), "outputs": [{"name": "output"}, {"name": "output"}]},
    "a priority that is a string": {**good(), "parameters": {"priority": "high"}},
    "a timeout that is negative": {**good(), "parameters": {"timeout": -5}},
    "a flag that is a number": {**good(), "parameters": {"binary_data_output": 1}},
    "classification": {**good(), "outputs": [{"name": "output", "parameters": {"classification": 3}}]},
}


async def test_whatever_is_wrong_is_told_with_status_400() -> None:
    async with serving([affine()]) as (app, client):
        for what, body in WRONG_BODIES.items():
            sent = {"content": body} if isinstance(body, bytes) else {"json": body}
            answer = await client.post(INFER, **sent)
            assert answer.status_code == 400, (what, answer.text)
            assert 5 < len(answer.json()["error"]) < 500, what
        good_body = json.dumps(good()).encode()
        for length in ("-1", "x", "9" * 30, "\N{FULLWIDTH DIGIT ONE}", "100000", str(len(good_body) - 1), "0", ""):
            answer = await client.post(
                INFER, content=good_body, headers={b"Inference-Header-Content-Length": length.encode()}
            )
            assert answer.status_code == 400, (length, answer.text)
        body, headers = binary_body(np.zeros((1, 3), np.float32))
        for wrong in (body[:-1], body + b"x"):
            assert (await client.post(INFER, content=wrong, headers=headers)).status_code == 400
        # It goes on as if nothing had been.
        assert (await client.post(INFER, json=good())).status_code == 200
        assert app.state.server.traffic.answers.keys() == {200, 400}


async def test_sizes_are_limited() -> None:
    async with serving([affine()], max_body=2000, max_json=1000) as (_, client):
        assert (await client.post(INFER, json=good())).status_code == 200
        answer = await client.post(INFER, content=b" " * 2001)
        assert answer.status_code == 413
        assert "2001" in answer.json()["error"]

        async def chunks() -> Any:
            for _ in range(100):
                yield b" " * 100

        assert (await client.post(INFER, content=chunks())).status_code == 413
        answer = await client.post(INFER, content=b" " * 1500)
        assert answer.status_code == 413
        assert "binary" in answer.json()["error"]
        assert (await client.post("/v1/embeddings", content=b" " * 1500)).status_code == 413
        for encoding, status in (("br", 415), ("gzip", 400)):
            answer = await client.post(INFER, json=good(), headers={"Content-Encoding": encoding})
            assert answer.status_code == status
        answer = await client.post(INFER, content=gzip.compress(b" " * 2001), headers={"Content-Encoding": "gzip"})
        assert answer.status_code == 413


async def test_api_keys() -> None:
    async with serving([affine()], api_keys=["secret", "other"]) as (_, client):
        for path in ("/v2/models/affine", "/stats", "/metrics", "/v1/models", "/nothing"):
            answer = await client.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/", "/v2/health/live", "/v2/health/ready"):
            assert (await client.get(path)).status_code == 200
        for headers in ({"Authorization": "Bearer secret"}, {"Authorization": "bearer other"}, {"X-API-Key": "other"}):
            assert (await client.post(INFER, json=good(), headers=headers)).status_code == 200
        for headers in (
            {"Authorization": "Basic secret"},
            {"Authorization": "Bearer secre"},
            {"Authorization": "Bearer "},
            {"X-API-Key": ""},
            {"X-API-Key": "secretother"},
        ):
            assert (await client.post(INFER, json=good(), headers=headers)).status_code == 401


async def test_not_ready_while_models_compile() -> None:
    held = Held()
    held.close()
    async with serving([held.model], wait=False) as (app, client):
        await held.arrived.wait()
        assert (await client.get("/v2/health/live")).status_code == 200
        assert (await client.get("/v2/health/ready")).status_code == 503
        assert (await client.get("/v2/models/held/ready")).status_code == 503
        answer = await client.post("/v2/models/held/infer", json={"inputs": [tensor([1], (1, 1))]})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        held.opened.set()
        await app.state.registry.settled.wait()
        assert (await client.get("/v2/health/ready")).status_code == 200


async def test_a_model_that_cannot_be_started() -> None:
    def broken(x: aio.Array) -> aio.Array:
        raise RuntimeError("no weights")

    models = [affine(), Model("broken", broken, {"x": aio.ShapeDtype((1,), "float32")})]
    async with serving(models) as (app, client):
        assert (await client.get("/v2/health/ready")).status_code == 503
        assert (await client.post(INFER, json=good())).status_code == 200
        (row,) = [row for row in app.state.registry.index() if row["name"] == "broken"]
        assert row["state"] == "UNAVAILABLE"
        assert "no weights" in row["reason"]


async def test_an_error_of_the_model_is_status_500_and_tells_no_secrets() -> None:
    def fails(x: aio.Array) -> aio.Array:
        if fails_now:
            raise RuntimeError("/home/secret")
        return x

    fails_now = False
    model = Model("affine", fails, {"x": aio.ShapeDtype((3,), "float32")}, max_batch_size=1)
    async with serving([model]) as (_, client):
        fails_now = True
        answer = await client.post(INFER, json=good())
        assert answer.status_code == 500
        assert answer.json() == {"error": "the model failed with RuntimeError"}


async def test_values_that_json_cannot_carry_come_as_bytes() -> None:
    model = Model("affine", lambda x: x / 0, {"x": aio.ShapeDtype((3,), "float32")}, max_batch_size=1)
    async with serving([model]) as (_, client):
        answer = await client.post(INFER, json=good())
        assert answer.status_code == 400
        assert "binary" in answer.json()["error"]
        answer = await client.post(INFER, json={**good(), "parameters": {"binary_data_output": True}})
        assert answer.status_code == 200


async def test_overload_is_refused_with_a_time_to_come_back() -> None:
    held = Held(max_queue=4)
    body = {"inputs": [tensor([1], (1, 1))]}
    async with serving([held.model]) as (_, client), asyncio.TaskGroup() as group:
        held.close()
        accepted = [group.create_task(client.post("/v2/models/held/infer", json=body)) for _ in range(1)]
        await held.arrived.wait()
        accepted += [group.create_task(client.post("/v2/models/held/infer", json=body)) for _ in range(4)]
        await queued(client, 4)
        for _ in range(3):
            answer = await client.post("/v2/models/held/infer", json=body)
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) >= 1
        # Whatever is in it: the body is not looked at, so that turning away takes next to no time.
        answer = await client.post("/v2/models/held/versions/1/infer", content=b"{")
        assert (answer.status_code, "max_queue=4" in answer.json()["error"]) == (429, True)
        assert held.model.batcher is not None
        assert held.model.batcher.stats().rejected == 4
        assert (await client.post("/v2/models/other/infer", json=body)).status_code == 404
        # What is asked about the server's state is answered all the same.
        assert (await client.get("/v2/health/ready")).status_code == 200
        held.opened.set()
        assert {(await task).status_code for task in accepted} == {200}


async def test_embeddings_of_as_many_texts_as_openais_form_allows() -> None:
    async with serving([letters()]) as (_, client):
        body = {"model": "letters", "input": ["a", "b" * (LENGTHS[0] + 1)] * 1024}
        answer = await client.post("/v1/embeddings", json=body)
        assert answer.status_code == 200, answer.text
        vectors = [entry["embedding"] for entry in answer.json()["data"]]
        assert vectors == [[1, 0, 0, 0], [0, LENGTHS[0] + 1, 0, 0]] * 1024


async def test_more_texts_than_may_wait_are_refused_for_good() -> None:
    async with serving([letters(max_queue=4)]) as (_, client):
        # Of two lengths, each of which alone would have room.
        answer = await client.post("/v1/embeddings", json={"model": "letters", "input": ["a", "b" * 9] * 3})
        assert answer.status_code == 400
        assert "there are 6 texts; at most max_queue=4 are allowed" in answer.json()["error"]["message"]
        texts = tensor(["a"] * 5, (5,), "text", "BYTES")
        assert (await client.post("/v2/models/letters/infer", json={"inputs": [texts]})).status_code == 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"encoding_format": []},
        {"encoding_format": ""},
        {"encoding_format": "hex"},
        {"dimensions": True},
        {"input": None},
        {"input": ["a", 1]},
        {"input": [[1]]},
        {"input": ["a", ""]},
        {"model": None},
        {"truncate": 1},
    ],
    ids=str,
)
async def test_embeddings_that_cannot_be_asked_for(wrong: dict[str, Any]) -> None:
    async with serving([letters()]) as (_, client):
        answer = await client.post("/v1/embeddings", json={"model": "letters", "input": "a", **wrong})
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert error["type"] == "invalid_request_error"
        assert next(iter(wrong)) in error["message"]


async def test_bodies_that_are_encoded() -> None:
    async with serving([letters()]) as (_, client):
        content = json.dumps({"model": "letters", "input": "a"})
        for encoding, status in (("identity", 200), ("Identity", 200), ("gzip", 400), ("br, gzip", 415)):
            answer = await client.post("/v1/embeddings", content=content, headers={"content-encoding": encoding})
            assert answer.status_code == status


async def test_concurrency_is_limited() -> None:
    held = Held()
    body = {"inputs": [tensor([1], (1, 1))]}
    async with serving([held.model], max_concurrency=1) as (_, client), asyncio.TaskGroup() as group:
        held.close()
        accepted = group.create_task(client.post("/v2/models/held/infer", json=body))
        await held.arrived.wait()
        answer = await client.post("/v2/models/held/infer", json=body)
        assert answer.status_code == 429
        assert "no more are allowed" in answer.json()["error"]
        held.opened.set()
        assert (await accepted).status_code == 200


async def test_bodies_are_limited_together() -> None:
    held = Held()
    body = {"inputs": [tensor([1], (1, 1))]}
    async with serving([held.model], max_bytes=100) as (app, client), asyncio.TaskGroup() as group:
        held.close()
        accepted = group.create_task(client.post("/v2/models/held/infer", json=body))
        await held.arrived.wait()
        assert (await client.post("/v2/models/held/infer", json=body)).status_code == 429
        held.opened.set()
        assert (await accepted).status_code == 200
        assert app.state.server.traffic.bytes == 0


async def test_what_comes_out_of_bodies_is_limited_together() -> None:
    held = Held()
    body = gzip.compress(json.dumps({"inputs": [tensor([1], (1, 1))], "id": "a" * 100_000}).encode())
    headers = {"Content-Encoding": "gzip"}
    async with serving([held.model], max_bytes=150_000) as (app, client), asyncio.TaskGroup() as group:
        held.close()
        accepted = group.create_task(client.post("/v2/models/held/infer", content=body, headers=headers))
        await held.arrived.wait()
        assert (await client.post("/v2/models/held/infer", content=body, headers=headers)).status_code == 429
        held.opened.set()
        assert (await accepted).json()["id"] == "a" * 100_000
        assert app.state.server.traffic.bytes == 0


async def test_answers_are_compressed_for_who_asks_if_they_are_large() -> None:
    async with serving([affine(max_queue=4000)]) as (_, client):
        large = {"inputs": [tensor([1.0] * 9000, (3000, 3))]}
        plain = await client.post(INFER, json=large, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        for encoding in ("gzip", "deflate"):
            answer = await client.post(INFER, json=large, headers={"Accept-Encoding": encoding})
            assert answer.headers["content-encoding"] == encoding
            assert answer.headers["vary"] == "Accept-Encoding"
            assert int(answer.headers["content-length"]) < len(plain.content) / 10
            assert answer.json() == plain.json()
        assert "content-encoding" not in (await client.post(INFER, json=good())).headers


async def test_deadlines_fire_while_the_device_is_busy() -> None:
    held = Held()
    async with serving([held.model], timeout=20.0) as (app, client):
        held.close()
        body = {"inputs": [tensor([1], (1, 1))], "parameters": {"timeout": 50_000}}
        answer = await client.post("/v2/models/held/infer", json=body)
        assert answer.status_code == 504
        assert app.state.registry.get("held").stats().expired == 1
        held.opened.set()


async def test_a_model_is_replaced_without_dropping_a_request() -> None:
    async with serving([affine()]) as (app, client):
        statuses: list[int] = []
        replaced = False

        async def ask() -> None:
            while not replaced:
                statuses.append((await client.post(INFER, json=good())).status_code)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(ask)
            for _ in range(3):
                await app.state.registry.load(affine())
            replaced = True
        assert len(statuses) >= 8
        assert set(statuses) == {200}
        assert len(app.state.registry.models()) == 1


async def test_a_client_that_has_gone_is_not_computed_for() -> None:
    held = Held(max_batch_size=1)
    async with serving([held.model]) as (app, client):
        held.close()
        body = {"inputs": [tensor([1], (1, 1))]}
        tasks = [asyncio.create_task(client.post("/v2/models/held/infer", json=body))]
        await held.arrived.wait()
        tasks += [asyncio.create_task(client.post("/v2/models/held/infer", json=body)) for _ in range(9)]
        await queued(client, 9)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        held.opened.set()
        assert (await client.post("/v2/models/held/infer", json=body)).status_code == 200
        assert held.batches == 2
        assert app.state.registry.get("held").stats().cancelled == 10


async def test_numbers() -> None:
    async with serving([affine(), letters()]) as (_, client):
        for _ in range(3):
            await client.post(INFER, json=good())
        numbers = (await client.get("/stats")).json()
        stats = {model["name"]: model["stats"] for model in numbers["models"]}
        assert stats["affine"]["completed"] == stats["affine"]["accepted"]
        assert numbers["server"]["answers"]["200"] >= 3
        assert numbers["loop_lag"]["stalls"] == 0
        text = (await client.get("/metrics")).text
        for line in (
            'aioarray_requests_total{model="affine",outcome="completed",version="1"}',
            'aioarray_batch_rows_bucket{le="1.0",model="affine",version="1"}',
            'aioarray_loop_lag_seconds{of="p99"}',
            'aioarray_http_responses_total{status="200"}',
            "aioarray_ready 1.0",
        ):
            assert line in text


async def test_pages_load_nothing_from_elsewhere() -> None:
    async with serving([affine()]) as (_, client):
        page = await client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "http:" not in page.text.replace("http://www.w3.org/2000/svg", "")
        assert "https:" not in page.text
        assert (await client.get("/docs")).status_code == 404  # FastAPI's would
        assert (await client.get("/openapi.json")).json()["info"]["title"] == "aioarray"


@pytest.mark.parametrize(
    "options", [{"max_body": 0}, {"max_json": 0}, {"max_concurrency": 0}, {"timeout": 0.0}, {"api_keys": [""]}]
)
async def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        aio.serving.create_app([affine()], **options)


async def test_struct_of_bytes_tensor_for_texts() -> None:
    data = b"".join(struct.pack("<I", len(text)) + text for text in (b"abba", b"cab"))
    entry = {"name": "text", "shape": [2], "datatype": "BYTES", "parameters": {"binary_data_size": len(data)}}
    header = json.dumps({"inputs": [entry]}).encode()
    async with serving([letters()]) as (_, client):
        answer = await client.post(
            "/v2/models/letters/infer",
            content=header + data,
            headers={"Inference-Header-Content-Length": str(len(header))},
        )
        assert answer.json()["outputs"] == [tensor([2.0, 2, 0, 0, 1, 1, 1, 0], (2, 4), "embedding")]
        assert (await client.get("/v2/models/letters")).json()["inputs"] == [
            {"name": "text", "datatype": "BYTES", "shape": [-1]}
        ]
        for wrong in (tensor([1], (1,), "text", "INT32"), tensor(["a"], (1, 1), "text", "BYTES")):
            assert (await client.post("/v2/models/letters/infer", json={"inputs": [wrong]})).status_code == 400


async def test_a_warm_up_that_hangs_is_not_alive() -> None:
    held = Held()
    held.close()
    async with serving([held.model], wait=False, stuck_after=0.05) as (_, client):
        await held.arrived.wait()

        async def is_dead() -> bool:
            return bool((await client.get("/livez")).status_code == 503)

        await until(is_dead)
        held.opened.set()

        async def is_alive() -> bool:
            return bool((await client.get("/livez")).status_code == 200)

        await until(is_alive)


async def test_work_that_cannot_end_in_its_time_is_refused_at_once() -> None:
    model = affine(max_queue=100_000)
    async with serving([model], timeout=1.0) as (_, client):
        assert model.batcher is not None
        batcher = model.batcher
        for layout in batcher._inputs.layouts():
            for _ in range(20):
                batcher._estimates.add((None, layout), 4, 0.5, batcher._clock(), first_counts=True)
        rows = 40
        answer = await client.post(INFER, json={"inputs": [tensor([1.0] * 3 * rows, (rows, 3))]})
        assert answer.status_code == 413
        assert "40 rows take" in answer.json()["error"]
        assert (await client.post(INFER, json=good())).status_code == 200


async def test_the_application_has_started_when_its_models_are_ready() -> None:
    async with serving([affine()], ready_first=True, wait=False) as (_, client):
        assert (await client.get("/readyz")).status_code == 200

    def broken(x: aio.Array) -> aio.Array:
        raise RuntimeError("no weights")

    app = aio.serving.create_app([Model("broken", broken, {"x": aio.ShapeDtype((1,), "float32")})], ready_first=True)
    with pytest.raises(aio.serving.NotReadyError, match="no weights"):
        async with app.router.lifespan_context(app):
            pass


async def test_many_failures_write_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    class OddError(Exception):
        pass

    def fails(x: aio.Array) -> aio.Array:
        if fails_now:
            raise OddError
        return x

    fails_now = False
    model = Model("affine", fails, {"x": aio.ShapeDtype((3,), "float32")}, max_batch_size=1)
    async with serving([model]) as (_, client):
        fails_now = True
        for _ in range(50):
            assert (await client.post(INFER, json=good())).status_code == 500
    assert sum("a request failed" in record.message for record in caplog.records) <= 2
