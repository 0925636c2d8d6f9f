"""What Prometheus is told about batchers."""

from __future__ import annotations

import numpy as np
import pytest

import aioarray as aio
from aioarray.errors import InvalidInputError
from aioarray.serving import Batcher
from tests.serving.runners import RUNNERS

prometheus_client = pytest.importorskip("prometheus_client", reason="prometheus_client is not installed")


def test_collector_says_what_the_statistics_say() -> None:
    from aioarray.serving.prometheus import BatcherCollector

    async def main() -> Batcher:
        batcher = Batcher(aio.jit(lambda x: x * 2), name="double", max_batch_size=4)
        async with batcher:
            for _ in range(3):
                await batcher(np.ones(3, np.float32))
            with pytest.raises(InvalidInputError):
                await batcher("text")
        return batcher

    batcher = RUNNERS["asyncio"](main)
    registry = prometheus_client.CollectorRegistry()
    registry.register(BatcherCollector(batcher))

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, {"model": "double", **labels})

    assert value("aioarray_requests_total", outcome="completed") == 3
    assert value("aioarray_requests_total", outcome="invalid") == 1
    assert value("aioarray_queued") == 0
    assert value("aioarray_batch_rows_count") == 3
    assert value("aioarray_batch_rows_bucket", le="1.0") == 3
    assert value("aioarray_queue_seconds_count") == 3
    assert value("aioarray_padding_waste", bucket="1") == 0
    assert value("aioarray_bucket_seconds_total", bucket="1") == pytest.approx(batcher.stats().buckets["1"].seconds)
    text = prometheus_client.generate_latest(registry).decode()
    assert 'aioarray_batch_seconds_bucket{le="+Inf",model="double"} 3.0' in text
