"""The messages of the gRPC services, as tables of names, types and numbers, and the classes that are made of them.

No code is generated. The classes are in a pool of their own, so that those of a client in the same process, which have
the same names, do not meet them.

https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/open_inference_grpc.proto
https://github.com/triton-inference-server/common/blob/main/protobuf/grpc_service.proto
https://github.com/grpc/grpc/blob/master/doc/health-checking.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# "TYPE NAME NUMBER", with commas between fields. The type is protobuf's, or the name of a message or an enumeration of
# the package; TYPE* is repeated, TYPE? is a choice of the message's one `oneof`, TYPE{} a map from strings.
INFERENCE: Final = {
    "ServerLiveRequest": "",
    "ServerLiveResponse": "bool live 1",
    "ServerReadyRequest": "",
    "ServerReadyResponse": "bool ready 1",
    "ModelReadyRequest": "string name 1, string version 2",
    "ModelReadyResponse": "bool ready 1",
    "ServerMetadataRequest": "",
    "ServerMetadataResponse": "string name 1, string version 2, string* extensions 3",
    "ModelMetadataRequest": "string name 1, string version 2",
    "ModelMetadataResponse": "string name 1, string* versions 2, string platform 3, "
    "ModelMetadataResponse.TensorMetadata* inputs 4, ModelMetadataResponse.TensorMetadata* outputs 5",
    "ModelMetadataResponse.TensorMetadata": "string name 1, string datatype 2, int64* shape 3",
    "InferParameter": "bool? bool_param 1, int64? int64_param 2, string? string_param 3, double? double_param 4, "
    "uint64? uint64_param 5",
    "InferTensorContents": "bool* bool_contents 1, int32* int_contents 2, int64* int64_contents 3, "
    "uint32* uint_contents 4, uint64* uint64_contents 5, float* fp32_contents 6, double* fp64_contents 7, "
    "bytes* bytes_contents 8",
    "ModelInferRequest": "string model_name 1, string model_version 2, string id 3, InferParameter{} parameters 4, "
    "ModelInferRequest.InferInputTensor* inputs 5, ModelInferRequest.InferRequestedOutputTensor* outputs 6, "
    "bytes* raw_input_contents 7",
    "ModelInferRequest.InferInputTensor": "string name 1, string datatype 2, int64* shape 3, "
    "InferParameter{} parameters 4, InferTensorContents contents 5",
    "ModelInferRequest.InferRequestedOutputTensor": "string name 1, InferParameter{} parameters 2",
    "ModelInferResponse": "string model_name 1, string model_version 2, string id 3, InferParameter{} parameters 4, "
    "ModelInferResponse.InferOutputTensor* outputs 5, bytes* raw_output_contents 6",
    "ModelInferResponse.InferOutputTensor": "string name 1, string datatype 2, int64* shape 3, "
    "InferParameter{} parameters 4, InferTensorContents contents 5",
    "ModelStreamInferResponse": "string error_message 1, ModelInferResponse infer_response 2",
    "ModelConfigRequest": "string name 1, string version 2",
    "ModelConfigResponse": "ModelConfig config 1",
    "ModelConfig": "string name 1, string platform 2, ModelVersionPolicy version_policy 3, int32 max_batch_size 4, "
    "ModelInput* input 5, ModelOutput* output 6, ModelDynamicBatching? dynamic_batching 11, string backend 17",
    "ModelVersionPolicy": "ModelVersionPolicy.Latest? latest 1, ModelVersionPolicy.All? all 2",
    "ModelVersionPolicy.Latest": "uint32 num_versions 1",
    "ModelVersionPolicy.All": "",
    "ModelInput": "string name 1, DataType data_type 2, int64* dims 4",
    "ModelOutput": "string name 1, DataType data_type 2, int64* dims 3",
    "ModelDynamicBatching": "int32* preferred_batch_size 1, uint64 max_queue_delay_microseconds 2, "
    "bool preserve_ordering 3, uint64 priority_levels 4, uint64 default_priority_level 5, "
    "ModelQueuePolicy default_queue_policy 6",
    "ModelQueuePolicy": "uint64 default_timeout_microseconds 2, bool allow_timeout_override 3, uint32 max_queue_size 4",
    "ModelStatisticsRequest": "string name 1, string version 2",
    "ModelStatisticsResponse": "ModelStatistics* model_stats 1",
    "ModelStatistics": "string name 1, string version 2, uint64 last_inference 3, uint64 inference_count 4, "
    "uint64 execution_count 5, InferStatistics inference_stats 6, InferBatchStatistics* batch_stats 7",
    "InferStatistics": "StatisticDuration success 1, StatisticDuration fail 2, StatisticDuration queue 3, "
    "StatisticDuration compute_input 4, StatisticDuration compute_infer 5, StatisticDuration compute_output 6, "
    "StatisticDuration cache_hit 7, StatisticDuration cache_miss 8",
    "InferBatchStatistics": "uint64 batch_size 1, StatisticDuration compute_input 2, "
    "StatisticDuration compute_infer 3, StatisticDuration compute_output 4",
    "StatisticDuration": "uint64 count 1, uint64 ns 2",
    "RepositoryIndexRequest": "string repository_name 1, bool ready 2",
    "RepositoryIndexResponse": "RepositoryIndexResponse.ModelIndex* models 1",
    "RepositoryIndexResponse.ModelIndex": "string name 1, string version 2, string state 3, string reason 4",
}
_TYPES: Final = "INVALID BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 STRING BF16"
HEALTH: Final = {"HealthCheckRequest": "string service 1", "HealthCheckResponse": "ServingStatus status 1"}
STATUSES: Final = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")

INFERENCE_SERVICE: Final = "inference.GRPCInferenceService"
HEALTH_SERVICE: Final = "grpc.health.v1.Health"

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {
    name: getattr(_Field, f"TYPE_{name.upper()}")
    for name in ["bool", "string", "bytes", "int32", "int64", "uint32", "uint64", "float", "double"]
}


class Package(NamedTuple):
    """The messages of one package, as tables."""

    name: str
    messages: Mapping[str, str]
    enumerations: Mapping[str, Iterable[str]]


def describe(package: Package) -> descriptor_pb2.FileDescriptorProto:
    """The package as protobuf describes it."""
    file = descriptor_pb2.FileDescriptorProto(
        name=f"aioarray/{package.name}.proto", package=package.name, syntax="proto3"
    )
    places: dict[str, Any] = {"": file}
    for name, fields in package.messages.items():
        outer, _, inner = name.rpartition(".")
        message = places[outer].nested_type.add(name=inner) if outer else file.message_type.add(name=name)
        places[name] = message
        for field in filter(None, fields.split(", ")):
            _add_field(package, message, name, field)
    for name, values in package.enumerations.items():
        enumeration = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enumeration.value.add(name=value, number=number)
    return file


def _add_field(package: Package, message: Any, owner: str, text: str) -> None:
    kind, name, number = text.split()
    base = kind.rstrip("*?{}")
    field = message.field.add(name=name, number=int(number), label=_Field.LABEL_OPTIONAL)
    if kind.endswith("{}"):
        entry = message.nested_type.add(name=f"{name.title()}Entry")
        entry.options.map_entry = True
        _add_field(package, entry, "", "string key 1")
        _add_field(package, entry, "", f"{base} value 2")
        base = f"{owner}.{entry.name}"
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{package.name}.{base}"
        field.label = _Field.LABEL_REPEATED
        return
    if kind.endswith("*"):
        field.label = _Field.LABEL_REPEATED
    if kind.endswith("?"):
        if not message.oneof_decl:
            message.oneof_decl.add(name="choice")
        field.oneof_index = 0
    if base in _SCALARS:
        field.type = _SCALARS[base]
    else:
        field.type = _Field.TYPE_ENUM if base in package.enumerations else _Field.TYPE_MESSAGE
        field.type_name = f".{package.name}.{base}"


def classes(package: Package) -> dict[str, Any]:
    """The classes of the package's messages, by their names."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(describe(package).SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package.name}.{name}"))
        for name in package.messages
    }


INFERENCE_PACKAGE: Final = Package("inference", INFERENCE, {"DataType": [f"TYPE_{name}" for name in _TYPES.split()]})
HEALTH_PACKAGE: Final = Package("grpc.health.v1", HEALTH, {"ServingStatus": STATUSES})
# By the messages' names. Made once, at import, and never changed.
inference: Final = classes(INFERENCE_PACKAGE)
health: Final = classes(HEALTH_PACKAGE)
