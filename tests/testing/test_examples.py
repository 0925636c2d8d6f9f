"""The examples of testing pass as they are, and the trio program prints its scores."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "testing"


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        text=True,
        timeout=110,
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
        check=False,
    )


def test_the_tests_of_the_examples_pass() -> None:
    files = sorted(path.name for path in FOLDER.glob("test_*.py"))
    done = python("-m", "pytest", "-p", "pytest_aioarray", "-p", "no:cacheprovider", "-v", "-rs")
    assert done.returncode == 0, done.stdout + done.stderr
    for file in files:
        skipped = f"SKIPPED [1] {file}" in done.stdout  # an optional package is not installed
        assert skipped or f"{file}::test_" in done.stdout, done.stdout
    assert len(files) == 5
    assert " passed" in done.stdout
    assert "failed" not in done.stdout


@pytest.mark.parametrize(
    "marker", ["aioarray_unawaited", "aioarray_leaks", "aioarray_held_locks", "aioarray_sync_reads"]
)
def test_the_examples_run_under_every_check(marker: str) -> None:
    assert f"{marker} = " in (FOLDER / "pytest.ini").read_text(encoding="utf-8")


def test_the_trio_program() -> None:
    done = python("trio_program.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == "0 [0.0]\n1 [0.8483, 0.8483]\n2 [0.9866, 0.9866, 0.9866]\n"
