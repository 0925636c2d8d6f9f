"""Awaiting on trio. Loaded only where trio runs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import trio

from .host import Host

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class TrioHost(Host):
    """The trio run of the calling thread; equal to others of the same run."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrioHost) and other._token is self._token

    def __hash__(self) -> int:
        return hash(self._token)

    def post(self, function: Callable[[], object]) -> None:
        with contextlib.suppress(trio.RunFinishedError):  # the run is over: there is nobody to tell
            self._token.run_sync_soon(function)

    def yield_once(self) -> Generator[Any, Any, None]:
        # Awaited by the task whose generator this is.
        yield from trio.lowlevel.checkpoint().__await__()  # noqa: ASYNC105

    def park(self, line: dict[Any, None]) -> Generator[Any, Any, None]:
        task = trio.lowlevel.current_task()
        line[task] = None

        def abort(_: object) -> trio.lowlevel.Abort:
            line.pop(task, None)
            return trio.lowlevel.Abort.SUCCEEDED

        yield from trio.lowlevel.wait_task_rescheduled(abort).__await__()  # noqa: ASYNC105

    def resume(self, waiting: trio.lowlevel.Task) -> None:
        trio.lowlevel.reschedule(waiting)
