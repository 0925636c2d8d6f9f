"""What a server tells about itself: a page, and the numbers behind it."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import HTMLResponse, JSONResponse, Response

from ._search import PAGE_HEADERS

if TYPE_CHECKING:
    from ._state import ServerState


def status_router(state: ServerState) -> APIRouter:
    """The page at /, and /stats behind it."""
    router = APIRouter(tags=["state"])
    page = resources.files(__package__).joinpath("_page", "index.html").read_text(encoding="utf-8")

    async def show() -> Response:
        """The page."""
        return HTMLResponse(page, headers=PAGE_HEADERS)

    async def stats() -> Response:
        """Models, queues, batch sizes, latency and loop lag, in numbers."""
        return JSONResponse(await state.numbers())

    router.add_api_route("/", show, methods=["GET"], include_in_schema=False)
    router.add_api_route("/stats", stats, methods=["GET"], responses={401: {"description": "No valid API key."}})
    return router
