"""Fixtures for the whole suite. Nothing here is automatic but hypothesis' profile; nothing is seeded."""

from __future__ import annotations

import asyncio
import gc
import os
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest_asyncio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Also where the package is not installed, and pytest therefore finds no entry point.
pytest_plugins = ["pytest_aioarray", "pytester"]

# SciPy and scikit-learn look at it when they are imported: the tests of consumers give them Arrays.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# No deadline: the first example of a new shape compiles and the next does not, which hypothesis calls flaky.
hypothesis.settings.register_profile("aioarray", deadline=None)
# Thirty times as many examples: `pytest tests/properties --hypothesis-profile=thorough`.
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=3000)
hypothesis.settings.load_profile("aioarray")


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
