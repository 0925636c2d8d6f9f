"""A gRPC server beside an application, and calls of its methods, for the tests."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving.clients import LOST, serving

for package in ("grpc", "google.protobuf"):
    pytest.importorskip(package, reason=f"{package} of the extra `grpc` is not installed")

import grpc  # noqa: E402
import grpc.aio  # noqa: E402

from aioarray.serving.grpc import service as service  # noqa: E402
from aioarray.serving.grpc.messages import INFERENCE_SERVICE, health, inference  # noqa: E402
from aioarray.serving.grpc.server import GrpcOptions, GrpcServer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import numpy as np


class Calls:
    """A client by the messages of the protocol."""

    def __init__(self, port: int, **options: int) -> None:
        self.channel = grpc.aio.insecure_channel(
            f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1), *options.items()]
        )

    def __call__(self, method: str, request: Any = None, *, data: bytes | None = None, **options: Any) -> Any:
        """A call of a method with one message; awaiting it gives the answer."""
        kinds = health if method == "HealthCheck" else inference
        path = "/grpc.health.v1.Health/Check" if method == "HealthCheck" else f"/{INFERENCE_SERVICE}/{method}"
        if data is None:
            data = (kinds[f"{method}Request"]() if request is None else request).SerializeToString()
        make = self.channel.unary_unary(path, response_deserializer=kinds[f"{method}Response"].FromString)
        return make(data, timeout=options.pop("timeout", LOST), **options)

    def stream(self, **options: Any) -> Any:
        """A stream of requests: `write` bytes, `read` answers."""
        make = self.channel.stream_stream(
            f"/{INFERENCE_SERVICE}/ModelStreamInfer",
            response_deserializer=inference["ModelStreamInferResponse"].FromString,
        )
        return make(timeout=LOST, **options)

    async def code(self, *args: Any, **options: Any) -> grpc.StatusCode:
        """How a call ends."""
        call = self(*args, **options)
        try:
            await call
        except grpc.aio.AioRpcError as error:
            self.details = error.details() or ""
            self.trailer = dict(map(tuple, error.trailing_metadata() or ()))
        code: grpc.StatusCode = await call.code()
        return code


def request_of(
    array: np.ndarray[Any, Any], datatype: str = "FP32", model: str = "affine", name: str = "x", **fields: Any
) -> Any:
    """A request with one input, as raw bytes."""
    return inference["ModelInferRequest"](
        model_name=model,
        inputs=[{"name": name, "datatype": datatype, "shape": array.shape}],
        raw_input_contents=[array.tobytes()],
        **fields,
    )


@asynccontextmanager
async def calling(
    models: Any, *, options: GrpcOptions | None = None, wait: bool = True, **of_app: Any
) -> AsyncIterator[tuple[Any, Calls]]:
    """The application, and calls of a gRPC server beside it."""
    async with serving(models, wait=wait, **of_app) as (app, _):
        server = GrpcServer.beside(app, options or GrpcOptions(port=0))
        await server.start()
        calls = Calls(server.port)
        try:
            yield app, calls
        finally:
            await calls.channel.close()
            await server.stop(0)
