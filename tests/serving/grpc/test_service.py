"""The Open Inference Protocol over gRPC: every method, and that whatever comes it gives a code and a reason."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import anyio
import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray.serving import Model
from tests.serving.clients import Held, affine, letters, until
from tests.serving.grpc.calls import calling, grpc, health, inference, request_of, service

pytestmark = pytest.mark.asyncio

Code = grpc.StatusCode
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


async def test_about_the_server_and_its_models() -> None:
    async with calling([affine(), affine(version="2"), letters()]) as (_, call):
        assert (await call("ServerLive")).live
        assert (await call("ServerReady")).ready
        assert (await call("ModelReady", inference["ModelReadyRequest"](name="affine", version="2"))).ready
        assert (await call("ServerMetadata")).name == "aioarray"
        metadata = await call("ModelMetadata", inference["ModelMetadataRequest"](name="affine"))
        assert list(metadata.versions) == ["1", "2"]
        assert [(each.name, each.datatype, list(each.shape)) for each in metadata.inputs] == [("x", "FP32", [-1, 3])]
        config = (await call("ModelConfig", inference["ModelConfigRequest"](name="letters"))).config
        assert (config.name, config.input[0].data_type, config.max_batch_size) == ("letters", 13, 4)
        await call("ModelInfer", request_of(ROWS, model_version="2"))
        asked = inference["ModelStatisticsRequest"](name="affine", version="2")
        (stats,) = (await call("ModelStatistics", asked)).model_stats
        assert (stats.inference_count, stats.inference_stats.success.count) == (2, 1)
        assert len((await call("ModelStatistics")).model_stats) == 3
        index = await call("RepositoryIndex", inference["RepositoryIndexRequest"](ready=True))
        assert {(row.name, row.version, row.state) for row in index.models} == {
            ("affine", "1", "READY"),
            ("affine", "2", "READY"),
            ("letters", "1", "READY"),
        }
        for method in ("ModelReady", "ModelMetadata", "ModelConfig", "ModelStatistics"):
            assert await call.code(method, inference[f"{method}Request"](name="other")) == Code.NOT_FOUND
            assert await call.code(method, data=b"\xff\xff") == Code.INVALID_ARGUMENT


DATATYPES = {
    "BOOL": (np.bool_, "bool_contents"),
    "INT8": (np.int8, "int_contents"),
    "INT16": (np.int16, "int_contents"),
    "INT32": (np.int32, "int_contents"),
    "INT64": (np.int64, "int64_contents"),
    "UINT8": (np.uint8, "uint_contents"),
    "UINT16": (np.uint16, "uint_contents"),
    "UINT32": (np.uint32, "uint_contents"),
    "UINT64": (np.uint64, "uint64_contents"),
    "FP16": (np.float16, ""),
    "BF16": (ml_dtypes.bfloat16, ""),
    "FP32": (np.float32, "fp32_contents"),
    "FP64": (np.float64, "fp64_contents"),
}


async def test_every_data_type_as_bytes_and_as_numbers() -> None:
    models = [
        Model(name.lower(), lambda x: x, {"x": aio.ShapeDtype((2,), dtype)}, max_batch_size=2)
        for name, (dtype, _) in DATATYPES.items()
    ]
    async with calling(models) as (_, call):
        for name, (dtype, field) in DATATYPES.items():
            array = np.array([[0, 1]], dtype)
            answer = await call("ModelInfer", request_of(array, name, name.lower(), id="7"))
            assert (answer.model_name, answer.id) == (name.lower(), "7")
            (output,) = answer.outputs
            assert (output.name, output.datatype, list(output.shape)) == ("output", name, [1, 2])
            assert list(answer.raw_output_contents) == [array.tobytes()]
            typed = request_of(array, name, name.lower())
            del typed.raw_input_contents[:]
            if not field:
                assert await call.code("ModelInfer", typed) == Code.INVALID_ARGUMENT
                assert "raw_input_contents" in call.details
                continue
            getattr(typed.inputs[0].contents, field).extend(array[0].tolist())
            assert (await call("ModelInfer", typed)).raw_output_contents[0] == array.tobytes()
            if name in ("INT8", "UINT16"):
                getattr(typed.inputs[0].contents, field)[0] = 1 << 20
                assert await call.code("ModelInfer", typed) == Code.INVALID_ARGUMENT


async def test_texts() -> None:
    texts = [b"abba", b"cab"]
    async with calling([letters()]) as (_, call):
        raw = inference["ModelInferRequest"](
            model_name="letters",
            inputs=[{"name": "text", "datatype": "BYTES", "shape": [2]}],
            raw_input_contents=[b"".join(struct.pack("<I", len(text)) + text for text in texts)],
        )
        typed = inference["ModelInferRequest"](
            model_name="letters",
            inputs=[{"name": "text", "datatype": "BYTES", "shape": [2], "contents": {"bytes_contents": texts}}],
        )
        for request in (raw, typed):
            (vectors,) = (await call("ModelInfer", request)).raw_output_contents
            assert np.frombuffer(vectors, np.float32).tolist() == [2, 2, 0, 0, 1, 1, 1, 0]


def good() -> Any:
    return request_of(ROWS)


def changed(**fields: Any) -> Any:
    """A request whose input has other fields."""
    request = good()
    for name, value in fields.items():
        if isinstance(value, (list, dict)):
            request.inputs[0].ClearField(name)
            request.inputs[0].MergeFrom(type(request.inputs[0])(**{name: value}))
        else:
            setattr(request.inputs[0], name, value)
    return request


def parameter(**values: Any) -> Any:
    return inference["ModelInferRequest"](
        **{"parameters": {name: inference["InferParameter"](**value) for name, value in values.items()}}
    )


def wrong_requests() -> dict[str, Any]:
    more = good()
    more.raw_input_contents.append(b"")
    twice = good()
    twice.inputs.append(twice.inputs[0])
    twice.raw_input_contents.append(twice.raw_input_contents[0])
    both = changed(contents={"fp32_contents": [1.0]})
    short = good()
    short.raw_input_contents[0] = short.raw_input_contents[0][:-1]
    missing = good()
    del missing.raw_input_contents[:]
    other = changed(contents={"int_contents": [1] * 6})
    del other.raw_input_contents[:]
    many = good()
    for _ in range(1000):
        many.inputs.append(many.inputs[0])
    outputs = good()
    outputs.outputs.add(name="nothing")
    requests = {
        "another name": changed(name="y"),
        "no such type": changed(datatype="FLOAT"),
        "another type": changed(datatype="INT32"),
        "a negative shape": changed(shape=[-2, 3]),
        "a lying shape": changed(shape=[3, 3]),
        "a huge shape": changed(shape=[1 << 39, 1 << 39]),
        "a huge shape with a zero": changed(shape=[0, 1 << 39, 1 << 39, 1 << 39]),
        "more bytes than inputs": more,
        "two of a name": twice,
        "bytes and numbers": both,
        "too few bytes": short,
        "no data": missing,
        "numbers of another type": other,
        "too many inputs": many,
        "an output that is not there": outputs,
    }
    for name, value in (
        ("timeout", {"int64_param": -5}),
        ("priority", {"string_param": "high"}),
        ("sequence_id", {"int64_param": 5}),
        ("shared_memory_region", {"string_param": "secret"}),
    ):
        request = good()
        request.MergeFrom(parameter(**{name: value}))
        requests[f"parameter {name}"] = request
    return requests


async def test_whatever_is_wrong_is_an_invalid_argument_with_a_reason() -> None:
    async with calling([affine()]) as (app, call):
        for what, request in wrong_requests().items():
            assert await call.code("ModelInfer", request) == Code.INVALID_ARGUMENT, (what, call.details)
            assert 5 < len(call.details) < 500, what
        for data in (b"\x0a\xff", b"\xff" * 1000, b"\x3a\x05abc"):
            assert await call.code("ModelInfer", data=data) == Code.INVALID_ARGUMENT
        assert await call.code("ModelInfer", request_of(ROWS, model="other")) == Code.NOT_FOUND
        assert await call.code("ModelInfer", request_of(ROWS, model_version="3")) == Code.NOT_FOUND
        assert (await call("ModelInfer", good())).model_version == "1"
        assert app.state.server.traffic.bytes == app.state.server.traffic.running == 0


async def test_methods_that_there_are_not() -> None:
    async with calling([affine()]) as (_, call):
        for path in ("/inference.GRPCInferenceService/SystemSharedMemoryStatus", "/other/ModelInfer", "/nothing"):
            pending = call.channel.unary_unary(path)(b"")
            assert await pending.code() == Code.UNIMPLEMENTED


async def test_codes_of_errors() -> None:
    def fails(x: aio.Array) -> aio.Array:
        if fails_now:
            raise RuntimeError("/home/secret")
        return x

    fails_now = False
    held = Held(max_queue=1, max_batch_size=1)
    failing = Model("failing", fails, {"x": aio.ShapeDtype((3,), "float32")}, max_batch_size=1)
    one = np.zeros((1, 1), np.float32)
    async with calling([failing, held.model], max_body=1000, timeout=20.0) as (app, call), asyncio.TaskGroup() as group:
        fails_now = True
        assert await call.code("ModelInfer", request_of(ROWS[:1], model="failing")) == Code.INTERNAL
        assert call.details == "the model failed with RuntimeError"
        assert await call.code("ModelInfer", request_of(np.zeros((100, 3), np.float32))) == Code.RESOURCE_EXHAUSTED
        held.close()
        late = request_of(one, model="held")
        late.parameters["timeout"].int64_param = 50_000
        assert await call.code("ModelInfer", late) == Code.DEADLINE_EXCEEDED
        held.opened.set()
        await until(lambda: app.state.server.registry.get("held").stats().running == 0)
        held.close()
        accepted = [group.create_task(call.code("ModelInfer", request_of(one, model="held")))]
        await held.arrived.wait()
        accepted.append(group.create_task(call.code("ModelInfer", request_of(one, model="held"))))
        await until(lambda: app.state.server.registry.get("held").stats().queued == 1)
        assert await call.code("ModelInfer", request_of(one, model="held")) == Code.RESOURCE_EXHAUSTED
        assert int(call.trailer["retry-after"]) >= 1
        assert int(call.trailer["grpc-retry-pushback-ms"]) >= 1
        held.opened.set()
        assert [await task for task in accepted] == [Code.OK, Code.OK]
        await app.state.registry.unload("failing")
        assert await call.code("ModelInfer", request_of(ROWS, model="failing")) == Code.NOT_FOUND
        codes = app.state.server.traffic.codes
        assert codes["OK"] == 2
        assert {"INTERNAL", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "NOT_FOUND"} <= codes.keys()


async def test_not_ready_while_models_compile() -> None:
    held = Held()
    held.close()
    async with calling([held.model], wait=False) as (app, call):
        await held.arrived.wait()
        request = request_of(np.zeros((1, 1), np.float32), model="held")
        assert (await call("ServerLive")).live
        assert not (await call("ServerReady")).ready
        assert await call.code("ModelInfer", request) == Code.UNAVAILABLE
        assert (await call("HealthCheck")).status == 2
        held.opened.set()
        await app.state.registry.settled.wait()
        assert (await call("ServerReady")).ready
        assert (await call("HealthCheck")).status == 1


async def test_deadlines_and_cancellation_reach_the_batcher() -> None:
    held = Held(max_batch_size=1)
    request = request_of(np.zeros((1, 1), np.float32), model="held")
    async with calling([held.model]) as (app, call):
        stats = app.state.registry.get("held").stats
        held.close()
        calls = [call("ModelInfer", request) for _ in range(9)]
        await held.arrived.wait()
        await until(lambda: stats().queued == 8)
        for each in calls:
            each.cancel()
        await until(lambda: stats().cancelled == 9)
        assert await call.code("ModelInfer", request, timeout=0.2) == Code.DEADLINE_EXCEEDED
        await until(lambda: stats().cancelled + stats().expired == 10)
        held.opened.set()
        await call("ModelInfer", request)
        assert held.batches == 2
        await until(lambda: app.state.server.traffic.running == 0)


async def test_api_keys() -> None:
    async with calling([affine()], api_keys=["secret"]) as (app, call):
        assert await call.code("ModelInfer", good()) == Code.UNAUTHENTICATED
        assert await call.code("ServerMetadata") == Code.UNAUTHENTICATED
        # The message is not looked at, nor waited for.
        waiting = call.stream()
        assert await waiting.code() == Code.UNAUTHENTICATED
        for header in (("authorization", "Bearer secret"), ("x-api-key", "secret"), ("authorization", "bearer secret")):
            assert await call.code("ModelInfer", good(), metadata=[header]) == Code.OK
        for header in (("authorization", "Basic secret"), ("x-api-key", "wrong")):
            assert await call.code("ModelInfer", good(), metadata=[header]) == Code.UNAUTHENTICATED
        for method in ("ServerLive", "ServerReady", "HealthCheck"):
            assert await call.code(method) == Code.OK
        assert app.state.server.traffic.refused == 5


async def test_streams_answer_in_order_and_go_on_after_errors() -> None:
    async with calling([affine()]) as (app, call):
        stream = call.stream()
        for number in range(3 * service.WINDOW):
            model = "other" if number % 7 == 3 else "affine"
            await stream.write(request_of(ROWS + number, model=model, id=str(number)).SerializeToString())
        await stream.write(b"\xff")
        await stream.done_writing()
        answers = [answer async for answer in stream]
        assert len(answers) == 3 * service.WINDOW + 1
        for number, answer in enumerate(answers[:-1]):
            assert answer.infer_response.id == str(number)
            if number % 7 == 3:
                assert "no model 'other'" in answer.error_message
            else:
                values = np.frombuffer(answer.infer_response.raw_output_contents[0], np.float32)
                np.testing.assert_array_equal(values, (ROWS + number).ravel() * 2 + 1)
        assert "not a ModelInferRequest" in answers[-1].error_message
        assert await stream.code() == Code.OK
        assert app.state.server.traffic.running == 0


async def test_a_stream_that_is_cancelled_takes_its_requests_along() -> None:
    held = Held(max_batch_size=1)
    request = request_of(np.zeros((1, 1), np.float32), model="held").SerializeToString()
    async with calling([held.model]) as (app, call):
        stats = app.state.registry.get("held").stats
        held.close()
        stream = call.stream()
        for _ in range(9):
            await stream.write(request)
        await until(lambda: stats().queued == 8)
        stream.cancel()
        await until(lambda: stats().cancelled == 9)
        held.opened.set()
        await until(lambda: app.state.server.traffic.running == 0)


async def test_a_message_that_does_not_come_and_an_answer_that_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SLOW_SECONDS", 0.05)
    monkeypatch.setattr(service, "READ_SECONDS", 0.05)
    monkeypatch.setattr(service, "WRITE_SECONDS", 0.05)
    one = {"x": aio.ShapeDtype((1,), "float32")}
    wide = Model("wide", lambda x: aio.zeros((x.shape[0], 1 << 23)), one, max_batch_size=1)
    async with calling([wide]) as (app, call):
        path = "/inference.GRPCInferenceService/ModelInfer"
        silent = call.channel.stream_stream(path)()
        assert await silent.code() == Code.DEADLINE_EXCEEDED
        deaf = call.channel.stream_stream(path)()
        await deaf.write(request_of(np.zeros((1, 1), np.float32), model="wide").SerializeToString())
        traffic = app.state.server.traffic
        await until(lambda: traffic.codes.get("DEADLINE_EXCEEDED") == 2)
        assert traffic.running == 0


async def test_only_so_many_messages_may_come_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SLOW_SECONDS", 0.05)
    path = "/inference.GRPCInferenceService/ModelInfer"
    async with calling([affine()], max_bytes=2000, max_body=1000) as (app, call):
        silent = [call.channel.stream_stream(path)() for _ in range(5)]
        traffic = app.state.server.traffic
        await until(lambda: traffic.codes.get("RESOURCE_EXHAUSTED") == 3)
        assert (await call("ModelInfer", good())).model_name == "affine"  # others do not notice
        for each in silent:
            each.cancel()
        await until(lambda: sum(traffic.codes.values()) == 6)


async def test_room_is_shared_with_http() -> None:
    held = Held()
    one = np.zeros((1, 1), np.float32)
    async with calling([held.model], max_concurrency=1) as (app, call), asyncio.TaskGroup() as group:
        held.close()
        accepted = group.create_task(call.code("ModelInfer", request_of(one, model="held")))
        await held.arrived.wait()
        assert app.state.server.traffic.running == 1
        assert await call.code("ModelInfer", request_of(one, model="held")) == Code.RESOURCE_EXHAUSTED
        assert (await call("ServerReady")).ready
        held.opened.set()
        assert await accepted == Code.OK


async def test_health_of_services_and_models() -> None:
    async with calling([affine()]) as (app, call):
        for name in ("", "inference.GRPCInferenceService", "liveness", "readiness", "affine"):
            assert (await call("HealthCheck", health["HealthCheckRequest"](service=name))).status == 1
        assert await call.code("HealthCheck", health["HealthCheckRequest"](service="other")) == Code.NOT_FOUND
        watch = call.channel.unary_stream(
            "/grpc.health.v1.Health/Watch", response_deserializer=health["HealthCheckResponse"].FromString
        )(health["HealthCheckRequest"](service="affine").SerializeToString())
        assert (await watch.read()).status == 1
        await app.state.registry.unload("affine")
        with anyio.fail_after(60):
            assert (await watch.read()).status == 3
        watch.cancel()
