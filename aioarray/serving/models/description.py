"""What a model is and what it has done, in the forms of Triton's extensions: its configuration and its statistics.

As JSON has them; protobuf's messages have the same fields.

https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_model_configuration.md
https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_statistics.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..batching.statistics import BatcherStats
    from .model import Model

# Triton's names of data types that are not TYPE_ and the protocol's.
_TYPES: Final = {"BYTES": "TYPE_STRING"}


def configuration(model: Model) -> dict[str, Any]:
    """The configuration of a model that is ready."""
    metadata = model.metadata()
    batcher = model.batcher
    assert batcher is not None
    limits = batcher.limits
    return {
        "name": model.name,
        "platform": model.platform,
        "backend": model.platform,
        "version_policy": {"all": {}},
        "max_batch_size": limits.max_batch_size,
        "input": [_tensor(entry) for entry in metadata["inputs"]],
        "output": [_tensor(entry) for entry in metadata["outputs"]],
        "dynamic_batching": {
            "preferred_batch_size": list(batcher.batch_sizes),
            "max_queue_delay_microseconds": round(limits.max_delay * 1e6),
            "priority_levels": limits.priority_levels,
            "default_priority_level": 1,
            "default_queue_policy": {"max_queue_size": limits.max_queue, "allow_timeout_override": True},
        },
    }


def _tensor(entry: dict[str, Any]) -> dict[str, Any]:
    """A tensor's type and lengths; the first of its metadata is the batch's."""
    kind = entry["datatype"]
    return {"name": entry["name"], "data_type": _TYPES.get(kind, f"TYPE_{kind}"), "dims": entry["shape"][1:]}


def statistics(name: str, version: str, stats: BatcherStats) -> dict[str, Any]:
    """What the batcher of a version of a model has counted. Inferences are rows, executions are batches."""
    nothing = _duration(0, 0.0)
    by_size: dict[int, list[Any]] = {}
    for bucket, counts in stats.buckets.items():
        size = bucket.split("x")[0]
        if size.isdigit():  # "other" are those beyond the number that is told apart
            total = by_size.setdefault(int(size), [0, 0.0])
            total[0] += counts.batches
            total[1] += counts.seconds
    return {
        "name": name,
        "version": version,
        "last_inference": round(stats.latest * 1e3),
        "inference_count": stats.rows,
        "execution_count": stats.batches,
        "inference_stats": {
            "success": _duration(stats.completed, stats.completed_seconds),
            "fail": _duration(stats.failed + stats.expired, stats.failed_seconds),
            "queue": _duration(stats.queue_seconds.count, stats.queue_seconds.total),
            # Rows are put together and taken apart within the call of the model, and nothing is cached.
            "compute_input": nothing,
            "compute_infer": _duration(stats.batch_seconds.count, stats.batch_seconds.total),
            "compute_output": nothing,
            "cache_hit": nothing,
            "cache_miss": nothing,
        },
        "batch_stats": [
            {
                "batch_size": size,
                "compute_input": nothing,
                "compute_infer": _duration(count, seconds),
                "compute_output": nothing,
            }
            for size, (count, seconds) in sorted(by_size.items())
        ],
    }


def _duration(count: int, seconds: float) -> dict[str, int]:
    return {"count": count, "ns": round(seconds * 1e9)}
