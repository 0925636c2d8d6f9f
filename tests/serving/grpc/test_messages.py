"""The tables of messages: the same numbers and types as in the code that is generated from the protocol's own files."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("grpc", reason="grpcio of the extra `grpc` is not installed")
pytest.importorskip("google.protobuf", reason="protobuf of the extra `grpc` is not installed")

from aioarray.serving.grpc import messages


def is_repeated(field: Any) -> bool:
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED)


def told(field: Any) -> tuple[Any, ...]:
    kind = field.message_type or field.enum_type
    if field.message_type and field.message_type.GetOptions().map_entry:
        kind = field.message_type.fields_by_name["value"].message_type
    oneof = field.containing_oneof is not None
    return field.number, field.type, is_repeated(field), oneof, kind and kind.full_name


def test_messages_are_those_of_the_protocol() -> None:
    pytest.importorskip("tritonclient.grpc", reason="tritonclient[grpc] is not installed")
    from tritonclient.grpc import model_config_pb2, service_pb2

    fields = 0
    for name, message in messages.inference.items():
        outer, *inner = name.split(".")
        theirs: Any = getattr(service_pb2, outer, None) or getattr(model_config_pb2, outer)
        for part in inner:
            theirs = getattr(theirs, part)
        for field in message.DESCRIPTOR.fields:
            assert told(field) == told(theirs.DESCRIPTOR.fields_by_name[field.name]), (name, field.name)
            if field.enum_type is not None:
                ours = {value.name: value.number for value in field.enum_type.values}
                other = theirs.DESCRIPTOR.fields_by_name[field.name].enum_type
                assert ours == {value.name: value.number for value in other.values}
            fields += 1
    assert fields > 100


def test_every_kind_of_field_comes_back() -> None:
    request = messages.inference["ModelInferRequest"](model_name="m", raw_input_contents=[b"\0\xff", b""])
    request.parameters["priority"].uint64_param = 3
    tensor = request.inputs.add(name="x", datatype="FP32", shape=[-1, 2**40])
    tensor.contents.fp32_contents.extend([1.5, float("inf")])
    again = messages.inference["ModelInferRequest"].FromString(request.SerializeToString())
    assert again == request
    assert again.parameters["priority"].WhichOneof("choice") == "uint64_param"
    assert list(again.inputs[0].contents.fp32_contents) == [1.5, float("inf")]
    kind = messages.inference["ModelInput"](data_type="TYPE_BF16")
    assert kind.SerializeToString() == b"\x10\x0e"
    assert messages.health["HealthCheckResponse"](status="SERVING").SerializeToString() == b"\x08\x01"
