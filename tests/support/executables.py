"""Executables that tests of values keep on disk between runs, as the compile cache of programs does.

Most of the suite's time goes into compiling thousands of small programs, which are the same in the next run. They lie
in pytest's cache directory, by their text, the version of jaxlib and the kind of CPU; ``--cache-clear`` compiles all
anew. Interpreters that have the same jaxlib share them in a folder that ``AIOARRAY_TEST_EXECUTABLES`` names. Tests of
compiling, waiting and scheduling keep none: there, how long a program takes is part of what is tested.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aioarray import _xla
from aioarray._engine import engine
from aioarray._engine.disk_cache import DiskCache

if TYPE_CHECKING:
    import pytest

# Folders of tests of what programs compute.
FOLDERS = frozenset({"_functions", "_ops", "consumers", "namespaces", "nn", "onnx", "properties", "random"})
# ... but for those in them that look at the compile cache.
NOT = frozenset({"test_compile_cache", "test_docstrings"})
LIMIT_BYTES = 1 << 29
SHARED: Final = "AIOARRAY_TEST_EXECUTABLES"


def is_kept(test: Path) -> bool:
    """Whether the programs of a file of tests are kept."""
    return test.stem not in NOT and not FOLDERS.isdisjoint(test.parts)


def open_cache(config: pytest.Config) -> DiskCache | None:
    """Where executables are kept between runs; None where pytest keeps nothing, and no folder is named."""
    cache = getattr(config, "cache", None)
    if SHARED in os.environ:
        directory = Path(os.environ[SHARED])
        directory.mkdir(parents=True, exist_ok=True)
    elif cache is not None:
        directory = cache.mkdir("executables")
    else:
        return None
    directory.chmod(0o700)
    return DiskCache(str(directory), LIMIT_BYTES)


def use(disk: DiskCache | None) -> DiskCache | None:
    """Have the engine look there for executables; gives what it used before."""
    compiler = engine.compiler
    before = compiler.disk()
    with compiler._lock:
        compiler._disk = disk
    return before


def compiled(module: str) -> Any:
    """The executable of a module that does not go through the engine."""
    device, disk = _xla.default_device(), engine.compiler.disk()
    if disk is None:
        return _xla.compile(module.encode(), device)
    context = repr((_xla.installed_version, os.environ.get("XLA_FLAGS")))
    key = "test" + hashlib.sha256((context + module).encode()).hexdigest()
    executable = disk.load(key, device)
    if executable is None:
        executable = _xla.compile(module.encode(), device)
        disk.store(key, executable)
    return executable
