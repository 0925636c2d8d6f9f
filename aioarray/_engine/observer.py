"""The observer seam: one call for each step in the life of a launch. By default nobody listens.

Each launch and each pending result has an ``Observer``. It is ``UNOBSERVED``, which does nothing, unless instruments
are installed (``instruments``). So the engine never asks whether somebody is watching; it says what happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from .failure import Failure


class Fault(NamedTuple):
    """An error to be had in place of a result."""

    status: str
    message: str
    compiling: bool = False


class Waiting:
    """Somebody's waiting for a launch. This one is not recorded."""

    __slots__ = ()

    def finish(self, cancelled: bool) -> None:
        """The waiting is over; ``cancelled`` if the launch is not."""


class Observer:
    """Is told what becomes of one launch. This one does nothing.

    Methods are called under the scheduler's lock where no comment differs. They must neither wait nor raise.
    """

    __slots__ = ()

    fault: Fault | None = None  # instead of being made, the launch fails with this
    holds: int = 0  # how many gates it waits for
    detained: bool = False  # it must not be launched by the caller: it is held, delayed, or made to fail
    held: bool = False  # a gate or a delay keeps it, or has kept it
    follows: bool = False  # wants to hear of the end as soon as it is there

    def delayed(self) -> float:
        """The seconds by which it is to be launched later than it could be; 0.0 when asked again."""
        return 0.0

    def runnable(self, full: bool, fillings: int) -> None:
        """Inputs and executable are there; ``full`` if there is no place."""

    def waits(self, reason: str) -> None:
        """It could be made, but is not yet, for this reason."""

    def launched(self, begun: float, returned: float, fillings: int) -> None:
        """PJRT has the launch: the call began and returned at these times of ``perf_counter``."""

    def finished(self, failure: Failure | None) -> None:
        """The launch is over, with a value or a failure."""

    def dropped(self) -> None:
        """The launch will not be made: nobody can see its results."""

    def let_go(self) -> None:
        """One of the gates holds it no more."""

    def wait(self, kind: str) -> Waiting:
        """Somebody begins to wait: kind is "await" or "block". Without the lock."""
        return _NOT_RECORDED

    def used(self, pending: object, what: str) -> bool:
        """``what`` is done with a result. False if that is only a look at it. Without the lock; may raise."""
        return True


class CompileObserver:
    """Is told of one program's way through the compile service. This one does nothing. Without locks."""

    __slots__ = ()

    def begun(self, when: float) -> None:
        """A worker has it."""

    def finish(self, outcome: str, failure: Failure | None) -> None:
        """It is "compiled", "loaded" from disk, "shared" with an equal program, or "failed"."""


UNOBSERVED: Final = Observer()
UNOBSERVED_COMPILE: Final = CompileObserver()
_NOT_RECORDED: Final = Waiting()
