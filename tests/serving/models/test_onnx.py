"""ONNX files behind a server: what the file says of inputs, outputs and dimensions, and what has to be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import aioarray as aio
from aioarray.serving.models.resolve import ModelOptions, resolve
from tests.onnx.models import parsed
from tests.serving.clients import serving

pytest.importorskip("onnx", reason="the extra onnx is not installed")

if TYPE_CHECKING:
    from pathlib import Path

AFFINE = """f (float[batch, 3] x, float[batch, 1] s) => (float[batch, 3] scaled, float[batch] total) {
    scaled = Mul(x, s)
    axes = Constant<value_ints = [1]>()
    total = ReduceSum<keepdims = 0>(scaled, axes)
}"""
TOKENS = """f (int64[batch, tokens] ids) => (float[batch] y) {
    axes = Constant<value_ints = [1]>()
    s = ReduceSum<keepdims = 0>(ids, axes)
    y = Cast<to = 1>(s)
}"""
FIXED = "f (float[4, 3] x) => (float[4, 3] y) { y = Neg(x) }"


@pytest.mark.asyncio
async def test_served_over_http_with_names_of_the_file() -> None:
    model = aio.serving.onnx_model(await aio.onnx.load(parsed(AFFINE)), name="affine", buckets=(1, 4))
    async with serving([model]) as (_, client):
        told = (await client.get("/v2/models/affine")).json()
        assert told["inputs"] == [
            {"name": "x", "datatype": "FP32", "shape": [-1, 3]},
            {"name": "s", "datatype": "FP32", "shape": [-1, 1]},
        ]
        assert [each["name"] for each in told["outputs"]] == ["scaled", "total"]
        answer = await client.post(
            "/v2/models/affine/infer",
            json={
                "inputs": [
                    {"name": "x", "datatype": "FP32", "shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]},
                    {"name": "s", "datatype": "FP32", "shape": [2, 1], "data": [1, 2]},
                ]
            },
        )
    outputs = {each["name"]: each["data"] for each in answer.json()["outputs"]}
    assert outputs == {"scaled": [1, 2, 3, 8, 10, 12], "total": [6, 30]}


@pytest.mark.asyncio
async def test_warmup_compiles_all_that_is_called() -> None:
    loaded = await aio.onnx.load(parsed(TOKENS))
    model = aio.serving.onnx_model(loaded, buckets={"batch": (1, 2), "tokens": (4, 8)})
    batcher = aio.serving.Batcher(model._call, specs=model.inputs, **model.options)
    async with batcher:
        await batcher.warmup()
        before = aio.stats()["compiles"]
        found = [await batcher({"ids": np.arange(n)}) for n in (3, 8)]
        assert aio.stats()["compiles"] == before
    assert [float(x) for x in found] == [3.0, 28.0]


@pytest.mark.asyncio
async def test_lengths_that_vary_need_sizes() -> None:
    loaded = await aio.onnx.load(parsed(TOKENS))
    with pytest.raises(ValueError, match=r"the lengths tokens vary; .* --buckets tokens=16,64"):
        aio.serving.onnx_model(loaded)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("text", "batch", "error"),
    [
        ("f (float x) => (float y) { y = Neg(x) }", None, "'x' has the shape .*, and so no batch axis"),
        ("f (float[a] x, float[b] y) => (float[c] z) { z = Mul(x, y) }", None, "different first dimensions"),
        ("f (float[a, 2] x) => (float[a, 2] y) { y = Neg(x) }", "n", "'n' is not the first dimension of x"),
        ("f (float[a, a] x) => (float[a, a] y) { y = Neg(x) }", None, "'a' is the batch, and also another one"),
    ],
)
async def test_models_without_a_batch(text: str, batch: str | None, error: str) -> None:
    loaded = await aio.onnx.load(parsed(text))
    with pytest.raises(ValueError, match=error):
        aio.serving.onnx_model(loaded, batch=batch)


@pytest.mark.asyncio
async def test_files_and_folders_on_the_command_line(tmp_path: Path) -> None:
    for place, text in (("fixed.onnx", FIXED), ("affine/1/model.onnx", AFFINE), ("affine/2/model.onnx", AFFINE)):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(parsed(text).SerializeToString())
    (one,) = await resolve(str(tmp_path / "fixed.onnx"), ModelOptions())
    assert (one.name, one.options["buckets"]) == ("fixed", {"batch": (4,)})
    models = await resolve(str(tmp_path), ModelOptions(buckets=("1,2",)))
    assert [(model.name, model.version) for model in models] == [("fixed", "1"), ("affine", "1"), ("affine", "2")]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match=r"has no \.onnx files"):
        await resolve(str(empty), ModelOptions())
