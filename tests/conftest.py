"""Fixtures for the whole suite. Automatic are hypothesis' profile and what is kept of compiling; nothing is seeded."""

from __future__ import annotations

import asyncio
import gc
import os
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import pytest_asyncio

from tests.support import executables

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from aioarray._engine.disk_cache import DiskCache

# Also where the package is not installed, and pytest therefore finds no entry point.
pytest_plugins = ["pytest_aioarray", "pytester"]

# SciPy and scikit-learn look at it when they are imported: the tests of consumers give them Arrays.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# The servers of tests are on this machine, whatever proxies the environment names.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"

# No deadline: the first example of a new shape compiles and the next does not, which hypothesis calls flaky.
hypothesis.settings.register_profile("aioarray", deadline=None)
# Thirty times as many examples: `pytest tests/properties --hypothesis-profile=thorough`.
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=3000)
hypothesis.settings.load_profile("aioarray")


@pytest.fixture(scope="session")
def disk_cache(pytestconfig: pytest.Config) -> DiskCache | None:
    """Where executables are kept between runs, if anywhere."""
    return executables.open_cache(pytestconfig)


@pytest.fixture(scope="module", autouse=True)
def _kept_executables(request: pytest.FixtureRequest, disk_cache: DiskCache | None) -> Iterator[None]:
    if disk_cache is None or not executables.is_kept(request.path):
        yield
        return
    before = executables.use(disk_cache)
    yield
    executables.use(before)


@pytest_asyncio.fixture
async def no_unhandled_loop_exceptions() -> AsyncIterator[list[dict[str, Any]]]:
    """Fail the test if anything was reported to its loop's exception handler.

    These are the errors that a program sees only in its log: a callback that raised, a task or a future whose
    exception nobody retrieved. Yields the list of reports (the dicts that asyncio passes to the handler), so
    that a test which expects one can look at it and clear it.
    """
    loop = asyncio.get_running_loop()
    reports: list[dict[str, Any]] = []
    previous = loop.get_exception_handler()
    loop.set_exception_handler(lambda _loop, context: reports.append(context))
    yield reports
    # Futures and tasks report when they are collected, and one caught in a reference cycle (a traceback is
    # enough) is collected late.
    gc.collect()
    loop.set_exception_handler(previous)
    assert reports == [], f"reported to the event loop's exception handler: {reports}"
