"""What tells apart the static values of a program."""

from __future__ import annotations

from typing import Any


def mark(value: Any) -> Any:
    """What tells apart values that are equal, but may mean different programs: 1, 1.0 and True, 0.0 and -0.0."""
    kind = type(value)
    if isinstance(value, tuple):
        return kind, tuple([mark(item) for item in value])
    if kind is complex:
        return kind, mark(value.real), mark(value.imag)
    return (kind, str(value)) if kind is float and value == 0.0 else kind
