"""From jaxlib's exceptions to a status code and a message."""

from __future__ import annotations

import re

from .bindings import ForeignError

__all__ = ["STATUS_CODES", "ForeignError", "translate"]

# absl::StatusCode, the codes with which every XLA error message begins.
STATUS_CODES = frozenset(
    {
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    }
)

_CODE = re.compile(r"\s*([A-Z_]+): ")

# What XLA puts before the message of the computation that really failed, at every step it is passed on.
_WRAPPERS = ("Error dispatching computation: ", "Error preparing computation: ")

# Python exceptions that jaxlib raises itself, without a code.
_STATUS_BY_TYPE: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "RESOURCE_EXHAUSTED"),
    (NotImplementedError, "UNIMPLEMENTED"),
    (ValueError, "INVALID_ARGUMENT"),
    (TypeError, "INVALID_ARGUMENT"),
    (IndexError, "OUT_OF_RANGE"),
    (TimeoutError, "DEADLINE_EXCEEDED"),
)


def translate(exception: BaseException) -> tuple[str, str]:
    """The XLA status code and the innermost message of an exception that jaxlib raised.

    An error that passed through dependent computations is wrapped once a step, each time with the code
    INTERNAL ("INTERNAL: Error dispatching computation: RESOURCE_EXHAUSTED: …"): the last code is the one that
    says what went wrong.
    """
    message = str(exception)
    status = next((code for kind, code in _STATUS_BY_TYPE if isinstance(exception, kind)), "UNKNOWN")
    while True:
        code = _CODE.match(message)
        wrapper = next((text for text in _WRAPPERS if message.startswith(text)), None)
        if code is not None and code.group(1) in STATUS_CODES:
            status = code.group(1)
            message = message[code.end() :]
        elif wrapper is not None:
            message = message[len(wrapper) :]
        else:
            return status, message.strip()
