"""``Host``: an event loop, as the engine sees it, and what waits on one.

Each thread that runs a loop has a ``Host`` for it: the way to run something there from another thread. A launch has at
most one ``Rendezvous`` for each host, where that loop's tasks line up. So the thread that notices the end makes one
call for each loop, not one for each task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

# Tasks of one launch resumed in one go.
BATCH: Final = 256


class Host(ABC):
    """A running event loop, as something to wake tasks on."""

    spinning = 0  # tasks that are looking; this loop's thread only

    @abstractmethod
    def post(self, function: Callable[[], object]) -> None:
        """Run ``function`` soon on the loop. Any thread; does nothing if the loop is closed."""

    @abstractmethod
    def yield_once(self) -> Generator[Any, Any, None]:
        """Let the loop's other tasks run."""

    @abstractmethod
    def park(self, line: dict[Any, None]) -> Generator[Any, Any, None]:
        """Put the running task in ``line`` and suspend it until ``resume``; out of line again if cancelled."""

    @abstractmethod
    def resume(self, waiting: Any) -> None:
        """Resume a task, by what ``park`` put in line for it. On the loop."""


class Rendezvous:
    """The tasks of one loop that wait for one launch; a ``Waiter``."""

    __slots__ = ("_host", "line")

    def __init__(self, host: Host) -> None:
        self._host = host
        self.line: dict[Any, None] = {}  # in order of arrival; the loop only

    def wake(self) -> None:
        self._host.post(self._resume)

    def _resume(self) -> None:
        line, resume = self.line, self._host.resume
        for _ in range(min(BATCH, len(line))):
            waiting = next(iter(line))
            del line[waiting]
            resume(waiting)
        if line:
            self._host.post(self._resume)


class Callback:
    """Has a function run on a loop when a launch ends; a ``Waiter``."""

    __slots__ = ("_function", "_host")

    def __init__(self, host: Host, function: Callable[[], object]) -> None:
        self._host = host
        self._function = function

    def wake(self) -> None:
        self._host.post(self._function)
