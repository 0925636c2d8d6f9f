"""The examples run, and print what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        check=False,
    )


def test_async_dispatch() -> None:
    done = run("async_dispatch.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("the values are those of JAX's documentation, to 1e-3") == 2
    assert "pending" in done.stdout
    assert done.stdout.count("finished: ") == 4
