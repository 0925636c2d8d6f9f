"""Parts for one's own FastAPI application: a lifespan, a dependency that calls a batcher, a response of arrays."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import orjson
from fastapi.encoders import ENCODERS_BY_TYPE
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import aioarray as aio

from .disconnect import cancel_on_disconnect
from .failures import failure_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from ..batching.batcher import Batcher
    from .gate import Receive, Scope, Send


def _not_json(array: aio.Array) -> NoReturn:
    raise TypeError(
        f"an endpoint returned an Array{list(array.shape)}, which is not JSON: return aio.serving.ArrayResponse(x), or "
        "(await x.to_host()).tolist() inside of what is"
    )


# Otherwise FastAPI tells what it has tried.
ENCODERS_BY_TYPE[aio.Array] = _not_json


def lifespan(batchers: Sequence[Batcher], *, warmup: bool = True) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """A lifespan for an application: it starts and warms up ``batchers``, and at the end answers all they accepted.

    Batchers without ``specs`` are started cold; so are all of them with ``warmup=False``.

    >>> from fastapi import FastAPI
    >>> double = aio.serving.Batcher(aio.jit(lambda x: x * 2), specs=aio.ShapeDtype((3,), "float32"))
    >>> app = FastAPI(lifespan=aio.serving.lifespan([double]))
    """

    @asynccontextmanager
    async def run(app: Any) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for batcher in batchers:
                await stack.enter_async_context(batcher)
            for batcher in batchers:
                if warmup and not batcher.ready:
                    await batcher.warmup()
            yield

    return run


class BatchCall:
    """A batcher as one request calls it: cancelled when the client goes, with HTTP's statuses for errors."""

    def __init__(self, batcher: Batcher, request: Request) -> None:
        self._batcher = batcher
        self._request = request

    async def __call__(
        self,
        x: Any,
        *,
        timeout: float | None = None,
        priority: int = 0,
        client: Any = None,
        key: Any = None,
        batched: bool = False,
    ) -> Any:
        """What the batcher gives for ``x``. Raises ``HTTPException`` 400, 429 with Retry-After, 500, 503 or 504."""
        if client is None and self._request.client is not None:
            client = self._request.client.host
        try:
            return await cancel_on_disconnect(
                self._request,
                lambda: self._batcher(x, timeout=timeout, priority=priority, client=client, key=key, batched=batched),
            )
        except Exception as error:
            failure = failure_of(error)
            raise HTTPException(failure.status, failure.reason, failure.headers) from error


def calling(batcher: Batcher) -> Callable[[Request], Awaitable[BatchCall]]:
    """A dependency whose value calls ``batcher`` for the request that it is in.

    >>> from typing import Annotated
    >>> from fastapi import Depends, FastAPI
    >>> app = FastAPI()
    >>> batcher = aio.serving.Batcher(aio.jit(lambda x: x * 2))
    >>> @app.post("/double")
    ... async def double(x: list[float], call: Annotated[aio.serving.BatchCall, Depends(aio.serving.calling(batcher))]):
    ...     return aio.serving.ArrayResponse(await call(x))
    """

    async def dependency(request: Request) -> BatchCall:
        return BatchCall(batcher, request)

    # FastAPI looks for the name among the module's, which a type that is only there for checking is not.
    dependency.__annotations__["request"] = Request
    return dependency


class ArrayResponse(Response):  # type: ignore[misc, unused-ignore]
    """A response of a tree of Arrays, pending or not, or of ``numpy`` arrays, as JSON; NaN and infinities are null.

    It waits for the values, and copies them, off the event loop, when it is sent.

    >>> aio.serving.ArrayResponse({"y": aio.ones(3)}).media_type
    'application/json'
    """

    media_type = "application/json"

    def __init__(
        self,
        content: Any = None,
        status_code: int = 200,
        headers: Any = None,
        media_type: str | None = None,
        background: Any = None,
    ) -> None:
        super().__init__(None, status_code, headers, media_type, background)
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the values and send them."""
        host = await aio.to_host(self._content)
        self.body: Any = orjson.dumps(host, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def _plain(value: Any) -> Any:
    """What orjson does not write itself: arrays of other types, or not contiguous; tuples of fields."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"ArrayResponse: a {type(value).__name__} is neither an array nor JSON")
