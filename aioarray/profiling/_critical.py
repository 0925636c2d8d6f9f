"""The critical path to a value: what would have to be shorter for it to be there sooner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._timeline import Phase, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._timeline import Launch


# Of longer paths, the last so many steps.
STEPS = 256


def critical_path(launches: Sequence[Launch], index: int) -> tuple[Step, ...]:
    """The steps to the end of ``launches[index]``, the earliest first.

    Goes back from the end. While a launch waited for its inputs, what counts is the one that came last, and what that
    one was doing then.
    """
    steps: list[Step] = []
    launch, until = launches[index], float("inf")
    while True:
        waited: Phase | None = None
        for phase in reversed(launch.phases):
            ended = min(phase.ended, until)
            if ended <= phase.begun:
                continue
            if phase.kind == "inputs" and launch.parents:
                waited = phase
                until = ended
                break
            steps.append(Step(phase.kind, launch.name, launch.index, phase.begun, ended))
        if waited is None or len(steps) >= STEPS:
            return tuple(reversed(steps))
        launch = _last_of(launches, launch, waited)


def _last_of(launches: Sequence[Launch], launch: Launch, waited: Phase) -> Launch:
    """The input that ``launch`` got last while it ``waited``."""
    parents = [launches[parent] for parent in launch.parents]
    if launch.begun is not None and waited.begun >= launch.begun:
        return max(parents, key=lambda parent: parent.ready or 0.0)  # inside PJRT: for the value
    # Before: for a buffer, which is there when the input was launched.
    return max(parents, key=lambda parent: min(parent.launched or 0.0, waited.ended))
