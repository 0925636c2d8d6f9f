"""Where an Array was enqueued, as far as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._engine import instruments
from ._watch import Watch
from ._words import launch_text

if TYPE_CHECKING:
    from .._array import Array


def enqueued_at(array: Array) -> str:
    """ "`add` enqueued at file.py:12 in f"; empty if that was not recorded, or ``array`` is of host values.

    It is known of Arrays that are pending, and of all where the plugin watches.
    """
    pending, buffer = array._pending, array._buffer
    if pending is not None and isinstance(pending.observer, instruments.Observation):
        return launch_text(pending.observer.name, pending.observer.origin)
    if pending is not None and pending.launch is not None:
        return launch_text(pending.launch.program.name, pending.launch.origin)
    for instrument in instruments.state.everywhere:
        found = instrument.launch_of(buffer) if isinstance(instrument, Watch) and buffer is not None else None
        if found is not None:
            return launch_text(found.name, found.origin)
    return ""
