"""What an exception is over HTTP: a status, a reason, and when to try again."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from starlette.responses import Response

from ..._base.errors import DeadlineError, InvalidInputError, NonFiniteError, NotServingError, QueueFullError
from ..batching.queue import TooMuchWorkError
from ..models.registry import NotReadyError, UnknownModelError
from .disconnect import ClientGoneError
from .protocol import TooLargeError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

logger = logging.getLogger("aioarray.serving")

CLIENT_GONE: Final = 499  # nobody reads it; for the log and the counts


class Failure(NamedTuple):
    """Why a request was not answered."""

    status: int
    reason: str
    retry_after: float | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Whole seconds, as HTTP has it; never 0, which would invite a storm."""
        return {} if self.retry_after is None else {"retry-after": str(max(1, math.ceil(self.retry_after)))}


class RefusedError(Exception):
    """A request that is refused for a reason of HTTP's own."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def failure_of(error: Exception) -> Failure:
    """The status and reason for ``error``. What is nobody's fault but the model's is logged."""
    reason = str(error)
    match error:
        case RefusedError():
            return Failure(error.status, reason)
        case TooLargeError() | TooMuchWorkError():
            return Failure(413, reason)
        case InvalidInputError():
            return Failure(400, reason)
        case UnknownModelError():
            return Failure(404, reason)
        case QueueFullError():
            return Failure(429, reason, error.retry_after or 1.0)
        case NotReadyError() | NotServingError():
            return Failure(503, reason, 1.0)
        case DeadlineError():
            return Failure(504, reason)
        case NonFiniteError():
            return Failure(422, reason)
        case ClientGoneError():
            return Failure(CLIENT_GONE, "the client has closed its connection")
    _log(error)
    # Only its type: the text may tell about files and addresses.
    return Failure(500, f"the model failed with {type(error).__name__}")


class _Logged(NamedTuple):
    """When failures of a type were logged, and how many there were since."""

    at: float
    since: int


LOG_PERIOD: Final = 10.0  # seconds between two tracebacks of one type of error
# By the type of error. Any thread: a line more or less does no harm.
_logged: dict[type[Exception], _Logged] = {}


def _log(error: Exception) -> None:
    """Log what failed; of many failures of one type the first in some seconds, and how many there were."""
    now = time.monotonic()
    last = _logged.get(type(error))
    if last is not None and now - last.at < LOG_PERIOD:
        _logged[type(error)] = last._replace(since=last.since + 1)
        return
    more = f", and {last.since} since the last one that was logged" if last is not None and last.since else ""
    _logged[type(error)] = _Logged(now, 0)
    logger.error("a request failed%s", more, exc_info=error)


_OPENAI_TYPES: Final = {
    401: ("authentication_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    503: ("server_error", "not_ready"),
    504: ("server_error", "timeout"),
}


def path_of(scope: MutableMapping[str, Any]) -> str:
    """The address that is asked for, without what a proxy in front takes off and the server puts back."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def error_body(path: str, status: int, reason: str) -> dict[str, Any]:
    """The JSON of an error: in OpenAI's form under /v1, otherwise in the Open Inference Protocol's."""
    if not path.startswith("/v1/"):
        return {"error": reason}
    default = ("server_error", None) if status >= 500 else ("invalid_request_error", None)
    kind, code = _OPENAI_TYPES.get(status, default)
    return {"error": {"message": reason, "type": kind, "param": None, "code": code}}


def error_response(path: str, failure: Failure) -> Response:
    """The answer that tells of ``failure``."""
    body = orjson.dumps(error_body(path, failure.status, failure.reason))
    return Response(body, failure.status, failure.headers, "application/json")
