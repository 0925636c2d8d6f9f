"""The inference service over gRPC: what stands before every call, and an answer for each method.

A call is looked at before its message is read: its key, and whether there is room. Messages are read and written here,
as bytes, so that a client that sends half of one, or does not read its answer, is given up after a time. Loop thread
only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
import grpc

import aioarray as aio

from ..._base.errors import InvalidInputError, QueueFullError
from ..http import protocol
from ..http.failures import Failure, RefusedError, failure_of
from ..http.inference import infer
from ..http.routes import off_loop
from ..http.snapshot import model_statistics
from ..http.traffic import Share
from ..models.description import configuration
from . import tensors
from .failures import code_of, trailer_of
from .health import Health
from .messages import HEALTH_SERVICE, INFERENCE_SERVICE, inference

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..http.gate import Keys
    from ..http.snapshot import Numbers
    from ..http.state import ServerState
    from ..models.model import Model

# A client that sends its message, or reads its answer, slower than this is given up.
READ_SECONDS: Final = 60.0
WRITE_SECONDS: Final = 60.0
# gRPC takes a whole message before it tells of it. Those that are not there after so long need a place, of which there
# are as many as messages of the largest size have room: memory is bounded, and quick clients do not notice slow ones.
SLOW_SECONDS: Final = 1.0
# Streams that are open at once, and requests of one that are under way: further ones are not read before.
MAX_STREAMS: Final = 256
WINDOW: Final = 64

Requests: TypeAlias = AsyncIterator[bytes]
# Gives the answer to a message.
Method: TypeAlias = Callable[[bytes], Awaitable[Any]]


class _Pending:
    """A request of a stream, and later its answer."""

    def __init__(self) -> None:
        self.done: anyio.Event = anyio.Event()
        self.answer: bytes = b""


class InferenceService(grpc.GenericRpcHandler):  # type: ignore[misc, unused-ignore]
    """Both services: gRPC asks it for the handler of every call."""

    def __init__(self, state: ServerState, keys: Keys, numbers: Numbers) -> None:
        self._state = state
        self._keys = keys
        self._numbers = numbers
        self._receiving = 0  # calls whose messages are not there yet
        self._slow = 0  # ... for long
        self._places = max(1, state.limits.max_bytes // state.limits.max_body)
        self._streams = 0
        self.health: Health = Health(state)
        self._methods: dict[str, Method] = {
            "ServerLive": self._live,
            "ServerReady": self._ready,
            "ModelReady": self._model_ready,
            "ServerMetadata": self._metadata,
            "ModelMetadata": self._model_metadata,
            "ModelConfig": self._configuration,
            "ModelStatistics": self._statistics,
            "RepositoryIndex": self._index,
        }

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """The handler of a call; None for a method that there is not."""
        _, name, method = details.method.split("/", 2) if details.method.count("/") == 2 else ("", "", "")
        if name == HEALTH_SERVICE:
            if method == "Check":
                return grpc.unary_unary_rpc_method_handler(self.health.check)
            return grpc.unary_stream_rpc_method_handler(self.health.watch) if method == "Watch" else None
        if name != INFERENCE_SERVICE or not (method in self._methods or method in ("ModelInfer", "ModelStreamInfer")):
            return None
        key = None
        if self._keys and method not in ("ServerLive", "ServerReady"):
            key = self._keys.find((name.encode(), _bytes(value)) for name, value in details.invocation_metadata)
            if key is None:
                reason = "give a valid API key, as metadata 'authorization: Bearer KEY' or 'x-api-key: KEY'"
                return self._handler(partial(self._refuse, Failure(401, reason)))
        if method == "ModelInfer":
            return self._handler(partial(self._infer, key))
        if method == "ModelStreamInfer":
            return self._handler(partial(self._stream, key))
        return self._handler(partial(self._plain, self._methods[method]))

    def _handler(self, call: Callable[[Requests, Any], Awaitable[None]]) -> grpc.RpcMethodHandler:
        """How gRPC calls it. Where a failure is raised the call ends with its code."""

        async def run(requests: Requests, context: Any) -> None:
            try:
                await call(requests, context)
            except Exception as error:
                failure = failure_of(_first(error))
            except asyncio.CancelledError:
                self._state.traffic.ended("CANCELLED")
                raise
            else:
                self._state.traffic.ended("OK")
                return
            self._state.traffic.ended(code_of(failure).name)
            await context.abort(code_of(failure), failure.reason, trailer_of(failure))

        return grpc.stream_stream_rpc_method_handler(run)

    async def _refuse(self, failure: Failure, requests: Requests, context: Any) -> None:
        self._state.traffic.refused += 1
        raise RefusedError(failure.status, failure.reason)

    # One message, one answer

    async def _plain(self, method: Method, requests: Requests, context: Any) -> None:
        answer = await method(await self._read(requests))
        await self._write(context, answer.SerializeToString())

    async def _infer(self, key: str | None, requests: Requests, context: Any) -> None:
        state = self._state
        share = Share(state.traffic, state.limits)
        share.check_room(0, 1 + self._receiving)
        try:
            data = await self._read(requests)
            share.charge(len(data), 1)
            answer = await self._answer(data, key if key is not None else _address(context), context.time_remaining())
            await self._write(context, answer)
        finally:
            share.close()

    async def _read(self, requests: Requests) -> bytes:
        loop, is_slow = asyncio.get_running_loop(), False

        def slow() -> None:
            nonlocal is_slow
            if self._slow >= self._places:
                limit.reschedule(loop.time())
                return
            is_slow = True
            self._slow += 1
            limit.reschedule(loop.time() + READ_SECONDS)

        timer = loop.call_later(SLOW_SECONDS, slow)
        self._receiving += 1
        try:
            async with asyncio.timeout(None) as limit:
                return await anext(requests)
        except StopAsyncIteration:
            raise InvalidInputError("the call has no message") from None
        except TimeoutError:
            if is_slow:
                raise RefusedError(408, f"the message did not come within {READ_SECONDS:g} s") from None
            reason = f"{self._slow} messages are being sent slowly, and no more are allowed; send smaller ones"
            raise QueueFullError(reason, retry_after=1.0) from None
        finally:
            timer.cancel()
            self._receiving -= 1
            self._slow -= is_slow

    async def _write(self, context: Any, answer: bytes) -> None:
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                await context.write(answer)
        except TimeoutError:
            raise RefusedError(408, f"the answer was not read within {WRITE_SECONDS:g} s") from None

    async def _answer(
        self, data: bytes, client: Hashable, remaining: float | None, write: Callable[..., bytes] = tensors.write
    ) -> bytes:
        """The answer to a ``ModelInferRequest``; ``remaining`` seconds are left until the client gives up."""
        state = self._state
        message = await off_loop(len(data), tensors.parse, "ModelInferRequest", data)
        name, version = message.model_name, message.model_version or None
        model = state.registry.get(name, version)
        state.check_room_of(name, version)
        asked = await off_loop(len(data), tensors.read, message, model.check_tensor)
        timeout = min((limit for limit in (asked.timeout, remaining) if limit is not None), default=None)
        model, outputs = await infer(state, name, version, asked, timeout, client)
        size = sum(array.nbytes for array in outputs.values())
        return await off_loop(size, write, model.name, model.version, asked, list(model.outputs), outputs)

    # A stream of requests, whose answers have their order

    async def _stream(self, key: str | None, requests: Requests, context: Any) -> None:
        if self._streams >= MAX_STREAMS:
            raise RefusedError(429, f"there are {MAX_STREAMS} streams, and no more are allowed; close some")
        client = key if key is not None else _address(context)
        self._streams += 1
        try:
            async with anyio.create_task_group() as group:
                send, receive = anyio.create_memory_object_stream[_Pending](WINDOW)

                async def read() -> None:
                    async with send:
                        async for data in requests:
                            pending = _Pending()
                            group.start_soon(self._answer_one, data, client, context.time_remaining(), pending)
                            await send.send(pending)

                group.start_soon(read)
                async with receive:
                    async for pending in receive:
                        await pending.done.wait()
                        await self._write(context, pending.answer)
                        pending.answer = b""
        finally:
            self._streams -= 1

    async def _answer_one(self, data: bytes, client: Hashable, remaining: float | None, pending: _Pending) -> None:
        """An answer, or the reason why there is none: an error is that of one request, and the stream goes on."""
        state = self._state
        share = Share(state.traffic, state.limits)
        try:
            share.charge(len(data), 1)
            pending.answer = await self._answer(data, client, remaining, tensors.write_for_stream)
            state.traffic.ended("OK")
        except Exception as error:
            failure = failure_of(error)
            state.traffic.ended(code_of(failure).name)
            pending.answer = tensors.refusal_for_stream(failure.reason, _id(data))
        finally:
            share.close()
            pending.done.set()

    # About the server and its models

    async def _live(self, data: bytes) -> Any:
        return inference["ServerLiveResponse"](live=self._state.live())

    async def _ready(self, data: bytes) -> Any:
        return inference["ServerReadyResponse"](ready=self._state.registry.ready)

    async def _model_ready(self, data: bytes) -> Any:
        self._model("ModelReadyRequest", data)
        return inference["ModelReadyResponse"](ready=True)

    async def _metadata(self, data: bytes) -> Any:
        return inference["ServerMetadataResponse"](
            name="aioarray", version=aio.__version__, extensions=protocol.EXTENSIONS
        )

    async def _model_metadata(self, data: bytes) -> Any:
        model = self._model("ModelMetadataRequest", data)
        versions = self._state.registry.versions(model.name)
        return inference["ModelMetadataResponse"](**{**model.metadata(), "versions": versions})

    async def _configuration(self, data: bytes) -> Any:
        return inference["ModelConfigResponse"](config=configuration(self._model("ModelConfigRequest", data)))

    async def _statistics(self, data: bytes) -> Any:
        asked = tensors.parse("ModelStatisticsRequest", data)
        name, version = asked.name or None, asked.version or None
        if name is not None:
            self._state.registry.get(name, version)
        return inference["ModelStatisticsResponse"](**model_statistics(await self._numbers(), name, version))

    async def _index(self, data: bytes) -> Any:
        asked = tensors.parse("RepositoryIndexRequest", data)
        rows = [row for row in self._state.registry.index() if row["state"] == "READY" or not asked.ready]
        return inference["RepositoryIndexResponse"](models=rows)

    def _model(self, kind: str, data: bytes) -> Model:
        asked = tensors.parse(kind, data)
        return self._state.registry.get(asked.name, asked.version or None)


def _first(error: Exception) -> Exception:
    """The error itself, where a task group has put it into a group."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _address(context: Any) -> str:
    """The client's address, without the port."""
    peer: str = context.peer()
    return peer.rpartition(":")[0]


def _id(data: bytes) -> str:
    """What a request that failed calls itself."""
    try:
        found: str = tensors.parse("ModelInferRequest", data).id
    except InvalidInputError:
        return ""
    return found
