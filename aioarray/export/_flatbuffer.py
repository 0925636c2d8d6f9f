"""Reading and writing flatbuffers, the part of the format that files of ``jax.export`` use.

The package ``flatbuffers`` trusts its input: an offset that points outside, or at itself, makes it fail in whatever
way, or read what is not meant. Here every read is checked, so that it is either what the format says or a
``FormatError``; and it takes no code generated from a schema. The format: https://flatbuffers.dev/internals/
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NoReturn, TypeVar

from .._base.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

# struct's codes by their sizes, little-endian.
_SIZES = {"B": 1, "b": 1, "?": 1, "H": 2, "h": 2, "I": 4, "i": 4, "Q": 8, "q": 8}


class Buffer:
    """The bytes of a file, with checked reads. ``source`` names it in messages."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.source = source
        # Tables that may still be visited. Offsets lead forward only, so there is no cycle; but tables that are
        # shared could stand for more than there is memory. A writer that shares none needs 8 bytes for each and its
        # offset.
        self.budget = len(data) // 8 + 1

    def fail(self, position: int, what: str) -> NoReturn:
        raise FormatError(f"{self.source}: byte {position}: {what}; the file is damaged, or no file of jax.export")

    def number(self, position: int, code: str) -> int:
        if not 0 <= position <= len(self.data) - _SIZES[code]:
            self.fail(position, "a number lies outside of the file")
        value: int = struct.unpack_from("<" + code, self.data, position)[0]
        return value

    def follow(self, position: int) -> int:
        """Where the offset at ``position`` leads."""
        offset = self.number(position, "I")
        if offset == 0 or position + offset > len(self.data):
            self.fail(position, f"an offset of {offset} leads nowhere")
        return position + offset

    def vector(self, position: int, size: int) -> tuple[int, int]:
        """First element and number of elements of the vector at ``position``, whose elements have ``size`` bytes."""
        count = self.number(position, "I")
        if count * size > len(self.data) - position - 4:
            self.fail(position, f"{count} elements of {size} bytes do not fit")
        return position + 4, count

    def root(self) -> Table:
        """The table that the file is."""
        return Table(self, self.follow(0))


class Table:
    """A table: fields by number, each of which may be missing."""

    __slots__ = ("_buffer", "_count", "_fields", "position")

    def __init__(self, buffer: Buffer, position: int) -> None:
        buffer.budget -= 1
        if buffer.budget < 0:
            buffer.fail(position, "it holds more tables than a file of its size can")
        start = position - buffer.number(position, "i")
        size = buffer.number(start, "H")
        if size < 4 or size % 2 or start + size > len(buffer.data):
            buffer.fail(start, f"a list of fields of {size} bytes")
        self._buffer = buffer
        self._fields = start + 4
        self._count = size // 2 - 2
        self.position = position

    def _place(self, field: int) -> int | None:
        offset = self._buffer.number(self._fields + 2 * field, "H") if field < self._count else 0
        return self.position + offset if offset else None

    def number(self, field: int, code: str, default: int = 0) -> int:
        place = self._place(field)
        return default if place is None else self._buffer.number(place, code)

    def _target(self, field: int) -> int | None:
        place = self._place(field)
        return None if place is None else self._buffer.follow(place)

    def table(self, field: int) -> Table | None:
        target = self._target(field)
        return None if target is None else Table(self._buffer, target)

    def raw(self, field: int) -> bytes:
        """A vector of bytes; empty if it is missing."""
        target = self._target(field)
        return b"" if target is None else self._raw(target)

    def _raw(self, position: int) -> bytes:
        start, count = self._buffer.vector(position, 1)
        return self._buffer.data[start : start + count]

    def text(self, field: int) -> str:
        target = self._target(field)
        return "" if target is None else self._text(target)

    def _text(self, position: int) -> str:
        try:
            return self._raw(position).decode()
        except UnicodeDecodeError:
            self._buffer.fail(position, "a string is no UTF-8")

    def numbers(self, field: int, code: str) -> list[int]:
        target = self._target(field)
        if target is None:
            return []
        start, count = self._buffer.vector(target, _SIZES[code])
        return list(struct.unpack_from(f"<{count}{code}", self._buffer.data, start))

    def _each(self, field: int, read: Callable[[int], T]) -> list[T]:
        target = self._target(field)
        if target is None:
            return []
        start, count = self._buffer.vector(target, 4)
        return [read(self._buffer.follow(start + 4 * i)) for i in range(count)]

    def texts(self, field: int) -> list[str]:
        return self._each(field, self._text)

    def tables(self, field: int) -> list[Table]:
        return self._each(field, lambda position: Table(self._buffer, position))

    def fail(self, what: str) -> NoReturn:
        """``FormatError`` at this table."""
        self._buffer.fail(self.position, what)


class Builder:
    """Writes a file from its end to its beginning, as offsets lead forward: what is referred to is written first.

    A reference is the distance of an object from the end of the file.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # the last one comes first in the file
        self._size = 0

    def _put(self, piece: bytes) -> int:
        self._pieces.append(piece)
        self._size += len(piece)
        return self._size

    def _align(self, size: int, following: int) -> None:
        """Pad so that what is put after ``following`` bytes more is at a multiple of ``size``."""
        self._put(b"\0" * (-(self._size + following) % size))

    def raw(self, data: bytes, terminated: bool = False) -> int:
        """A vector of bytes."""
        end = b"\0" if terminated else b""
        self._align(4, len(data) + len(end))
        self._put(data + end)
        return self._put(struct.pack("<I", len(data)))

    def text(self, value: str) -> int:
        """A string, which a zero follows."""
        return self.raw(value.encode(), terminated=True)

    def numbers(self, values: Sequence[int], code: str) -> int:
        """A vector of numbers."""
        size = _SIZES[code]
        self._align(max(size, 4), size * len(values))
        self._put(struct.pack(f"<{len(values)}{code}", *values))
        return self._put(struct.pack("<I", len(values)))

    def references(self, targets: Sequence[int]) -> int:
        """A vector of offsets to what was written before."""
        self._align(4, 4 * len(targets))
        for target in reversed(targets):
            self._put(struct.pack("<I", self._size + 4 - target))
        return self._put(struct.pack("<I", len(targets)))

    def table(self, fields: Sequence[tuple[int, str, int]]) -> int:
        """A table of (number, code, value); code "o" is a reference. Fields of value 0 are left out, as the default."""
        given = [field for field in fields if field[2]]
        count = 1 + max((number for number, _, _ in given), default=-1)
        # The fields by size, so that each is aligned, and the offset of the list of fields before them.
        places: dict[int, int] = {}
        body: list[tuple[str, int, int]] = []
        offset = 4
        for number, code, value in sorted(given, key=lambda field: -_SIZES.get(field[1], 4)):
            places[number] = offset
            body.append((code, value, offset))
            offset += _SIZES.get(code, 4)
        length = offset
        self._align(4, length)
        end = self._size + length  # where the table begins, from the end of the file
        packed = bytearray(length)
        for code, value, place in body:
            if code == "o":
                struct.pack_into("<I", packed, place, end - place - value)
            else:
                struct.pack_into("<" + code, packed, place, value)
        listed = struct.pack(f"<{2 + count}H", 4 + 2 * count, length, *(places.get(i, 0) for i in range(count)))
        struct.pack_into("<i", packed, 0, len(listed))
        self._put(bytes(packed))
        self._put(listed)
        return end

    def finish(self, root: int) -> bytes:
        """The file, whose root is the table ``root``."""
        self._align(4, 4)
        self._put(struct.pack("<I", self._size + 4 - root))
        return b"".join(reversed(self._pieces))
