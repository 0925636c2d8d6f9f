"""Running pytest on small test files, in this process where nothing speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def compiled() -> None:
    """MLIR's modules are loaded: a session in this process that ends while they are would have them loaded again.

    It restores ``sys.modules``, and loading the extension twice ends the process.
    """
    (aio.full((3, 5, 7), 2.0) * aio.full(7, 3.0)).block_until_ready()


@pytest.fixture
def run(pytester: pytest.Pytester, compiled: None) -> Callable[..., pytest.RunResult]:
    """``run(source, *options)``: pytest's result on a test file of that source, in this process."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makefile(".ini", empty="[pytest]")  # for sessions that have no pytest-asyncio to understand that

    def run(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess(
            "-p", "pytest_aioarray", "-p", "no:randomly", "-p", "no:cacheprovider", *options
        )

    return run
