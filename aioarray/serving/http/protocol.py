"""Requests and responses of the Open Inference Protocol, version 2, as they stand in HTTP bodies.

https://github.com/kserve/open-inference-protocol/blob/main/specification/protocol/inference_rest.md

Everything in a request is a client's claim. Each is checked before it is used, and nothing is allocated for a size
that is only claimed; what is wrong raises ``InvalidInputError`` with a reason, which becomes status 400.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from ..._base.errors import InvalidInputError
from ..models import tensors
from .binary import LENGTH_HEADER, from_bytes, split, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..models.tensors import HostArray

MAX_TENSORS: Final = 256
# Parameters by which a client asks for extensions that this server does not have.
_UNKNOWN_EXTENSIONS: Final = ("shared_memory_region", "classification", "sequence_id")
EXTENSIONS: Final = ("binary_tensor_data", "model_configuration", "model_repository", "statistics")


class Requested(NamedTuple):
    """An output that a client asks for."""

    name: str
    binary: bool


@dataclass(frozen=True, slots=True)
class InferRequest:
    """A request to infer, its tensors in host memory."""

    id: str | None
    inputs: dict[str, HostArray]
    outputs: tuple[Requested, ...] | None  # None asks for all of them
    binary: bool  # of outputs that are not named
    priority: int | None
    timeout: float | None  # seconds


# Raises for a tensor that the model does not take, by its name, data type and shape.
Check = Callable[[str, str, tuple[int, ...]], None]


def read(body: bytes, header_length: str | None, max_json: int, check: Check | None = None) -> InferRequest:
    """The request in a body, of which ``header_length`` bytes are JSON, or all without it.

    ``check`` is asked about every tensor before its data is looked at, which may take long.
    """
    text, tail = split(body, header_length)
    if len(text) > max_json:
        raise TooLargeError(
            f"the JSON of the request has {len(text)} bytes, and {max_json} are allowed; send large tensors as binary "
            "data"
        )
    content = read_json(text)
    parameters = read_parameters(content, "the request")
    if not isinstance(content.get("inputs"), list):
        raise InvalidInputError("the request has no list of inputs")
    check_count(content["inputs"], "inputs")
    inputs: dict[str, HostArray] = {}
    position = 0
    for place, entry in enumerate(content["inputs"]):
        name, where = _name(entry, f"inputs[{place}]")
        if name in inputs:
            raise InvalidInputError(f"{where}: there are two inputs of this name")
        inputs[name], position = _read_tensor(entry, name, where, tail, position, check)
    if position != len(tail):
        raise InvalidInputError(f"{len(tail) - position} bytes of binary data belong to no input")
    binary = _flag(parameters, "binary_data_output", "the request", False)
    return InferRequest(
        _identifier(content.get("id")),
        inputs,
        _read_outputs(content.get("outputs"), binary),
        binary,
        read_natural(parameters, "priority", "the request"),
        read_timeout(parameters),
    )


def write(
    model: str, version: str, request: InferRequest, names: Iterable[str], outputs: Mapping[str, HostArray]
) -> tuple[bytes, dict[str, str]]:
    """The body and the headers that answer ``request``, with ``outputs`` in the order of ``names``."""
    asked = request.outputs
    if asked is None:
        asked = tuple(Requested(name, request.binary) for name in names)
    entries: list[dict[str, Any]] = []
    tail: list[bytes] = []
    for name, binary in asked:
        array = outputs[name]
        entry: dict[str, Any] = {
            "name": name,
            "datatype": tensors.datatype(array.dtype),
            "shape": list(array.shape),
        }
        if binary:
            data = to_bytes(array)
            entry["parameters"] = {"binary_data_size": len(data)}
            tail.append(data)
        else:
            entry["data"] = tensors.to_json(array, f"output {name!r}")
        entries.append(entry)
    content: dict[str, Any] = {"model_name": model, "model_version": version, "outputs": entries}
    if request.id is not None:
        content["id"] = request.id
    text = orjson.dumps(content)
    if not tail:
        return text, {"content-type": "application/json"}
    headers = {"content-type": "application/octet-stream", LENGTH_HEADER.lower(): str(len(text))}
    return b"".join([text, *tail]), headers


class TooLargeError(InvalidInputError):
    """A body, or a part of it, is larger than is allowed."""


def read_json(text: bytes | memoryview) -> dict[str, Any]:
    """A JSON object."""
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InvalidInputError("the body is not a JSON object")
    return content


def _read_tensor(
    entry: dict[str, Any], name: str, where: str, tail: memoryview, position: int, check: Check | None
) -> tuple[HostArray, int]:
    """A tensor, and where in the binary data the next one begins."""
    datatype = tensors.read_datatype(entry.get("datatype"), where)
    shape = tensors.read_shape(entry.get("shape"), where)
    if check is not None:
        check(name, datatype, shape)
    parameters = read_parameters(entry, where)
    size = read_natural(parameters, "binary_data_size", where)
    try:
        if size is None:
            return tensors.from_json(entry.get("data"), datatype, shape, where), position
        if "data" in entry:
            raise InvalidInputError(f"{where}: it has both data and binary_data_size; give one of them")
        if size > len(tail) - position:
            raise InvalidInputError(f"{where}: binary_data_size is {size}, and {len(tail) - position} bytes are left")
        data = tail[position : position + size]
        return from_bytes(data, datatype, shape, where), position + size
    except InvalidInputError:
        raise
    except ValueError as error:  # NumPy has its own limits for shapes that have a zero in them
        raise InvalidInputError(f"{where}: {error}") from None


def _read_outputs(entries: object, binary: bool) -> tuple[Requested, ...] | None:
    if entries is None or entries == []:
        return None
    if not isinstance(entries, list):
        raise InvalidInputError("outputs is not a list")
    check_count(entries, "outputs")
    asked: dict[str, Requested] = {}
    for place, entry in enumerate(entries):
        name, where = _name(entry, f"outputs[{place}]")
        if name in asked:
            raise InvalidInputError(f"{where}: there are two outputs of this name")
        asked[name] = Requested(name, _flag(read_parameters(entry, where), "binary_data", where, binary))
    return tuple(asked.values())


def check_count(entries: Sequence[Any], what: str) -> None:
    """``InvalidInputError`` if there are too many inputs or outputs."""
    if len(entries) > MAX_TENSORS:
        raise InvalidInputError(f"there are {len(entries)} {what}; at most {MAX_TENSORS} are allowed")


def _name(entry: object, where: str) -> tuple[str, str]:
    if not isinstance(entry, dict):
        raise InvalidInputError(f"{where} is not an object")
    name = entry.get("name")
    if not isinstance(name, str):
        raise InvalidInputError(f"{where} has no name")
    return name, f"{where} ({name[:60]!r})"


def read_parameters(entry: dict[str, Any], where: str) -> dict[str, Any]:
    """The parameters of a request, an input or an output; refuses those of extensions that are not here."""
    parameters = entry.get("parameters")
    if parameters is None:
        return {}
    if not isinstance(parameters, dict):
        raise InvalidInputError(f"{where}: parameters is not an object")
    for name in _UNKNOWN_EXTENSIONS:
        if parameters.get(name):
            raise InvalidInputError(f"{where}: the parameter {name} is of an extension that this server does not have")
    return parameters


def _identifier(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InvalidInputError("id is not a string")


def _flag(parameters: dict[str, Any], name: str, where: str, default: bool) -> bool:
    value = parameters.get(name, default)
    if not isinstance(value, bool):
        raise InvalidInputError(f"{where}: the parameter {name} is not true or false")
    return value


def read_natural(parameters: dict[str, Any], name: str, where: str) -> int | None:
    """A parameter that is an integer of 0 or more; None if it is not there."""
    value = parameters.get(name)
    if value is None:
        return None
    if type(value) is not int or value < 0:
        raise InvalidInputError(f"{where}: the parameter {name} is not an integer of 0 or more")
    return value


def read_timeout(parameters: dict[str, Any]) -> float | None:
    """The request's own time limit in seconds: the protocol's extension counts in microseconds; 0 means none."""
    microseconds = read_natural(parameters, "timeout", "the request")
    return microseconds / 1e6 if microseconds else None
