"""Damaging files, for the tests of what reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random


def damaged(content: bytes, draw: random.Random) -> bytes:
    """``content`` with some bytes changed, put in or left out, or cut off."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        place = draw.randrange(len(changed))
        kind = draw.randrange(7)
        if kind == 0:
            changed[place] = draw.randrange(256)
        elif kind in (1, 2):
            changed[place] ^= 1 << draw.randrange(8)
        elif kind == 3:
            changed[place:place] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 5)))
        elif kind == 4 and len(changed) > 8:
            del changed[place : place + draw.randrange(1, 5)]
        elif kind == 5:
            start = draw.randrange(len(changed))
            changed[place : place + 8] = changed[start : start + 8]
        elif draw.random() < 0.2:
            del changed[max(1, place) :]
    return bytes(changed)
