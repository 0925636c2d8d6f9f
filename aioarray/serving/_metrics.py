"""The numbers of a server for Prometheus, at /metrics."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import prometheus_client
from fastapi import APIRouter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from starlette.responses import PlainTextResponse, Response

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._state import ServerState
    from ._statistics import BatcherStats, Histogram

_LABELS: Final = ("model", "version")
# Field of BatcherStats -> (name, what it says).
_OUTCOMES: Final = ("completed", "failed", "expired", "cancelled", "invalid", "rejected", "hopeless")
_GAUGES: Final = {
    "queued": "Requests that wait for a batch.",
    "queued_rows": "Rows that wait for a batch.",
    "running": "Batches that are being computed.",
}
_HISTOGRAMS: Final = {
    "batch_rows": "Rows of a batch, without padding.",
    "queue_seconds": "Seconds that requests waited for their batch.",
    "batch_seconds": "Seconds from the call of the model to its result on the host.",
}


class Collector:
    """Reads the state when Prometheus asks. Loop thread only."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def collect(self) -> Iterator[Any]:
        """The families of metrics."""
        yield from self._of_server()
        models = [(model, stats) for model in self._state.registry.models() if (stats := model.stats()) is not None]
        labelled = [((model.name, model.version), stats) for model, stats in models]
        yield from _of_batchers(labelled)

    def _of_server(self) -> Iterator[Any]:
        state, gate, lag = self._state, self._state.gate, self._state.watchdog.lag()
        if gate is not None:
            answers = CounterMetricFamily("aioarray_http_responses", "Responses by status.", labels=["status"])
            for status, count in sorted(gate.answers.items()):
                answers.add_metric([str(status)], count)
            yield answers
            yield GaugeMetricFamily("aioarray_http_running", "POST requests that are being answered.", gate.running)
            seconds = HistogramMetricFamily("aioarray_http_seconds", "Seconds to answer a POST request.")
            _add(seconds, (), gate.seconds)
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


def _of_batchers(models: list[tuple[tuple[str, str], BatcherStats]]) -> Iterator[Any]:
    requests = CounterMetricFamily("aioarray_requests", "Requests by how they ended.", labels=[*_LABELS, "outcome"])
    for labels, stats in models:
        for outcome in _OUTCOMES:
            requests.add_metric([*labels, outcome], getattr(stats, outcome))
    yield requests
    for name, text in _GAUGES.items():
        gauge = GaugeMetricFamily(f"aioarray_{name}", text, labels=_LABELS)
        for labels, stats in models:
            gauge.add_metric(labels, getattr(stats, name))
        yield gauge
    for name, text in _HISTOGRAMS.items():
        histogram = HistogramMetricFamily(f"aioarray_{name}", text, labels=_LABELS)
        for labels, stats in models:
            _add(histogram, labels, getattr(stats, name))
        yield histogram
    waste = GaugeMetricFamily("aioarray_padding_waste", "What part was padding.", labels=[*_LABELS, "bucket"])
    for labels, stats in models:
        for bucket, numbers in stats.buckets.items():
            waste.add_metric([*labels, bucket], numbers.padding_waste)
    yield waste


def _add(family: Any, labels: tuple[str, ...], histogram: Histogram) -> None:
    bounds = [*(str(float(bound)) for bound in histogram.bounds), "+Inf"]
    family.add_metric(labels, list(zip(bounds, itertools.accumulate(histogram.counts), strict=True)), histogram.total)


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
