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


FILES = sorted(path.name for path in FOLDER.glob("test_*.py"))


def test_there_are_examples() -> None:
    assert len(FILES) == 5


@pytest.mark.parametrize("file", FILES)
def test_the_tests_of_an_example_pass(file: str) -> None:
    done = python("-m", "pytest", "-p", "pytest_aioarray", "-p", "no:cacheprovider", "-rs", file)
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED and "is not installed" in done.stdout:
        pytest.skip(f"what {file} needs is not installed")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


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
