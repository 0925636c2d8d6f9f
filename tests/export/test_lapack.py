"""Files that call LAPACK, in processes that did not: its routines are registered before XLA sees a call, on every path.

XLA compiles a call to a routine that it does not know, and then cannot run it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import export
from tests.export.artifacts import content

ROOT = Path(__file__).resolve().parents[2]
SPEC = aio.ShapeDtype((3, 3), "float32")
X = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)

PROGRAM = """
import asyncio, json, sys
import numpy as np
import aioarray as aio

way, path, values = sys.argv[1:]
x = aio.asarray(np.array(json.loads(values), np.float32))

async def main():
    if way == "load_async":
        function = await aio.export.load_async(path)
    else:
        function = aio.export.load(path)
    if way == "compile":
        function = await function.compile()
    elif way == "lower":
        function.lower().as_text()
    elif way == "jit":
        function = aio.jit(lambda x, function=function: function(x) * 1)
    elif way == "scan":
        function = aio.jit(lambda x, function=function: aio.lax.scan(lambda c, _: (function(c), None), x, None, 1)[0])
    elif way == "serialize":
        function = aio.export.load(aio.export.serialize(function, aio.ShapeDtype(x.shape, x.dtype)))
    r = await function(x)
    stats = aio.compile_cache.stats()
    print(json.dumps([(await r.to_host()).tolist(), stats["compiles"], stats["disk_hits"]]))

asyncio.run(main())
"""


def run(way: str, path: Path, cache: Path) -> tuple[np.ndarray, int, int]:
    """R of X by the function in ``path``, and how many programs were compiled, and found on disk."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way, str(path), json.dumps(X.tolist())],
        env={**os.environ, "AIOARRAY_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result, compiles, disk_hits = json.loads(done.stdout)
    return np.array(result, np.float32), compiles, disk_hits


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lapack") / "r.jax"
    export.save(path, lambda x: aio.linalg.qr(x).R, SPEC)
    return path


@pytest.mark.parametrize("way", ["call", "load_async", "compile", "lower", "jit", "scan", "serialize"])
def test_first_use_in_a_process(way: str, written: Path, tmp_path: Path) -> None:
    r, compiles, _ = run(way, written, tmp_path)
    np.testing.assert_allclose(np.abs(r), np.abs(np.linalg.qr(X).R), rtol=1e-5, atol=1e-6)
    assert compiles >= 1


def test_a_program_that_another_process_compiled(written: Path, tmp_path: Path) -> None:
    first, compiles, disk_hits = run("call", written, tmp_path)
    assert (compiles >= 1, disk_hits) == (True, 0)
    second, compiles, disk_hits = run("call", written, tmp_path)
    assert (compiles, disk_hits >= 1) == (0, True)
    np.testing.assert_array_equal(first, second)


def test_a_file_of_jax_off_the_loop() -> None:
    async def load() -> Any:
        function = await export.load_async(content("lapack_and_fft"))
        return await function.compile()

    compiled = asyncio.run(load())
    assert "lapack" in compiled.as_text()
