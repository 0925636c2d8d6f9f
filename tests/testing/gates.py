"""What the tests of ``hold``, ``delay`` and ``inject`` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aioarray as aio

if TYPE_CHECKING:
    from aioarray import testing


def ones() -> aio.Array:
    return aio.ones(3)


def names(gate: testing.Gate) -> list[str]:
    """The operations that ``gate`` holds."""
    return [held.name for held in gate.pending]
