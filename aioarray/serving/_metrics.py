"""The numbers of a server for Prometheus, at /metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import prometheus_client
from fastapi import APIRouter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from starlette.responses import PlainTextResponse, Response

from ._numbers import histogram_of, stats_of
from .prometheus import add_histogram, families

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._numbers import Numbers
    from ._state import ServerState

_LABELS: Final = ("model", "version")


class Collector:
    """The metrics of ``numbers``."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Any]:
        """The families of metrics."""
        yield from self._of_server()
        models = [model for model in self._numbers["models"] if "stats" in model]
        yield from families(
            _LABELS, [((model["name"], model["version"]), stats_of(model["stats"])) for model in models]
        )

    def _of_server(self) -> Iterator[Any]:
        server, lag, device = (self._numbers[part] for part in ("server", "loop_lag", "device"))
        answers = CounterMetricFamily("aioarray_http_responses", "Responses by status.", labels=["status"])
        for status, count in server["answers"].items():
            answers.add_metric([status], count)
        yield answers
        yield GaugeMetricFamily("aioarray_http_running", "POST requests that are being answered.", server["running"])
        if self._numbers["http_seconds"] is not None:
            seconds = HistogramMetricFamily("aioarray_http_seconds", "Seconds to answer a POST request.")
            add_histogram(seconds, (), histogram_of(self._numbers["http_seconds"]))
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


def metrics_router(state: ServerState) -> APIRouter:
    """``GET /metrics``, in Prometheus's text form."""
    router = APIRouter(tags=["state"])

    async def metrics() -> Response:
        """All numbers, of all processes that serve at this address, for Prometheus."""
        numbers = prometheus_client.CollectorRegistry()
        numbers.register(Collector(await state.numbers()))  # type: ignore[arg-type, unused-ignore]
        text = prometheus_client.generate_latest(numbers)
        return Response(text, media_type=prometheus_client.CONTENT_TYPE_LATEST)

    router.add_api_route(
        "/metrics",
        metrics,
        methods=["GET"],
        response_class=PlainTextResponse,
        responses={401: {"description": "No valid API key."}},
    )
    return router
