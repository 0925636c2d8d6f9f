"""The numbers of a server for Prometheus, at /metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import prometheus_client
from fastapi import APIRouter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from starlette.responses import PlainTextResponse, Response

import aioarray as aio

from .prometheus import add_histogram, families

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._state import ServerState

_LABELS: Final = ("model", "version")


class Collector:
    """Reads the state when Prometheus asks. Loop thread only."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def collect(self) -> Iterator[Any]:
        """The families of metrics."""
        yield from self._of_server()
        models = [(model, stats) for model in self._state.registry.models() if (stats := model.stats()) is not None]
        labelled = [((model.name, model.version), stats) for model, stats in models]
        yield from families(_LABELS, labelled)

    def _of_server(self) -> Iterator[Any]:
        state, gate, lag = self._state, self._state.gate, self._state.watchdog.lag()
        if gate is not None:
            answers = CounterMetricFamily("aioarray_http_responses", "Responses by status.", labels=["status"])
            for status, count in sorted(gate.answers.items()):
                answers.add_metric([str(status)], count)
            yield answers
            yield GaugeMetricFamily("aioarray_http_running", "POST requests that are being answered.", gate.running)
            seconds = HistogramMetricFamily("aioarray_http_seconds", "Seconds to answer a POST request.")
            add_histogram(seconds, (), gate.seconds)
            yield seconds
        lags = GaugeMetricFamily("aioarray_loop_lag_seconds", "How late the event loop came to a timer.", labels=["of"])
        for name in ("latest", "p50", "p99", "most"):
            lags.add_metric([name], getattr(lag, name))
        yield lags
        yield CounterMetricFamily("aioarray_loop_stalls", "How often the loop was held up for too long.", lag.stalls)
        yield GaugeMetricFamily("aioarray_ready", "Whether all models are ready.", float(state.registry.ready))
        runtime = aio.stats()
        yield GaugeMetricFamily("aioarray_device_pending", "Operations not finished.", runtime["pending"])
        for name in ("launched", "finished", "failed", "dropped", "compiles"):
            count = runtime[name]  # type: ignore[literal-required, unused-ignore]
            yield CounterMetricFamily(f"aioarray_device_{name}", f"Operations {name}.", count)


def metrics_router(state: ServerState) -> APIRouter:
    """``GET /metrics``, in Prometheus's text form."""
    numbers = prometheus_client.CollectorRegistry()
    numbers.register(Collector(state))  # type: ignore[arg-type, unused-ignore]
    router = APIRouter(tags=["state"])

    async def metrics() -> Response:
        """All numbers, for Prometheus."""
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
