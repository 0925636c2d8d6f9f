"""The cache of compiled programs: its limits, what is kept on disk, and a lock against new programs.

Programs of operations and of ``aio.jit`` are kept in memory up to a limit in bytes and one in entries; those used
longest ago go first. With a directory they are also kept on disk, where the next process finds them.
"""

from __future__ import annotations

import os
from typing import TypedDict

from ._engine import budget, engine
from ._engine.disk_cache import LIMIT_BYTES

__all__ = ["CompileCacheStats", "clear", "freeze", "set_dir", "set_limit", "stats", "thaw"]


class CompileCacheStats(TypedDict):
    """Counts since the start of the process; ``entries`` and ``bytes`` (an estimate) are of now."""

    entries: int
    bytes: int
    limit_entries: int
    limit_bytes: int
    evicted: int
    compiles: int
    hits: int
    disk_hits: int
    disk_misses: int
    failures: int
    directory: str | None
    frozen: bool


def stats() -> CompileCacheStats:
    """How many programs there are and how much memory they take; how many were compiled, and found instead.

    ``hits`` found an equal program in memory, ``disk_hits`` on disk.

    >>> sorted(aio.compile_cache.stats())[:3]
    ['bytes', 'compiles', 'directory']
    """
    compiler, programs = engine.compiler, engine.programs
    disk = compiler.disk()
    return CompileCacheStats(
        entries=len(programs),
        bytes=programs.bytes,
        limit_entries=programs.limit_entries,
        limit_bytes=programs.limit_bytes,
        evicted=programs.evicted,
        compiles=compiler.compiles,
        hits=compiler.hits,
        disk_hits=compiler.disk_hits,
        disk_misses=compiler.disk_misses,
        failures=compiler.failures,
        directory=None if disk is None else disk.directory,
        frozen=budget.is_frozen(),
    )


def clear() -> None:
    """Forget all programs in memory; those that are queued or running finish. What is on disk stays.

    >>> aio.compile_cache.clear()
    >>> aio.compile_cache.stats()["entries"]
    0
    """
    engine.programs.clear()
    engine.compiler.forget_recent()


def set_limit(*, limit_bytes: int | None = None, limit_entries: int | None = None) -> None:
    """Change how much is kept in memory; a limit left out stays. ``ValueError`` for limits below 1.

    >>> before = aio.compile_cache.stats()
    >>> aio.compile_cache.set_limit(limit_entries=100)
    >>> aio.compile_cache.set_limit(limit_entries=before["limit_entries"])
    """
    for name, limit in (("limit_bytes", limit_bytes), ("limit_entries", limit_entries)):
        if limit is not None and limit < 1:
            raise ValueError(f"compile_cache.set_limit: {name} is {limit}; it must be at least 1")
    engine.programs.set_limit(entries=limit_entries, limit_bytes=limit_bytes)


def set_dir(directory: str | os.PathLike[str] | None, *, limit_bytes: int = LIMIT_BYTES) -> None:
    """Keep compiled programs in ``directory``, up to ``limit_bytes``; None keeps none on disk.

    It is made if need be, and any number of processes may share it. They hold machine code, so ``PermissionError`` is
    raised for a directory that other users can write to; other ``OSError`` where it cannot be made. The environment
    variable AIOARRAY_CACHE_DIR does the same from outside.

    >>> aio.compile_cache.set_dir(None)
    """
    if limit_bytes < 1:
        raise ValueError(f"compile_cache.set_dir: limit_bytes is {limit_bytes}; it must be at least 1")
    engine.compiler.set_directory(None if directory is None else os.fspath(directory), limit_bytes)


def freeze() -> None:
    """From now on, refuse to make new programs: ``CompileBudgetError`` at the call that would need one.

    For services in steady state, after ``aio.warmup``.

    >>> x = aio.asarray([1.0, 2.0])
    >>> f = aio.jit(lambda x: x * 3 - 1)
    >>> aio.compile_cache.freeze()
    >>> f(x)
    Traceback (most recent call last):
    aioarray.errors.CompileBudgetError: <lambda> needs a new program, but the compile cache is frozen...
    >>> aio.compile_cache.thaw()
    """
    budget.freeze()


def thaw() -> None:
    """Accept new programs again, after ``freeze``.

    >>> aio.compile_cache.thaw()
    """
    budget.thaw()
