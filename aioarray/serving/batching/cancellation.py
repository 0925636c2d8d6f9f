"""Telling a task's own cancellation from a ``CancelledError`` that some function let out.

On asyncio anything can raise one: awaiting a task or a future that another one has cancelled does. A task group takes
that for the end of all its tasks, silently; what serves many must not end by what one function does.
"""

from __future__ import annotations

import asyncio
import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterator


class CancelledWithinError(RuntimeError):
    """A function was not cancelled, and raised ``CancelledError``: it awaited something that was."""


def is_being_cancelled() -> bool:
    """Whether somebody wants the running task to end."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return True  # trio's Cancelled comes from nowhere else
    task = asyncio.current_task()
    return anyio.current_effective_deadline() == -math.inf or (task is not None and task.cancelling() > 0)


@contextmanager
def an_error_of(name: str) -> Iterator[None]:
    """In the body, which runs the function called ``name``, a cancellation that is not this task's is an error."""
    try:
        yield
    except anyio.get_cancelled_exc_class() as error:
        if is_being_cancelled():
            raise
        text = "awaited something that was cancelled, or raised CancelledError itself"
        raise CancelledWithinError(f"{name}: the function {text}") from error
