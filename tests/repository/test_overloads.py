"""What type checkers make of calls whose result depends on the kind of their arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """
from typing import Any, assert_type
import numpy as np
import aioarray as aio
from aioarray import Array

async def main(x: Array, host: np.ndarray, tree: Any) -> None:
    assert_type(await aio.to_host(x), np.ndarray)
    assert_type(await aio.to_host([x, x]), list[np.ndarray])
    assert_type(await aio.to_host({"x": x}), dict[str, np.ndarray])
    assert_type(await aio.to_host((x, x)), tuple[np.ndarray, ...])
    assert_type(await aio.to_host(tree), Any)
    assert_type(await aio.device_put(x), Array)
    assert_type(await aio.device_put(1.5, "cpu"), Array)
    assert_type(await aio.device_put([1, 2]), list[Array])
    assert_type(await aio.device_put({1: x}), dict[int, Array])
    device: Array = await aio.device_put(host)
    assert_type(await aio.device_put({"x": [host]}), Any)
    assert_type(await aio.ready(x), Array)
    assert_type(await aio.ready({"x": x}), dict[str, Array])
    assert_type(await x, Array)
    assert_type(await x.to_host(), np.ndarray)
    assert_type(aio.unique(x), Array)
    assert_type(aio.unique(x, return_counts=True), tuple[Array, Array])
    assert_type(aio.unique(x, return_index=True), tuple[Array, Array])
    assert_type(aio.unique(x, return_inverse=True, return_counts=True), tuple[Array, Array, Array])
    all_of_them = aio.unique(x, return_index=True, return_inverse=True, return_counts=True)
    assert_type(all_of_them, tuple[Array, Array, Array, Array])
    aio.unique(x, bool(tree))
"""


def test_overloads(tmp_path: Path) -> None:
    script = tmp_path / "overloads.py"
    script.write_text(SOURCE)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout
