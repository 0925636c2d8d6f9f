"""What can be compared with: modules that may be missing, how each is waited for, and the limit, jaxlib's own call."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Any

import aioarray as aio
from aioarray import _xla

if TYPE_CHECKING:
    from collections.abc import Callable

# The modules of contenders by the name they have in tables.
MODULES = {"jax": "jax", "numpy": "numpy", "torch": "torch"}
# Contenders that a run is to do without, separated by commas: set by the parent of a benchmark's process.
WITHOUT = "AIOARRAY_BENCHMARKS_WITHOUT"
# The one library that a process is for: set by whoever measures them in processes of their own.
ONLY = "AIOARRAY_BENCHMARKS_ONLY"


def available(contender: str) -> bool:
    """Whether it is installed, and wanted."""
    wanted = contender not in os.environ.get(WITHOUT, "").split(",")
    return wanted and importlib.util.find_spec(MODULES[contender]) is not None


def load(contender: str, submodule: str = "") -> Any:
    """The contender's module, or one inside it; None if it is not available, or another process is for it."""
    if not available(contender) or os.environ.get(ONLY, contender) != contender:
        return None
    return importlib.import_module(MODULES[contender] + (f".{submodule}" if submodule else ""))


async def plainly(x: Any) -> Any:
    """Wait for an array that can be awaited."""
    return await x


async def by_thread(x: Any) -> Any:
    """Wait for an array that can only hold a thread."""
    return await asyncio.to_thread(x.block_until_ready)


def limit(function: Callable[..., Any], *arrays: aio.Array) -> Callable[[], object]:
    """The least that a call of ``function`` can take: its program, executed and its result wrapped by jaxlib."""
    lowered = aio.jit(function).lower(*(aio.ShapeDtype(x.shape, x.dtype) for x in arrays))
    result = aio.eval_shape(function, *arrays)
    device = arrays[0].device
    program = _xla.compile(lowered.as_text().encode(), device)
    spec = aio.block_until_ready(aio.zeros(result.shape, dtype=result.dtype))._spec
    handlers = _xla.result_handlers([spec], device)
    buffers = [aio.block_until_ready(x)._buffer for x in arrays]
    execute = program.execute

    def call() -> object:
        return execute(buffers).consume_with_handlers(handlers)[0]

    return call
