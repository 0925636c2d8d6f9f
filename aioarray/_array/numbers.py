"""Python numbers as arguments of a program: Arrays that take the dtype of what they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._dispatch.scalars import scalar_operand
from .array import Array
from .tracing import tracing

if TYPE_CHECKING:
    from .._base.dtypes import Scalar


def weak_number(value: Scalar) -> Array:
    """``value`` as an Array of no dimensions, weak in promotion, of the widest dtype of its kind."""
    recording = tracing.recording
    if recording is not None:
        return recording.number(value)  # type: ignore[no-any-return]
    return Array(*scalar_operand(value, dtypes.widest_for_rank(dtypes.scalar_rank(value))), True)
