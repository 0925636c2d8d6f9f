"""One suite passes under every runner of coroutines, with and without company, in whatever order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
SUITE = Path(__file__).with_name("concurrency.py").read_text(encoding="utf-8")
TESTS = SUITE.count("\nasync def test_")

ASYNCIO = "pytest.mark.asyncio"
ANYIO = "pytest.mark.anyio"
BARE = "pytest.mark.filterwarnings('error')"


@pytest.mark.parametrize(
    ("marker", "options", "runs"),
    [
        pytest.param(ASYNCIO, ["--asyncio-mode=strict"], 1, id="pytest-asyncio strict"),
        pytest.param(BARE, ["--asyncio-mode=auto"], 1, id="pytest-asyncio auto"),
        pytest.param(ASYNCIO, ["-o", "asyncio_default_test_loop_scope=module"], 1, id="one loop for all tests"),
        pytest.param(ANYIO, [], 2, id="anyio on asyncio and trio"),
        pytest.param(ANYIO, ["-p", "no:asyncio", "-c", "empty.ini"], 2, id="anyio alone"),
    ],
)
def test_a_suite_passes_under(marker: str, options: list[str], runs: int, run: Callable[..., pytest.RunResult]) -> None:
    result = run(SUITE.replace("RUNNER", marker), "-W", "error", *options)
    result.assert_outcomes(passed=runs * TESTS)


def test_a_suite_passes_in_random_order(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(SUITE.replace("RUNNER", ANYIO))
    for seed in (1, 2, 3):
        result = pytester.runpytest_inprocess("-p", "pytest_aioarray", f"--randomly-seed={seed}", "-q")
        result.assert_outcomes(passed=2 * TESTS)


def test_a_suite_passes_on_two_processes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(SUITE.replace("RUNNER", ASYNCIO))
    options = ["-p", "pytest_aioarray", "-n", "2", "--aioarray-durations=3"]
    result = pytester.run(sys.executable, "-m", "pytest", *options)
    result.assert_outcomes(passed=TESTS)
    # What the workers have measured arrives where it is printed.
    result.stdout.fnmatch_lines(["*aioarray durations*", "slowest launches:", "* ms  `*` enqueued at *.py:* in *"])
