"""The exceptions that aioarray raises.

::

    Exception
     └── AioArrayError
          ├── DeviceError               (RuntimeError)  a computation failed
          ├── CompileError              (RuntimeError)  XLA refused a program
          ├── CompileBudgetError        (RuntimeError)  a program was compiled for too many shapes
          ├── DeletedArrayError         (RuntimeError)  a deleted or donated Array was used
          ├── SyncReadError             (RuntimeError)  an event loop read a value synchronously
          ├── ForkedProcessError        (RuntimeError)  the process was forked after first use
          ├── QueueFullError            (RuntimeError)  a serving queue turned a request away
          ├── NotServingError           (RuntimeError)  a batcher is not running, or is being drained
          ├── DeadlineError             (TimeoutError)  a request was not answered in its time
          ├── NonFiniteError            (ArithmeticError)  a model's result has a NaN or an infinity
          ├── InvalidInputError         (ValueError)    a request is not what the model takes
          ├── TracedValueError          (TypeError)     a value was needed while tracing
          ├── FormatError               (ValueError)    a file is not what it claims to be
          └── IncompatibleVersionError  (ImportError)   jaxlib is missing or of another version
    Warning
     └── UserWarning
          ├── CompileBudgetWarning                      like CompileBudgetError, as a warning
          ├── LostAssignmentWarning                     an assignment had no effect
          └── SyncReadWarning                           like SyncReadError, as a warning

Wrong shapes, dtypes and axes are no part of it: they raise ``ValueError``, ``TypeError`` or ``IndexError`` at
the call.
"""

from __future__ import annotations

from typing import Any


class AioArrayError(Exception):
    """Root of the exceptions that aioarray defines.

    >>> issubclass(aio.errors.DeviceError, aio.errors.AioArrayError)
    True
    """


class DeviceError(AioArrayError, RuntimeError):
    """A computation failed; raised where its value is awaited or read, every time.

    ``operation`` is the public function that enqueued the work, ``location`` the line that called it
    ("file.py:12 in function", or None when it was not recorded), ``status`` the XLA status code
    ("RESOURCE_EXHAUSTED", "INTERNAL", …), ``detail`` what XLA said.

    >>> error = aio.errors.DeviceError("out of memory", operation="matmul", status="RESOURCE_EXHAUSTED")
    >>> str(error)
    'matmul failed with RESOURCE_EXHAUSTED: out of memory'
    """

    def __init__(self, detail: str, *, operation: str, location: str | None = None, status: str = "UNKNOWN") -> None:
        where = f" (enqueued at {location})" if location is not None else ""
        super().__init__(f"{operation}{where} failed with {status}: {detail}")
        self.detail = detail
        self.operation = operation
        self.location = location
        self.status = status

    # BaseException's own reduce would pass the composed message as `detail`, without the keywords.
    def __reduce__(self) -> tuple[Any, ...]:
        return _device_error, (type(self), self.detail, self.operation, self.location, self.status)


def _device_error(
    cls: type[DeviceError], detail: str, operation: str, location: str | None, status: str
) -> DeviceError:
    return cls(detail, operation=operation, location=location, status=status)


class CompileError(AioArrayError, RuntimeError):
    """XLA refused to compile a program."""


class CompileBudgetError(AioArrayError, RuntimeError):
    """A function was compiled for more shapes than its budget allows."""


class CompileBudgetWarning(UserWarning):
    """A function was compiled for more shapes than its budget allows (budgets that warn)."""


class LostAssignmentWarning(UserWarning):
    """An assignment had no effect: it went into an Array that nothing else holds, as ``x[0]`` in ``x[0][1] = 5``."""


class DeletedArrayError(AioArrayError, RuntimeError):
    """An Array was used after ``delete()``, or after it was donated to a compiled function."""


class SyncReadError(AioArrayError, RuntimeError):
    """A value that was not awaited was read synchronously inside a running event loop (policy "raise")."""


class SyncReadWarning(UserWarning):
    """A value that was not awaited was read synchronously inside a running event loop (policy "warn")."""


class ForkedProcessError(AioArrayError, RuntimeError):
    """The process was forked after aioarray's first use: XLA's threads do not exist in the child."""


class QueueFullError(AioArrayError, RuntimeError):
    """A serving queue is full; ``retry_after`` estimates in how many seconds to try again, or is None."""

    def __init__(self, message: str = "the queue is full", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return _queue_full_error, (type(self), str(self), self.retry_after)


def _queue_full_error(cls: type[QueueFullError], message: str, retry_after: float | None) -> QueueFullError:
    return cls(message, retry_after=retry_after)


class NotServingError(AioArrayError, RuntimeError):
    """A batcher takes no requests: it was not started, is being drained, or has stopped."""


class DeadlineError(AioArrayError, TimeoutError):
    """A request was not answered in its time, or could not have been."""


class NonFiniteError(AioArrayError, ArithmeticError):
    """A model's result for a request has a NaN or an infinity, and the batcher was told to refuse these."""


class InvalidInputError(AioArrayError, ValueError):
    """A request is not what the model takes; it never reached the model."""


class TracedValueError(AioArrayError, TypeError):
    """The value of an Array was needed while a function was being traced, when it has none."""


class FormatError(AioArrayError, ValueError):
    """A file or byte string is not in the format that it should have."""


class IncompatibleVersionError(AioArrayError, ImportError):
    """jaxlib is missing, or its version is outside the supported range."""
