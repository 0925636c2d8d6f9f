"""Whether a result cannot come before a test lets something go. Any thread; without the lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .launch import QUEUED, Launch, Pending

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_held(pending: Pending) -> bool:
    """Whether a gate holds the launch that ``pending`` comes from, or one that it needs.

    A gate takes hold of a launch when it is enqueued, never later: so an answer of False stays right.
    """
    looked_at: set[Launch] = set()
    to_look_at: list[Iterable[object]] = [(pending,)]
    while to_look_at:
        for argument in to_look_at.pop():
            launch = argument.launch if isinstance(argument, Pending) else None
            if launch is None or launch.state != QUEUED or launch in looked_at:
                continue
            if launch.observer.holds > 0:
                return True
            looked_at.add(launch)
            to_look_at.append(tuple(launch.arguments))
    return False
