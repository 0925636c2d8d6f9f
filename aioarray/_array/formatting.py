"""Who asks for the text of an Array: somebody who wants its value, or a program that formats an exception.

Test runners, debuggers and error trackers call ``repr`` on whatever a failing frame holds, when nobody expects to wait
any more, and before a test's fixtures let go what they hold. They are known by their functions on the stack.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from .._base.errors import SyncReadError
from .._engine import is_held

if TYPE_CHECKING:
    from types import FrameType

    from .._engine import Pending

_ANY: Final = frozenset[str]()

# Modules, and their functions that are on the stack only while an exception, a failed assertion or a stopped program
# is shown. Where none are named, any function of the module says so. A module stands for its submodules too.
_FORMATTERS: Final[dict[str, frozenset[str]]] = {
    # Python's own
    "traceback": _ANY,
    "cgitb": _ANY,
    "unittest.util": _ANY,
    "reprlib": frozenset({"repr1", "repr_instance"}),
    "bdb": frozenset({"format_stack_entry"}),
    "pdb": frozenset({"do_args", "user_exception", "user_return"}),
    # Test runners
    "_pytest._code": _ANY,
    "_pytest._io": _ANY,
    "_pytest.assertion.util": _ANY,
    "hypothesis.vendor.pretty": _ANY,
    # Debuggers
    "_pydevd_bundle.pydevd_resolver": _ANY,
    "_pydevd_bundle.pydevd_safe_repr": _ANY,
    "_pydevd_bundle.pydevd_suspended_frames": _ANY,
    "_pydevd_bundle.pydevd_xml": _ANY,
    "IPython.core.ultratb": _ANY,
    "stack_data": _ANY,
    "rich.traceback": _ANY,
    # Error trackers and pages of errors
    "sentry_sdk.serializer": _ANY,
    "sentry_sdk.utils": frozenset({"safe_repr", "safe_str", "serialize_frame"}),
    "loguru._better_exceptions": _ANY,
    "better_exceptions": _ANY,
    "structlog.tracebacks": _ANY,
    "elasticapm.utils.encoding": _ANY,
    "rollbar.lib": _ANY,
    "bugsnag.utils": _ANY,
    "django.views.debug": _ANY,
    "werkzeug.debug.repr": _ANY,
    "werkzeug.debug.tbtools": _ANY,
}

_TEXT_METHODS: Final = frozenset({"__repr__", "__str__", "__format__"})


def formats_an_exception() -> bool:
    """Whether the calling code runs for a program that formats an exception.

    Also where nothing but a method for text is on the stack: that is the interpreter, with what nobody caught.
    """
    frame: FrameType = sys._getframe(1)
    while True:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and _is_formatter(name, frame.f_code.co_name):
            return True
        if frame.f_back is None:
            return frame.f_code.co_name in _TEXT_METHODS
        frame = frame.f_back


def may_wait(pending: Pending) -> bool:
    """Whether a text may wait for the value of ``pending``."""
    return not is_held(pending) and not formats_an_exception()


def refuse_if_held(what: str, pending: Pending) -> None:
    """``SyncReadError`` where a program that formats an exception would wait until the test goes on, so for ever."""
    if is_held(pending) and formats_an_exception():
        raise SyncReadError(f"{what} of an Array that a test's gate holds, to format an exception: it is pending")


def _is_formatter(module: str, function: str) -> bool:
    while True:
        functions = _FORMATTERS.get(module)
        if functions is not None:
            return not functions or function in functions
        module = module.rpartition(".")[0]
        if not module:
            return False
