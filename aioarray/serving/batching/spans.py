"""Spans of OpenTelemetry, where ``opentelemetry-api`` is installed, and nothing where it is not.

A batch is a span of its own, with links to the spans that were current where its requests were made. These get an
event that says how long the request waited and with how many it was computed.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .requests import Batch

try:
    # Optional, and so without types here.
    _trace: Any = importlib.import_module("opentelemetry.trace")
except ImportError:
    _trace = None


def current() -> Any:
    """The span that the running task is in, if there is one that is recorded; else None."""
    if _trace is None:
        return None
    span = _trace.get_current_span()
    return span if span.is_recording() else None


@contextmanager
def of_batch(name: str, batch: Batch) -> Iterator[None]:
    """The span of a batch, around its body."""
    if _trace is None:
        yield
        return
    links = []
    for part in batch.parts:
        request = part.request
        if request.span is not None:
            links.append(_trace.Link(request.span.get_span_context()))
            waited = {"queue_seconds": batch.started - request.arrived, "batch_rows": batch.rows}
            request.span.add_event("aioarray.batch", waited)
    attributes = {"aioarray.batcher": name, "aioarray.rows": batch.rows, "aioarray.requests": len(batch.parts)}
    # A root: it belongs to all its requests alike, and not to what started the batcher.
    nowhere = _trace.set_span_in_context(_trace.INVALID_SPAN)
    tracer = _trace.get_tracer("aioarray.serving")
    with tracer.start_as_current_span(f"batch of {name}", nowhere, links=links, attributes=attributes) as span:
        yield
        failed = sum(part.request.failed for part in batch.parts)
        if failed:
            span.set_attribute("aioarray.failed", failed)
