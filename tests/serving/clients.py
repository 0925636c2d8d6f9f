"""Small models, and an application that serves them to an ``httpx`` client, for the tests of the server."""

from __future__ import annotations

import ssl
import threading
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

import aioarray as aio
from aioarray.serving import Model, TextEmbedder

for package in ("fastapi", "uvicorn", "orjson", "prometheus_client"):
    pytest.importorskip(package, reason=f"{package} of the extra `serving` is not installed")
httpx = pytest.importorskip("httpx", reason="httpx, by which the tests call the server, is not installed")

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

# What is waited for this long, in seconds, is lost.
LOST = 120.0
# Loading certificates, which none of the servers here needs, takes longer than a request.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def request(method: str, url: str, **options: Any) -> Any:
    """A request on a connection of its own; its answer."""
    return httpx.request(method, url, **{"timeout": LOST, "verify": _NO_CERTIFICATES, **options})


get, head, post = (partial(request, method) for method in ("GET", "HEAD", "POST"))

LENGTHS = (8, 16)
DIMENSIONS = 4


@aio.jit
def affine_of(x: aio.Array) -> aio.Array:
    return x * 2 + 1


def affine(name: str = "affine", version: str = "1", **options: Any) -> Model:
    """x ↦ 2x + 1, of rows of 3 numbers."""
    return Model(
        name, affine_of, {"x": aio.ShapeDtype((3,), "float32")}, version=version, **{"max_batch_size": 4, **options}
    )


@aio.jit
def letters_of(tokens: aio.Array) -> aio.Array:
    # Counts of four letters: texts can be told apart, and padding (0) counts for nothing.
    letters = aio.asarray([ord(letter) for letter in "abcd"])
    return aio.sum(aio.astype(tokens[:, :, None] == letters, "float32"), axis=1)


def tokenize(texts: Sequence[str]) -> list[list[int]]:
    return [[ord(letter) for letter in text] for text in texts]


def letters(name: str = "letters", **options: Any) -> TextEmbedder:
    """A text's "embedding": how often the letters a to d are in it. A token is a letter."""
    options = {"batch_sizes": (1, 4), "priority_levels": 2, **options}
    return TextEmbedder(name, letters_of, tokenize, LENGTHS, **options)


class Held:
    """A model that waits at a gate, on the loop, and counts what passes it."""

    def __init__(self, name: str = "held", **options: Any) -> None:
        self.opened = anyio.Event()
        self.opened.set()
        self.arrived = anyio.Event()
        self.rows = 0
        self.batches = 0
        self.model = Model(name, self._call, {"x": aio.ShapeDtype((1,), "float32")}, **{"max_batch_size": 4, **options})

    def close(self) -> None:
        self.opened = anyio.Event()
        self.arrived = anyio.Event()
        self.rows = self.batches = 0

    async def _call(self, x: aio.Array) -> aio.Array:
        self.batches += 1
        self.rows += x.shape[0]
        self.arrived.set()
        await self.opened.wait()
        return x


def double() -> Model:
    """A factory for the command line."""
    return Model("double", lambda x: x * 2, {"x": aio.ShapeDtype((3,), "float32")}, max_batch_size=2)


def several() -> list[Model]:
    """Another one: what the server's processes in the tests serve."""
    return [affine(), affine(version="2"), letters()]


@asynccontextmanager
async def serving(models: Any, *, wait: bool = True, **options: Any) -> AsyncIterator[tuple[Any, Any]]:
    """The application and a client for it, once it is ready."""
    app = aio.serving.create_app(models, **options)
    with anyio.fail_after(LOST):
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
        ):
            if wait:
                await app.state.registry.settled.wait()
            yield app, client


def tensor(data: Any, shape: Sequence[int], name: str = "x", datatype: str = "FP32") -> dict[str, Any]:
    return {"name": name, "shape": list(shape), "datatype": datatype, "data": data}


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Return once ``condition()`` holds; the server's other tasks run meanwhile."""
    with anyio.fail_after(LOST):
        while True:
            holds = condition()
            if await holds if not isinstance(holds, bool) else holds:
                return
            await anyio.sleep(0.001)


async def queued(client: Any, count: int) -> None:
    """Return once that many requests wait for the first model's batcher."""

    async def are() -> bool:
        numbers = (await client.get("/stats")).json()
        return bool(numbers["models"][0]["stats"]["queued"] >= count)

    await until(are)


SLOW_SECONDS = 1.0


async def _slow(x: aio.Array) -> aio.Array:
    await anyio.sleep(SLOW_SECONDS)  # stands for a computation that takes so long
    return x


def slow() -> list[Model]:
    """For the server's processes: a model that takes its time, a row at a time."""
    return [Model("slow", _slow, {"x": aio.ShapeDtype((1,), "float32")}, max_batch_size=1), affine()]


LONG_START_SECONDS = 1.5


async def _warming(x: aio.Array) -> aio.Array:
    if not _warmed:
        _warmed.append(True)
        await anyio.sleep(LONG_START_SECONDS)  # stands for compiling
    return x


_warmed: list[bool] = []


def warming() -> Model:
    """A model that takes its time to get ready."""
    return Model("warming", _warming, {"x": aio.ShapeDtype((1,), "float32")}, max_batch_size=1)


async def _hanging(x: aio.Array) -> aio.Array:
    if float((await x.to_host())[0, 0]) > 0:
        await anyio.to_thread.run_sync(threading.Event().wait)
    return x


def hanging() -> Model:
    """A model that hangs in a thread, for every number above 0."""
    return Model("hanging", _hanging, {"x": aio.ShapeDtype((1,), "float32")}, max_batch_size=1)


async def _never(x: aio.Array) -> aio.Array:
    print("never starts", flush=True)
    await anyio.sleep_forever()
    return x


def never() -> Model:
    """A model that does not get to be ready."""
    return Model("never", _never, {"x": aio.ShapeDtype((1,), "float32")})


def _broken(x: aio.Array) -> aio.Array:
    raise RuntimeError("no weights")


def broken() -> Model:
    """A model that cannot be started."""
    return Model("broken", _broken, {"x": aio.ShapeDtype((1,), "float32")})


async def _busy(x: aio.Array) -> aio.Array:
    await anyio.sleep(0.05)
    return x


def busy() -> Model:
    """A model that can do 160 rows a second, and lets requests wait for not quite one batch."""
    return Model(
        "busy", _busy, {"x": aio.ShapeDtype((1,), "float32")}, max_batch_size=8, max_delay=0.005, max_wait=0.04
    )
