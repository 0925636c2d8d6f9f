"""Requests and responses of the Open Inference Protocol as they stand in gRPC messages.

As over HTTP, everything in a request is a client's claim, and what is wrong raises ``InvalidInputError``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from ..._base.errors import InvalidInputError
from ..http.binary import from_bytes, to_bytes
from ..http.protocol import InferRequest, Requested, check_count, read_natural, read_parameters, read_timeout
from ..models import tensors
from .messages import inference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..models.tensors import HostArray

# Where each data type stands in `InferTensorContents`; narrow floats have no place there.
_CONTENTS: Final = {
    "BOOL": "bool_contents",
    "INT8": "int_contents",
    "INT16": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "UINT8": "uint_contents",
    "UINT16": "uint_contents",
    "UINT32": "uint_contents",
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    "BYTES": "bytes_contents",
}


def parse(kind: str, data: bytes) -> Any:
    """The message of this kind in ``data``. ``InvalidInputError`` if it is none."""
    message = inference[kind]()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise InvalidInputError(f"the request is not a {kind}") from None
    return message


def read(message: Any, check: Callable[[str, str, tuple[int, ...]], None]) -> InferRequest:
    """The request in a ``ModelInferRequest``; ``check`` is asked about every tensor before its data is looked at."""
    parameters = _parameters(message, "the request")
    raw = message.raw_input_contents
    check_count(message.inputs, "inputs")
    check_count(message.outputs, "outputs")
    if raw and len(raw) != len(message.inputs):
        raise InvalidInputError(
            f"raw_input_contents has {len(raw)} entries for {len(message.inputs)} inputs; give one for each, or none"
        )
    inputs: dict[str, HostArray] = {}
    for place, entry in enumerate(message.inputs):
        where = f"inputs[{place}] ({entry.name[:60]!r})"
        if entry.name in inputs:
            raise InvalidInputError(f"{where}: there are two inputs of this name")
        _parameters(entry, where)
        datatype = tensors.read_datatype(entry.datatype, where)
        shape = tensors.read_shape(list(entry.shape), where)
        check(entry.name, datatype, shape)
        if raw and entry.contents.ByteSize():
            raise InvalidInputError(f"{where}: it has both contents and raw_input_contents; give one of them")
        try:
            if raw:
                inputs[entry.name] = from_bytes(memoryview(raw[place]), datatype, shape, where)
            else:
                inputs[entry.name] = _from_contents(entry.contents, datatype, shape, where)
        except InvalidInputError:
            raise
        except ValueError as error:  # NumPy has its own limits for shapes that have a zero in them
            raise InvalidInputError(f"{where}: {error}") from None
    outputs: dict[str, Requested] = {}
    for place, entry in enumerate(message.outputs):
        where = f"outputs[{place}] ({entry.name[:60]!r})"
        if entry.name in outputs:
            raise InvalidInputError(f"{where}: there are two outputs of this name")
        _parameters(entry, where)
        outputs[entry.name] = Requested(entry.name, True)
    return InferRequest(
        message.id or None,
        inputs,
        tuple(outputs.values()) or None,
        True,
        read_natural(parameters, "priority", "the request"),
        read_timeout(parameters),
    )


def write(
    model: str, version: str, request: InferRequest, names: Sequence[str], outputs: Mapping[str, HostArray]
) -> bytes:
    """The ``ModelInferResponse`` that answers ``request``, with ``outputs`` in the order of ``names``."""
    return _bytes(_response(model, version, request, names, outputs))


def write_for_stream(
    model: str, version: str, request: InferRequest, names: Sequence[str], outputs: Mapping[str, HostArray]
) -> bytes:
    """The same as a ``ModelStreamInferResponse``."""
    response = _response(model, version, request, names, outputs)
    return _bytes(inference["ModelStreamInferResponse"](infer_response=response))


def refusal_for_stream(reason: str, identifier: str) -> bytes:
    """The ``ModelStreamInferResponse`` that says why there are no outputs."""
    response = inference["ModelInferResponse"](id=identifier)
    return _bytes(inference["ModelStreamInferResponse"](error_message=reason, infer_response=response))


def _bytes(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def _response(
    model: str, version: str, request: InferRequest, names: Sequence[str], outputs: Mapping[str, HostArray]
) -> Any:
    asked = names if request.outputs is None else [output.name for output in request.outputs]
    response = inference["ModelInferResponse"](model_name=model, model_version=version, id=request.id or "")
    for name in asked:
        array = outputs[name]
        response.outputs.add(name=name, datatype=tensors.datatype(array.dtype), shape=array.shape)
        response.raw_output_contents.append(to_bytes(array))
    return response


def _parameters(message: Any, where: str) -> dict[str, Any]:
    """The parameters of a request, an input or an output as plain values."""
    values: dict[str, Any] = {}
    for name, parameter in message.parameters.items():
        choice = parameter.WhichOneof("choice")
        if choice is not None:
            values[name] = getattr(parameter, choice)
    return read_parameters({"parameters": values}, where)


def _from_contents(contents: Any, datatype: str, shape: tuple[int, ...], where: str) -> HostArray:
    """The array of the values in an ``InferTensorContents``."""
    field = _CONTENTS.get(datatype)
    if field is None:
        raise InvalidInputError(f"{where}: contents has no place for {datatype}; send it in raw_input_contents")
    values = getattr(contents, field)
    count = math.prod(shape)
    if len(values) != count or any(len(value) for other, value in contents.ListFields() if other.name != field):
        raise InvalidInputError(
            f"{where}: shape {list(shape)} of {datatype} is {count} values in {field}, which has {len(values)}; "
            "it has to have them all, and no other contents"
        )
    if datatype == "BYTES":
        result: Any = np.empty(count, object)
        result[:] = list(values)
        texts: HostArray = result.reshape(shape)
        return texts
    dtype = tensors.DATATYPES[datatype]
    wide: HostArray = np.array(values, np.dtype(_WIDE.get(field, dtype)))
    if wide.dtype != dtype and count:
        limits = np.iinfo(dtype)
        if wide.min() < limits.min or wide.max() > limits.max:
            raise InvalidInputError(
                f"{where}: contents has a number that {datatype} has not: it goes from {limits.min} to {limits.max}"
            )
    return wide.astype(dtype, copy=False).reshape(shape)


# Fields that hold the values of several data types.
_WIDE: Final = {"int_contents": np.int32, "uint_contents": np.uint32}
