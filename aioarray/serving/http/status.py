"""What a server tells about itself: a page, the numbers behind it, and the same for Prometheus."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import prometheus_client
from fastapi import APIRouter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from ..prometheus import add_histogram, families
from .routes import OBJECT, add_route
from .snapshot import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from .snapshot import Numbers, Snapshot

# A page shows what the server tells, and loads nothing from elsewhere.
PAGE_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_NO_KEY: Final = {"description": "No valid API key."}
_LABELS: Final = ("model", "version")


def status_router(numbers: Numbers) -> APIRouter:
    """The page at /, /stats behind it, and /metrics; the numbers are those of all processes at this address."""
    router = APIRouter(tags=["state"])
    page = resources.files(__package__).joinpath("_page", "index.html").read_text(encoding="utf-8")

    async def show() -> Response:
        return HTMLResponse(page, headers=PAGE_HEADERS)

    async def stats(request: Request) -> Response:
        """Models, queues, batch sizes, latency and loop lag, in numbers."""
        return Response(to_json(await numbers()), media_type="application/json")

    async def metrics(request: Request) -> Response:
        """All numbers for Prometheus, in its text form."""
        collected = prometheus_client.CollectorRegistry()
        collector: Any = Collector(await numbers())
        collected.register(collector)
        text = prometheus_client.generate_latest(collected)
        return PlainTextResponse(text, media_type=prometheus_client.CONTENT_TYPE_LATEST)

    router.add_api_route("/", show, methods=["GET", "HEAD"], include_in_schema=False)
    add_route(router, "GET", "/stats", stats, responses={200: OBJECT, 401: _NO_KEY})
    text = {"content": {"text/plain": {"schema": {"type": "string"}}}}
    add_route(router, "GET", "/metrics", metrics, responses={200: text, 401: _NO_KEY})
    return router


class Collector:
    """The metrics of ``numbers``."""

    def __init__(self, numbers: Snapshot) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Any]:
        """The families of metrics."""
        yield from self._of_server()
        models = [model for model in self._numbers["models"] if "stats" in model]
        yield from families(_LABELS, [((model["name"], model["version"]), model["stats"]) for model in models])

    def _of_server(self) -> Iterator[Any]:
        server, lag, device = (self._numbers[part] for part in ("server", "loop_lag", "device"))
        answers = CounterMetricFamily("aioarray_http_responses", "Responses by status.", labels=["status"])
        for status, count in server["answers"].items():
            answers.add_metric([status], count)
        yield answers
        codes = CounterMetricFamily("aioarray_grpc_responses", "Calls over gRPC by code.", labels=["code"])
        for code, count in server["codes"].items():
            codes.add_metric([code], count)
        yield codes
        yield GaugeMetricFamily("aioarray_http_running", "POST requests that are being answered.", server["running"])
        seconds = HistogramMetricFamily("aioarray_http_seconds", "Seconds to answer a POST request.")
        add_histogram(seconds, (), self._numbers["http_seconds"])
        yield seconds
        lags = GaugeMetricFamily("aioarray_loop_lag_seconds", "How late the event loop came to a timer.", labels=["of"])
        for name in ("latest", "p50", "p99", "most"):
            lags.add_metric([name], lag[name])
        yield lags
        yield CounterMetricFamily("aioarray_loop_stalls", "How often the loop was held up for too long.", lag["stalls"])
        yield GaugeMetricFamily("aioarray_ready", "Whether all models are ready.", float(server["ready"]))
        yield GaugeMetricFamily("aioarray_workers", "Processes that serve.", len(self._numbers["workers"]))
        yield GaugeMetricFamily("aioarray_device_pending", "Operations not finished.", device["pending"])
        for name in ("launched", "finished", "failed", "dropped", "compiles"):
            yield CounterMetricFamily(f"aioarray_device_{name}", f"Operations {name}.", device[name])
