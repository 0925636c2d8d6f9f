"""What happens when code on an event loop reads the value of an Array that it has not awaited."""

from __future__ import annotations

import sys
import warnings
from typing import Literal, get_args

from .._base.callers import stack_level
from .._base.errors import SyncReadError, SyncReadWarning
from .._base.scoped import ScopedSetting, Setting
from .._engine import in_event_loop, instruments

Policy = Literal["allow", "warn", "raise"]


class _Count:
    """Of synchronous reads. Written by any thread."""

    __slots__ = ("reads",)

    def __init__(self) -> None:
        self.reads = 0


_count = _Count()
_policy: Setting[Policy] = Setting("aioarray_sync_reads", "warn")


class sync_reads(ScopedSetting[Policy]):
    """Set the policy for synchronous reads in event loops: "allow", "warn" (the default) or "raise".

    Called, it sets the process's default; used with ``with``, it holds for the body, in this task and those it starts.
    A synchronous read is one of a value that was neither awaited nor made from a host value. Raises ``ValueError`` for
    another policy.

    >>> with aio.sync_reads("raise"):
    ...     float(aio.asarray(2.0))
    2.0
    """

    def __init__(self, policy: Policy) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"sync_reads: policy {policy!r} is not one of {', '.join(get_args(Policy))}")
        super().__init__(_policy, policy)


def count() -> int:
    """How many synchronous reads event loops have made."""
    return _count.reads


def check(what: str) -> None:
    """Called before ``what`` (such as "float(array)") reads a value that was not awaited."""
    if not in_event_loop():
        return
    _count.reads += 1
    instruments.note_sync_read(what)
    policy = _policy.get()
    if policy == "allow":
        return
    message = (
        f"{what} of an Array that was not awaited is a synchronous read: it holds the event loop until the value is "
        "there. Await it first (`await array`, `await array.to_host()`), or run the function off the loop with "
        "`await aio.run_sync(function, ...)`"
    )
    if policy == "raise":
        raise SyncReadError(message)
    warnings.warn(message, SyncReadWarning, stacklevel=stack_level())


def shows_values() -> bool:
    """Whether ``repr`` of a value that was not awaited may wait for it: outside loops, and for people at a prompt."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or not in_event_loop()
