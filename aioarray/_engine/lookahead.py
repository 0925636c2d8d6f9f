"""How far ahead launches are given to PJRT: those whose inputs are not finished. Under the scheduler's lock.

A launch that follows one that runs may be given at once, so that the device goes on without a gap. One behind that has
to wait until its turn is near: what is inside PJRT cannot be overtaken, nor dropped. Programs so short that launching
takes as long as running may be further ahead, by ``AHEAD_SECONDS`` of work. Behind what runs for ``LASTING_SECONDS``
nothing is given ahead: the gap is small against that, and what is cancelled, or left at the end, is not launched.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING, Final
from weakref import ref

from .launch import LAUNCHED, QUEUED, Launch, appended

if TYPE_CHECKING:
    from collections.abc import Callable

    from .watchers import Watchers
    from .window import Window

# Longer than a thread needs to wake and launch the next one, by a factor of ten.
AHEAD_SECONDS: Final = 1e-3
# Fifty times as long as a busy thread may keep the GIL from the one that launches what follows.
LASTING_SECONDS: Final = 0.25


class Lookahead:
    """Knows of each launch in flight what follows it."""

    __slots__ = ("_runnable", "_watchers", "_window")

    def __init__(self, window: Window, watchers: Watchers, runnable: Callable[[Launch], None]) -> None:
        """``runnable(launch)`` is called when ``launch``, which was too far ahead, may be made; or can run."""
        self._window = window
        self._watchers = watchers
        self._runnable = runnable

    def place(self, launch: Launch) -> bool:
        """Find out whether ``launch``, whose inputs are launched, is ahead; whether it may be made now.

        If it may not, or when it can run, ``runnable`` is called later.
        """
        launch.ahead, launch.lead = _ahead(launch)
        return launch.lead <= AHEAD_SECONDS

    def follow(self, launch: Launch) -> None:
        """Hear of what ``launch`` waits for. Once for each launch."""
        reference = None
        for source in launch.sources:
            before = source.launch
            if before is not None:
                reference = reference or launch.reference or ref(launch)
                before.followers = appended(before.followers, reference)

    def watch(self, launch: Launch) -> None:
        """Have the end of something noticed that ``launch``, which is too far ahead, waits for."""
        current = launch
        while current.ahead:
            before = next((source.launch for source in current.sources if source.launch is not None), None)
            if before is None:
                return
            current = before
        # What starts then is in flight already, so nothing else would ask for this one again.
        current.followers = appended(current.followers, launch.reference or ref(launch))
        self._watchers.watch(current)

    def ended(self, launch: Launch) -> None:
        """``launch`` is over: what follows it may run, or may be made."""
        references, launch.followers = launch.followers, None
        for reference in references or ():
            follower = reference()
            if follower is None:
                continue
            if follower.state == QUEUED:
                self._reconsider(follower)
            elif follower.ahead and not _ahead(follower)[0]:
                self._window.run(follower)
                follower.lead = 0.0
                follower.begun = perf_counter()
                if follower.state == LAUNCHED:
                    self._started(follower)

    def _started(self, launch: Launch) -> None:
        """``launch`` runs: what follows it may be made."""
        for reference in launch.followers or ():
            follower = reference()
            if follower is not None and follower.state == QUEUED:
                self._reconsider(follower)

    def _reconsider(self, launch: Launch) -> None:
        if launch.missing == 0 and (not launch.entry or (launch.ahead and not _ahead(launch)[0])):
            self._runnable(launch)


def _ahead(launch: Launch) -> tuple[bool, float]:
    """Whether inputs of ``launch`` are unfinished, and how many seconds of work come before it after what runs now."""
    ahead, lead = False, 0.0
    for source in launch.sources:
        before = source.launch
        if before is None:
            continue
        ahead = True
        launch_class = before.program.launch_class
        expected = 0.0 if launch_class is None else launch_class.expected
        if before.ahead:
            lead = max(lead, before.lead + expected)
        elif expected >= LASTING_SECONDS:
            lead = math.inf
    return ahead, lead
