"""The exceptions and warnings of aioarray.

>>> aio.errors.DeviceError.__mro__[1].__name__
'AioArrayError'
"""

from ._base.errors import (
    AioArrayError,
    CompileBudgetError,
    CompileBudgetWarning,
    CompileError,
    DeadlineError,
    DeletedArrayError,
    DeviceError,
    ForkedProcessError,
    FormatError,
    IncompatibleVersionError,
    InvalidInputError,
    LostAssignmentWarning,
    NonFiniteError,
    NotServingError,
    QueueFullError,
    SyncReadError,
    SyncReadWarning,
    TracedValueError,
)

__all__ = [
    "AioArrayError",
    "CompileBudgetError",
    "CompileBudgetWarning",
    "CompileError",
    "DeadlineError",
    "DeletedArrayError",
    "DeviceError",
    "ForkedProcessError",
    "FormatError",
    "IncompatibleVersionError",
    "InvalidInputError",
    "LostAssignmentWarning",
    "NonFiniteError",
    "NotServingError",
    "QueueFullError",
    "SyncReadError",
    "SyncReadWarning",
    "TracedValueError",
]

# Tracebacks and pickles name them where users find them.
for _error in [globals()[_name] for _name in __all__]:
    _error.__module__ = __name__
