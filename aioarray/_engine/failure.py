"""``Failure``: one error of a launch, shared by every Array it reaches."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from sys import get_coroutine_origin_tracking_depth
from typing import TYPE_CHECKING, ClassVar

from .._base.callers import PACKAGE
from .._base.errors import AioArrayError, CompileError, DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

logger = logging.getLogger("aioarray")

# The caller's code that enqueued a launch, and the instruction in it. What line that is, which takes longer to find out
# than a launch has time for, `location` says.
Origin = tuple["CodeType", int]

# asyncio's debug mode, as far as the environment says; a loop that is in it says so by the depth to which it has Python
# remember where coroutines were made.
_DEBUGGING = sys.flags.dev_mode or (not sys.flags.ignore_environment and bool(os.environ.get("PYTHONASYNCIODEBUG")))
# Frames that are kept, as many as asyncio keeps.
STACK_DEPTH = 10


def origin(depth: int = 1) -> Origin | None:
    """Where the program called into aioarray: the innermost frame that is not aioarray's own.

    The ``depth`` innermost frames are known to be; each frame that is looked at has to be made for it.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            if _DEBUGGING or get_coroutine_origin_tracking_depth():
                return OriginWithStack(frame)
            return code, frame.f_lasti
        frame = frame.f_back
    return None


class OriginWithStack(tuple["CodeType", int]):
    """An ``Origin`` that knows who called: taken in asyncio's debug mode."""

    stack: list[tuple[str, int, str]]  # the outermost first: file, line, function

    def __new__(cls, frame: FrameType) -> OriginWithStack:
        made = super().__new__(cls, (frame.f_code, frame.f_lasti))
        stack: list[tuple[str, int, str]] = []
        outer: FrameType | None = frame
        while outer is not None and len(stack) < STACK_DEPTH:
            stack.append((outer.f_code.co_filename, outer.f_lineno, outer.f_code.co_name))
            outer = outer.f_back
        made.stack = stack[::-1]
        return made

    def __str__(self) -> str:
        frames = [(file, line, name, None) for file, line, name in self.stack]
        return "Enqueued at (most recent call last):\n" + "".join(traceback.format_list(frames)).rstrip()


def location(where: Origin) -> str:
    """File, line and function of ``where``, for a message."""
    code, instruction = where
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
    return f"{code.co_filename}:{line} in {code.co_name}"


def log(message: str) -> None:
    """Log an error that nobody ever saw."""
    if logger is not None:  # the module is emptied at interpreter exit
        logger.error("an error that nobody awaited: %s", message)


class Failure:
    """What went wrong; raised anew at every await and read. Logged once if nobody ever saw it."""

    __slots__ = ("compiling", "location", "message", "operation", "seen", "stack", "status")

    # Called at the end of one that nobody saw, which may be anywhere, with any lock held. While the engine has threads,
    # it puts the message on the queue of one that logs it.
    report: ClassVar[Callable[[str], None]] = log

    def __init__(
        self, operation: str, where: Origin | None, status: str, message: str, compiling: bool = False
    ) -> None:
        self.operation: str = operation
        self.location: str | None = location(where) if where else None
        self.stack: OriginWithStack | None = where if isinstance(where, OriginWithStack) else None
        self.status: str = status
        self.message: str = message
        self.compiling: bool = compiling
        self.seen: bool = False  # set by whoever raises it, any thread

    def exception(self) -> AioArrayError:
        """A fresh exception: instances are not shared, since each raise writes its own traceback into it."""
        self.seen = True
        error: AioArrayError
        if self.compiling:
            error = CompileError(self._text())
        else:
            error = DeviceError(self.message, operation=self.operation, location=self.location, status=self.status)
        if self.stack is not None:
            error.add_note(str(self.stack))
        return error

    def _text(self) -> str:
        where = f", enqueued at {self.location}" if self.location else ""
        return f"{self.operation}{where}: {self.status}: {self.message}"

    def __str__(self) -> str:
        return self._text() if self.stack is None else f"{self._text()}\n{self.stack}"

    def __del__(self) -> None:
        if not self.seen:
            Failure.report(str(self))
