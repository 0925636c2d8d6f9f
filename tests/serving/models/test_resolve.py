"""What the command line names, as models."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray.serving import Model, Registry, TensorSpec
from aioarray.serving.models.resolve import ModelOptions, parse_buckets, parse_input
from aioarray.serving.models.resolve import resolve as resolve_async

if TYPE_CHECKING:
    from pathlib import Path

NO_OPTIONS = ModelOptions()


def resolve(text: str, **options: Any) -> list[Model]:
    return asyncio.run(resolve_async(text, ModelOptions(**options)))


def test_models_by_module_and_attribute() -> None:
    assert [model.name for model in resolve("tests.serving.clients:double")] == ["double"]
    assert [model.version for model in resolve("tests.serving.clients:several")] == ["1", "2", "1"]
    (model,) = resolve("tests.serving.clients:affine_of", inputs=("x:float32:3",), buckets=("1,8",))
    assert model.inputs["x"].shape == (3,)
    assert model.options["buckets"] == {"batch": (1, 8)}


@pytest.mark.parametrize(
    ("text", "options", "error", "reason"),
    [
        ("nothing", {}, ValueError, "neither minilm"),
        ("tests.serving.clients:LOST", {}, ValueError, "has to be a function"),
        ("tests.serving.clients:tokenize", {}, ValueError, "--input"),
        ("tests.serving.clients:missing", {}, AttributeError, "missing"),
        ("tests.serving.nowhere:x", {}, ModuleNotFoundError, "nowhere"),
        ("tests.serving.clients:affine_of", {"inputs": ("x",)}, ValueError, "NAME:DTYPE:SHAPE"),
        ("tests.serving.clients:affine_of", {"inputs": ("x:float33:3",)}, TypeError, "float33"),
        ("tests.serving.clients:double", {"buckets": ("1,x",)}, ValueError, "NAME=SIZES"),
    ],
)
def test_models_that_are_none(text: str, options: dict[str, Any], error: type[Exception], reason: str) -> None:
    with pytest.raises((error, ValueError), match=reason):
        resolve(text, **options)


def test_inputs_and_buckets_as_they_are_typed() -> None:
    assert repr(parse_input("tokens:int32:length,2")) == repr(("tokens", TensorSpec(("length", 2), "int32")))
    assert parse_input("x:float32:")[1].shape == ()
    assert parse_buckets(["1,2", "tokens=16,32"]) == {"batch": (1, 2), "tokens": (16, 32)}


@pytest.mark.asyncio
async def test_models_of_files(tmp_path: Path) -> None:
    def both(x: aio.Array, *, scale: aio.Array) -> Any:
        return {"scaled": x * scale, "sum": aio.sum(x, axis=1)}

    path = tmp_path / "both.bin"
    scale = aio.ShapeDtype((4, 1), "float32")
    path.write_bytes(aio.export.serialize(both, aio.ShapeDtype((4, 3), "float32"), scale=scale))
    (model,) = await resolve_async(str(path), NO_OPTIONS)
    assert model.name == "both"
    async with Registry([model]) as registry:
        await registry.settled.wait()
        inputs = {"input_0": np.ones((6, 3), np.float32), "scale": np.full((6, 1), 2, np.float32)}
        result = await registry.get("both").infer(inputs)
    np.testing.assert_array_equal(result["scaled"], np.full((6, 3), 2.0))
    np.testing.assert_array_equal(result["sum"], np.full(6, 3.0))


def test_models_of_files_without_a_batch_axis(tmp_path: Path) -> None:
    path = tmp_path / "scalar.bin"
    path.write_bytes(aio.export.serialize(lambda x: x + 1, aio.ShapeDtype((), "float32")))
    with pytest.raises(ValueError, match="no array with a batch axis"):
        resolve(str(path))
