"""The statistics of batchers for Prometheus, in any program: ``pip install 'aioarray[serving]'``.

::

    from prometheus_client import REGISTRY
    from aioarray.serving.prometheus import BatcherCollector

    REGISTRY.register(BatcherCollector(batcher))
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .batching.service import Service
    from .batching.statistics import BatcherStats, Histogram

__all__ = ["BatcherCollector", "families"]

# Fields of BatcherStats.
OUTCOMES: Final = ("completed", "failed", "expired", "cancelled", "invalid", "rejected", "hopeless")
GAUGES: Final = {
    "queued": "Requests that wait for a batch.",
    "queued_rows": "Rows that wait for a batch.",
    "running": "Batches that are being computed.",
}
HISTOGRAMS: Final = {
    "batch_rows": "Rows of a batch, without padding.",
    "queue_seconds": "Seconds that requests waited for their batch.",
    "batch_seconds": "Seconds from the call of the model to its result on the host.",
}


class BatcherCollector:
    """Gives Prometheus what the batchers count, when it asks; nothing is done for it in between.

    Registered with ``prometheus_client``'s ``CollectorRegistry.register``. The label ``model`` is the batcher's name.
    """

    def __init__(self, *batchers: Service) -> None:
        self._batchers = batchers

    def collect(self) -> Iterator[Any]:
        """The families of metrics."""
        return families(["model"], [((batcher.name,), batcher.stats()) for batcher in self._batchers])


def families(labels: Sequence[str], batchers: Sequence[tuple[Sequence[str], BatcherStats]]) -> Iterator[Any]:
    """The families of metrics for (values of ``labels``, statistics) of some batchers."""
    requests = CounterMetricFamily("aioarray_requests", "Requests by how they ended.", labels=[*labels, "outcome"])
    for values, stats in batchers:
        for outcome in OUTCOMES:
            requests.add_metric([*values, outcome], getattr(stats, outcome))
    yield requests
    for name, text in GAUGES.items():
        gauge = GaugeMetricFamily(f"aioarray_{name}", text, labels=labels)
        for values, stats in batchers:
            gauge.add_metric(values, getattr(stats, name))
        yield gauge
    for name, text in HISTOGRAMS.items():
        histogram = HistogramMetricFamily(f"aioarray_{name}", text, labels=labels)
        for values, stats in batchers:
            add_histogram(histogram, values, getattr(stats, name))
        yield histogram
    buckets = [(values, stats.buckets) for values, stats in batchers]
    seconds = CounterMetricFamily("aioarray_bucket_seconds", "Seconds in the model.", labels=[*labels, "bucket"])
    waste = GaugeMetricFamily("aioarray_padding_waste", "What part was padding.", labels=[*labels, "bucket"])
    for values, numbers in buckets:
        for bucket, counts in numbers.items():
            seconds.add_metric([*values, bucket], counts.seconds)
            waste.add_metric([*values, bucket], counts.padding_waste)
    yield seconds
    yield waste


def add_histogram(family: HistogramMetricFamily, values: Sequence[str], histogram: Histogram) -> None:
    """Add a histogram to its family."""
    bounds = [*(str(float(bound)) for bound in histogram.bounds), "+Inf"]
    counts = list(zip(bounds, itertools.accumulate(histogram.counts), strict=True))
    family.add_metric(values, counts, histogram.total)
