"""What an Array that is unpickled in a forked child has for a value.

There are no Arrays in such a process. But the workers of ``multiprocessing.Pool`` end without a word where unpickling
their task raises, and the caller waits for ever: so unpickling succeeds, and whatever uses the result raises.
"""

from __future__ import annotations

from typing import NoReturn

from .. import _xla
from .._engine import Failure, Pending


class Forked(Failure):
    """Why there is no value; a copy of what the parent knows, so nobody has to be told."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("unpickling", None, "FAILED_PRECONDITION", "this process was forked")
        self.seen = True

    def exception(self) -> NoReturn:
        """Raises ``ForkedProcessError``, as everything does there."""
        _xla.get_client()
        raise AssertionError("made in forked children only")


def forked_result() -> Pending:
    """A result that never comes."""
    pending = Pending(None)
    pending.failure = Forked()
    return pending
