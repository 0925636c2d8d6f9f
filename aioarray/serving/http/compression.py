"""Bodies that are compressed by gzip or deflate: requests are inflated within limits, answers are deflated if asked.

A few bytes can stand for gigabytes: what comes out is counted and charged while it does, a step at a time, and no step
makes more than ``STEP_BYTES``.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import anyio.to_thread

from ..._base.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

# zlib's numbers for the two forms; HTTP's "deflate" is that of zlib, with its head (RFC 9110, 8.4.1.2).
ENCODINGS: Final = {"gzip": 31, "deflate": 15}
# Inflating so much takes less time than asking another thread to, and all else goes on between steps of the second.
HERE_BYTES: Final = 1 << 16
STEP_BYTES: Final = 1 << 20
# Smaller answers fit into a few packets as they are.
MIN_BYTES: Final = 4096
# Tensors hardly get smaller by more effort.
LEVEL: Final = 1


class Inflater:
    """Inflates a body that comes in parts. ``charge`` is told of each step's bytes, and may refuse by raising."""

    def __init__(self, encoding: str, charge: Callable[[int], object]) -> None:
        self._encoding = encoding
        self._charge = charge
        self._stream = zlib.decompressobj(ENCODINGS[encoding])
        self._steps = 0

    async def feed(self, data: bytes) -> list[bytes]:
        """What comes out for ``data``. ``InvalidInputError`` for what is not of this encoding."""
        parts: list[bytes] = []
        while data:
            if self._stream.eof:
                raise InvalidInputError(f"the body goes on behind the end of its {self._encoding} data")
            # The first step is a small one, as most bodies are.
            try:
                if self._steps == 0:
                    part = self._stream.decompress(data, HERE_BYTES)
                else:
                    part = await anyio.to_thread.run_sync(self._stream.decompress, data, STEP_BYTES)
            except zlib.error as error:
                raise InvalidInputError(f"the body is not {self._encoding}, which it says it is: {error}") from None
            self._steps += 1
            self._charge(len(part))
            parts.append(part)
            data = self._stream.unused_data or self._stream.unconsumed_tail
        return parts

    def finish(self) -> None:
        """The body is whole. ``InvalidInputError`` if its data is not."""
        if not self._stream.eof:
            raise InvalidInputError(f"the body ends within its {self._encoding} data")


def choose(accepted: str) -> str | None:
    """The encoding to answer in, by the header ``Accept-Encoding``; None for none."""
    weights: dict[str, float] = {}
    for entry in accepted.lower().split(","):
        name, _, parameter = entry.partition(";")
        key, _, weight = parameter.partition("=")
        try:
            weights[name.strip()] = float(weight) if key.strip() == "q" else 1.0
        except ValueError:
            weights[name.strip()] = 0.0
    found = {name: weights.get(name, weights.get("*", 0.0)) for name in ENCODINGS}
    best = max(found, key=lambda name: found[name])
    return best if found[best] > 0 else None


def deflate(data: bytes, encoding: str) -> bytes:
    """``data`` in this encoding. Any thread."""
    stream = zlib.compressobj(LEVEL, wbits=ENCODINGS[encoding])
    return stream.compress(data) + stream.flush()
