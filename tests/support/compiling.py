"""What tests of compiling count."""

from __future__ import annotations

import time

from aioarray import compile_cache
from aioarray._engine import engine

LOST = 60.0


def compiles() -> int:
    """How many programs XLA has compiled, after those have come through that earlier tests did not wait for."""
    compiler = engine.compiler
    deadline = time.monotonic() + LOST
    while compiler._queue or compiler._in_progress or compiler._idle < compiler._workers:
        assert time.monotonic() < deadline, "a compilation does not end"
        time.sleep(0)
    return compile_cache.stats()["compiles"]
