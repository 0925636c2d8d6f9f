"""What OpenTelemetry is told about batches."""

from __future__ import annotations

from typing import Any

import anyio
import numpy as np
import pytest

from aioarray.serving import Batcher
from aioarray.serving.batching import spans
from tests.serving.runners import RUNNERS

trace = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")
export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
simple = pytest.importorskip("opentelemetry.sdk.trace.export")


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Collects the spans of this test, under a provider of its own: the global one can be set only once."""
    memory = export.InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(simple.SimpleSpanProcessor(memory))
    monkeypatch.setattr(spans._trace, "get_tracer", provider.get_tracer)
    memory.tracer = provider.get_tracer("test")
    return memory


def test_a_batch_is_linked_to_its_requests(exporter: Any) -> None:
    async def fail_for_two(x: Any) -> Any:
        if (np.asarray(x) == 2).any():
            raise ArithmeticError
        return x

    async def main() -> None:
        async with Batcher(fail_for_two, name="model", max_batch_size=4) as batcher:

            async def ask(i: int) -> None:
                with exporter.tracer.start_as_current_span(f"request {i}"):
                    try:
                        await batcher(np.float32([i]))
                    except ArithmeticError:
                        assert i == 2

            async with anyio.create_task_group() as group:
                for i in range(3):
                    group.start_soon(ask, i)
            await batcher(np.float32([9]))

    RUNNERS["asyncio"](main)
    spans = {span.name: span for span in exporter.get_finished_spans() if span.name.startswith("request")}
    first, second = (span for span in exporter.get_finished_spans() if span.name == "batch of model")
    assert {link.context.span_id for link in first.links} == {span.context.span_id for span in spans.values()}
    assert first.parent is None
    assert dict(first.attributes) == {
        "aioarray.batcher": "model",
        "aioarray.rows": 3,
        "aioarray.requests": 3,
        "aioarray.failed": 1,
    }
    assert second.links == ()
    (event,) = spans["request 1"].events
    assert event.name == "aioarray.batch"
    assert event.attributes["batch_rows"] == 3
    assert event.attributes["queue_seconds"] >= 0


def test_without_opentelemetry_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_trace", None)
    assert spans.current() is None

    async def main() -> None:
        async with Batcher(lambda x: x) as batcher:
            assert (await batcher(np.float32([1])))[0] == 1

    RUNNERS["trio"](main)
