"""What a server tells about itself: a page, the numbers behind it, and metrics."""

from __future__ import annotations

import dataclasses
import os
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, JSONResponse, Response

import aioarray as aio

from ._search import PAGE_HEADERS

if TYPE_CHECKING:
    from ._state import ServerState
    from ._statistics import BatcherStats


def snapshot(state: ServerState) -> dict[str, Any]:
    """The numbers of one process."""
    lag = state.watchdog.lag()
    gate = state.gate
    runtime = aio.stats()
    return {
        "server": {
            "version": aio.__version__,
            "worker": state.worker,
            "process": os.getpid(),
            "seconds": round(time.time() - state.started, 1),
            "ready": state.registry.ready,
            "running": gate.running if gate is not None else 0,
            "refused": gate.refused if gate is not None else 0,
            "answers": {str(status): count for status, count in sorted(gate.answers.items())} if gate else {},
        },
        "search": state.search,
        "loop_lag": lag._asdict(),
        "device": {
            name: runtime[name]  # type: ignore[literal-required, unused-ignore]
            for name in ("pending", "in_flight", "launched", "finished", "dropped", "failed", "compiles", "threads")
            if name in runtime
        },
        "models": [{**row, **_model_numbers(state, row["name"], row["version"])} for row in state.registry.index()],
    }


def _model_numbers(state: ServerState, name: str, version: str) -> dict[str, Any]:
    for model in state.registry.models():
        stats = model.stats()
        if (model.name, model.version) == (name, version) and stats is not None:
            return {"stats": _numbers(stats)}
    return {}


def _numbers(stats: BatcherStats) -> dict[str, Any]:
    return {
        **dataclasses.asdict(stats),
        "buckets": {
            name: {
                **dataclasses.asdict(bucket),
                "padding_waste": bucket.padding_waste,
                "mean_seconds": bucket.mean_seconds,
            }
            for name, bucket in stats.buckets.items()
        },
    }


def status_router(state: ServerState) -> APIRouter:
    """The page at /, and /stats behind it."""
    router = APIRouter(tags=["state"])
    page = resources.files(__package__).joinpath("_page", "index.html").read_text(encoding="utf-8")

    async def show() -> Response:
        """The page."""
        return HTMLResponse(page, headers=PAGE_HEADERS)

    async def stats() -> Response:
        """Models, queues, batch sizes, latency and loop lag, in numbers."""
        return JSONResponse(snapshot(state))

    router.add_api_route("/", show, methods=["GET"], include_in_schema=False)
    router.add_api_route("/stats", stats, methods=["GET"], responses={401: {"description": "No valid API key."}})
    return router
