"""Files that cannot be trusted: an error that says what is wrong, and where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aioarray as aio
from aioarray.errors import FormatError
from tests.onnx.models import node, parsed

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = "f (float[n] x) => (float[n] y) { y = Identity(x) }"


def refused(proto: onnx.ModelProto | bytes, text: str) -> None:
    with pytest.raises(FormatError, match=text):
        aio.onnx.load_sync(proto)


def test_bytes_that_are_no_model() -> None:
    refused(b"", "has no graph")
    refused(b"no model at all", "is no ONNX model, or was cut off")
    data = parsed(IDENTITY).SerializeToString()
    refused(data[: len(data) - 3], "is no ONNX model, or was cut off")


def test_all_missing_operators_are_told_at_once() -> None:
    proto = parsed("f (float[n] x) => (float[n] y) { a = own.One(x)\nb = own.Two(a)\ny = own.One(b) }")
    proto.opset_import.append(onnx.helper.make_opsetid("own", 1))
    refused(proto, r"does not have: own\.One \(version 1, 2 nodes\), own\.Two \(version 1, 1 node\)")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "f (float[n] x) => (float[n] y) { y = Relu(z) }",
            r"node 'y' \(Relu\): takes \['z'\], which nothing before it",
        ),
        ("f (float[n] x) => (float[n] z) { y = Relu(x) }", r"gives \['z'\], which nothing in it makes"),
        ("f (float[n] x) => (float[n] y) { y = Relu(x)\ny = Relu(x) }", r"gives \['y'\], but each name .* once"),
        (
            "f (float[n] x) => (float[n] y) { y = Relu<axis = 1>(x) }",
            r"\(Relu\), attribute 'axis': the operator has no",
        ),
        ("f (float[n] x) => (float[n] y) { y = Concat(x, x) }", r"\(Concat\), attribute 'axis': is missing"),
        ("f (float[n] x) => (float[n] y) { y = Softmax<axis = 1.5>(x) }", r"attribute 'axis': is 1.5; .* takes int"),
        ("f (float[n] x) => (float[n] y) { y = Add(x) }", r"\(Add\): has 1 inputs; the operator takes 2 to 2"),
    ],
)
def test_nodes_that_are_wrong(text: str, error: str) -> None:
    refused(parsed(text), error)


def test_opsets_out_of_range() -> None:
    refused(parsed(IDENTITY, opset=999), "is of opset 999; .* install a newer onnx")


def test_errors_at_the_call_name_node_and_shapes() -> None:
    model = aio.onnx.load_sync(parsed("f (float[n] x, float[m] y) => (float[k] z) { z = Add(x, y) }"))
    with pytest.raises(ValueError, match=r"node 'z' \(Add\) with inputs float32\[2\], float32\[3\]: "):
        model([1.0, 2.0], [1.0, 2.0, 3.0])


def test_tensors_whose_size_is_not_that_of_their_data() -> None:
    proto = node("Add", ["x", "w"], ["y"], {"x": ("float32", (2,))}, {"w": np.ones(2, np.float32)})
    weight = proto.graph.initializer[0]
    weight.dims[0] = 1 << 40
    refused(proto, r"initializer 'w': has the shape \(1099511627776,\) and dtype float32, .* but 8 bytes of data")
    weight.dims[0] = -1
    refused(proto, r"initializer 'w': has the shape \(-1,\)")
    weight.dims[0] = 2
    weight.data_type = 99
    refused(proto, "initializer 'w': has the element type number 99")
    weight.data_type = onnx.TensorProto.FLOAT
    weight.ClearField("raw_data")
    refused(proto, "but 0 entries of float_data instead of 2")


def test_shapes_that_are_too_large_are_refused_before_memory_is_taken() -> None:
    proto = node("ConstantOfShape", ["s"], ["y"], {}, {"s": np.asarray([1 << 31, 1 << 31], np.int64)})
    model = aio.onnx.load_sync(proto)
    with pytest.raises(FormatError, match=r"node 'it' \(ConstantOfShape\): the shape .* is no shape, or too large"):
        model()


def with_external_data(folder: Path, location: str, **entries: object) -> onnx.ModelProto:
    proto = node("Add", ["x", "w"], ["y"], {"x": ("float32", (2,))}, {"w": np.zeros(2, np.float32)})
    weight = proto.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        weight.external_data.add(key=key, value=str(value))
    return proto


@pytest.mark.asyncio
async def test_external_data_is_read_from_the_model_s_folder(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"\0" * 4 + np.asarray([1, 2], np.float32).tobytes())
    proto = with_external_data(tmp_path, "weights", offset=4, length=8)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    for place in (tmp_path, tmp_path / "model.onnx"):
        model = await aio.onnx.load(place)
        assert (await model([1.0, 1.0])).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("location", "entries", "text"),
    [
        ("../weights", {}, "outside of the model's folder"),
        ("link", {}, "outside of the model's folder"),
        ("/etc/hostname", {}, "takes a path relative to the model's"),
        ("none", {}, "which is no file"),
        ("weights", {"offset": 1}, "8 bytes at 1 of 'weights', which has 8"),
        ("weights", {"offset": -1}, "8 bytes at -1"),
        ("weights", {"length": 4}, "has 8 bytes by its shape and dtype, but 4"),
        ("weights", {"offset": "x"}, "is no number of bytes"),
    ],
)
def test_external_data_that_is_wrong(tmp_path: Path, location: str, entries: dict, text: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    for place in (tmp_path, folder):
        (place / "weights").write_bytes(b"\0" * 8)
    os.symlink(tmp_path / "weights", folder / "link")
    path = folder / "model.onnx"
    path.write_bytes(with_external_data(folder, location, **entries).SerializeToString())
    with pytest.raises(FormatError, match=text):
        aio.onnx.load_sync(path)


def test_external_data_of_a_model_without_a_folder(tmp_path: Path) -> None:
    refused(with_external_data(tmp_path, "weights"), "was given as bytes; load it by its path")


def test_functions_that_call_themselves() -> None:
    proto = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17, "own": 1]>
    f (float[n] x) => (float[n] y) { y = own.g(x) }
    <opset_import: ["": 17, "own": 1], domain: "own">
    g (x) => (y) { y = own.g(x) }""")
    refused(proto, "function 'g' of 'own' calls itself")


def test_folders_with_several_models(tmp_path: Path) -> None:
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_bytes(parsed(IDENTITY).SerializeToString())
    with pytest.raises(FormatError, match=r"has 2 \.onnx files; name the one to load"):
        aio.onnx.load_sync(tmp_path)
