"""Numbers and lists in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._engine.failure import location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._engine.failure import Origin

# So many of a kind are listed.
_LISTED: Final = 5


def launch_text(name: str, where: Origin | None) -> str:
    """ "`add` enqueued at file.py:12 in f"."""
    return f"`{name}` enqueued at {location(where)}" if where else f"`{name}`"


def counted(count: int, singular: str, plural: str) -> str:
    """ "1 thread", "2 threads"."""
    return f"1 {singular}" if count == 1 else f"{count} {plural}"


def in_bytes(count: float) -> str:
    """ "3.5 MiB"."""
    for unit in ("bytes", "KiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} MiB"


def listed(texts: Iterable[str]) -> list[str]:
    """Lines with the first few of ``texts``; equal ones once, with their number."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    lines = [f"  {text}" + (f" ({count} times)" if count > 1 else "") for text, count in counts.items()]
    return lines[:_LISTED] + ([f"  ... and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else [])
