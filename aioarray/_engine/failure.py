"""``Failure``: one error of a launch, shared by every Array it reaches."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, ClassVar

from .._errors import AioArrayError, CompileError, DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

logger = logging.getLogger("aioarray")

# File, line, function of the caller's code that enqueued a launch.
Origin = tuple[str, int, str]


def origin() -> Origin | None:
    """Where the program called into aioarray: the innermost frame that is not aioarray's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name != "aioarray" and not name.startswith("aioarray."):
            return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back
    return None


def log(message: str) -> None:
    """Log an error that nobody ever saw."""
    if logger is not None:  # the module is emptied at interpreter exit
        logger.error("an error that nobody awaited: %s", message)


class Failure:
    """What went wrong; raised anew at every await and read. Logged once if nobody ever saw it."""

    __slots__ = ("compiling", "location", "message", "operation", "seen", "status")

    # Called at the end of one that nobody saw, which may be anywhere, with any lock held. While the engine has threads,
    # it puts the message on the queue of one that logs it.
    report: ClassVar[Callable[[str], None]] = log

    def __init__(
        self, operation: str, where: Origin | None, status: str, message: str, compiling: bool = False
    ) -> None:
        self.operation = operation
        self.location = f"{where[0]}:{where[1]} in {where[2]}" if where else None
        self.status = status
        self.message = message
        self.compiling = compiling
        self.seen = False  # set by whoever raises it, any thread

    def exception(self) -> AioArrayError:
        """A fresh exception: instances are not shared, since each raise writes its own traceback into it."""
        self.seen = True
        if self.compiling:
            return CompileError(str(self))
        return DeviceError(self.message, operation=self.operation, location=self.location, status=self.status)

    def __str__(self) -> str:
        where = f", enqueued at {self.location}" if self.location else ""
        return f"{self.operation}{where}: {self.status}: {self.message}"

    def __del__(self) -> None:
        if not self.seen:
            Failure.report(str(self))
