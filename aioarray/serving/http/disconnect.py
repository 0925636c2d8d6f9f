"""A client that has gone away cancels the work that was for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from ..batching.cancellation import an_error_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

T = TypeVar("T")


class ClientGoneError(Exception):
    """The client has closed its connection; whatever is answered is read by nobody."""


async def cancel_on_disconnect(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """What ``work()`` gives, which is cancelled when the client of ``request`` closes its connection.

    The body of the request has to have been read before. Raises ``ClientGoneError`` then, and what ``work`` raises.
    Starlette does this for streaming responses; this is for all other endpoints.
    """
    result: list[T] = []
    failure: list[BaseException] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            message: dict[str, Any] = {}
            while message.get("type") != "http.disconnect":
                message = dict(await request.receive())
            group.cancel_scope.cancel()

        group.start_soon(watch)
        try:
            with an_error_of("cancel_on_disconnect"):
                result.append(await work())
        except Exception as error:  # raised outside, where it is not put into a group
            failure.append(error)
        group.cancel_scope.cancel()
    if failure:
        raise failure[0]
    if not result:
        raise ClientGoneError
    return result[0]
