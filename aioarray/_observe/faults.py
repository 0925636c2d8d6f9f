"""``Injector`` and ``Delay``: launches, compiles and copies that fail, and launches that take their time."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Container
from typing import TYPE_CHECKING

from .. import _xla
from .._base.errors import DeviceError
from .._engine.observer import Fault
from .scope import Scope, checked_pattern, matches

if TYPE_CHECKING:
    from .._engine import Launch, Program
    from .._engine.instruments import Copy, Observation

__all__ = ["Delay", "Fault", "Injector"]


class Injector(Scope):
    """What ``testing.inject`` gives: ``matched`` counts what fits the pattern, ``injected`` what was made to fail.

    So far; any thread.
    """

    def __init__(
        self,
        error: Exception | str,
        *,
        match: str | None = None,
        nth: int | Container[int] | None = None,
        match_compile: str | None = None,
    ) -> None:
        self._status, self._message = _described(error)
        if match_compile is not None and match is not None:
            raise ValueError("inject: give match or match_compile; use two injections for both")
        self._match = checked_pattern("inject", match)
        self._nth = _numbers(nth)
        self._match_compile = checked_pattern("inject", match_compile)
        self.matched: int = 0
        self.injected: int = 0
        self._lock = threading.Lock()
        self._programs: dict[Program, bool] = {}  # those whose compile was looked at, and whether it fails

    def __repr__(self) -> str:
        return f"<injects {self._status}: {self._message}; {self.injected} of {self.matched} matches so far>"

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        if self._match_compile is None and self._hits(launch.program.name) and observation.fault is None:
            observation.fault = Fault(self._status, self._message)

    def on_copying(self, copy: Copy) -> Fault | None:
        # Only where a pattern says so: a test that wants a failing operation has to make its arguments.
        if self._match is not None and self._hits(copy.name):
            return Fault(self._status, self._message)
        return None

    def on_compiling(self, program: Program) -> Fault | None:
        if self._match_compile is None or not matches(self._match_compile, program.name):
            return None
        with self._lock:
            fails = self._programs.get(program)
            if fails is None:
                fails = self._programs[program] = self._next()
        return Fault(self._status, self._message, compiling=True) if fails else None

    def _hits(self, name: str) -> bool:
        if not matches(self._match, name):
            return False
        with self._lock:
            return self._next()

    def _next(self) -> bool:
        self.matched += 1
        hit = self._nth is None or self.matched in self._nth
        self.injected += hit
        return hit


def _numbers(nth: int | Container[int] | None) -> Container[int] | None:
    """Which of the matches are meant, as a container."""
    if nth is None or (isinstance(nth, Container) and not isinstance(nth, (str, bytes))):
        return nth
    if isinstance(nth, bool) or not hasattr(nth, "__index__"):
        raise TypeError(f"inject: nth is {nth!r}; it must be a number, or a container of numbers such as range(2, 5)")
    number = operator.index(nth)
    if number < 1:
        raise ValueError(f"inject: nth is {number}; the first match is number 1")
    return (number,)


def _described(error: Exception | str) -> tuple[str, str]:
    if isinstance(error, str):
        return _xla.translate(RuntimeError(error))
    if isinstance(error, DeviceError):
        return error.status, error.detail
    if not isinstance(error, Exception):
        raise TypeError(
            f"inject: error is {error!r}; it must be an exception such as MemoryError('full'), or a text such as "
            "'RESOURCE_EXHAUSTED: out of memory'"
        )
    status, message = _xla.translate(error)
    return status, message or type(error).__name__


class Delay(Scope):
    """What ``testing.delay`` gives: ``matched`` counts what was delayed. Any thread."""

    def __init__(self, seconds: float, *, match: str | None = None) -> None:
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise ValueError(f"delay: seconds is {seconds}; it must be a number that is not negative")
        self._seconds = seconds
        self._match = checked_pattern("delay", match)
        self._lock = threading.Lock()
        self.matched: int = 0

    def __repr__(self) -> str:
        return f"<delays by {self._seconds} s; {self.matched} so far>"

    def on_enqueued(self, launch: Launch, observation: Observation) -> None:
        if matches(self._match, launch.program.name):
            with self._lock:
                self.matched += 1
            observation.delay += self._seconds
