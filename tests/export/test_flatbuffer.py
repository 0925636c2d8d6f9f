"""The reader of flatbuffers on files written byte by byte, and on those that our builder writes."""

from __future__ import annotations

import struct

import pytest

from aioarray.errors import FormatError
from aioarray.export._flatbuffer import Buffer, Builder, Table


def root(data: bytes) -> Table:
    return Buffer(data, "file").root()


def words(*values: int | bytes) -> bytes:
    return b"".join(value if isinstance(value, bytes) else struct.pack("<I", value) for value in values)


# A list of fields (8 bytes: its size, the table's, two offsets), then the table: back to the list, a number, an offset.
FIELDS = struct.pack("<4H", 8, 12, 4, 8)
BY_HAND = words(12, FIELDS, 8, 7, 4, 2, b"hi\0\0")


def test_a_file_written_by_hand() -> None:
    table = root(BY_HAND)
    assert table.number(0, "I") == 7
    assert table.number(0, "H") == 7
    assert table.text(1) == "hi"
    assert table.raw(1) == b"hi"
    assert table.numbers(1, "B") == [104, 105]
    # What is not there is the default.
    assert table.number(2, "I", 5) == 5
    assert (table.text(9), table.raw(9), table.numbers(9, "I"), table.tables(9), table.texts(9)) == (
        "",
        b"",
        [],
        [],
        [],
    )
    assert table.table(9) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0: a number lies outside"),
        (b"\x04\0\0", "byte 0: a number lies outside"),
        (words(0), "byte 0: an offset of 0 leads nowhere"),
        (words(2**32 - 1), "byte 0: an offset of 4294967295 leads nowhere"),
        (words(4), "byte 4: a number lies outside"),
        (words(4, 2**31 - 1), "a number lies outside"),
        (words(4, 2**32 - 8), "a number lies outside"),
        (words(12, struct.pack("<4H", 9, 12, 4, 8), 8, 7, 4, 2, b"hi\0\0"), "byte 4: a list of fields of 9 bytes"),
        (words(12, struct.pack("<4H", 2, 12, 4, 8), 8, 7, 4, 2, b"hi\0\0"), "byte 4: a list of fields of 2 bytes"),
        (words(12, struct.pack("<4H", 60, 12, 4, 8), 8, 7, 4, 2, b"hi\0\0"), "byte 4: a list of fields of 60 bytes"),
    ],
)
def test_what_is_no_table(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        root(data)
    assert str(caught.value).startswith("file: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "tail", "message"),
    [
        ((4, 8), (8, 7, 0, 2, b"hi\0\0"), "an offset of 0 leads nowhere"),
        ((4, 8), (8, 7, 99, 2, b"hi\0\0"), "an offset of 99 leads nowhere"),
        ((4, 8), (8, 7, 4, 2**31, b"hi\0\0"), "2147483648 elements of 1 bytes do not fit"),
        ((4, 8), (8, 7, 4, 2, b"\xff\xff\0\0"), "a string is no UTF-8"),
        ((4, 400), (8, 7, 4, 2, b"hi\0\0"), "a number lies outside"),
    ],
)
def test_what_is_no_text(fields: tuple[int, int], tail: tuple[int | bytes, ...], message: str) -> None:
    table = root(words(12, struct.pack("<4H", 8, 12, *fields), *tail))
    with pytest.raises(FormatError, match=message):
        table.text(1)


def test_a_number_outside_of_the_file() -> None:
    table = root(words(12, struct.pack("<4H", 8, 12, 18, 8), 8, 7, 4, 2, b"hi\0\0"))
    assert table.number(0, "H") == 0
    with pytest.raises(FormatError, match="byte 30: a number lies outside"):
        table.number(0, "I")


def test_tables_that_stand_for_more_than_the_file_can_hold() -> None:
    # Each table's only field is a vector of a hundred offsets to one other table: a hundred to the power of 20.
    builder = Builder()
    table = builder.table([(1, "I", 1)])
    for _ in range(20):
        table = builder.table([(0, "o", builder.references([table] * 100))])
    data = builder.finish(table)

    def count(table: Table) -> int:
        return 1 + sum(map(count, table.tables(0)))

    with pytest.raises(FormatError, match="more tables than a file of its size can"):
        count(root(data))


def test_what_the_builder_writes_is_read() -> None:
    builder = Builder()
    text, empty = builder.text("naïve"), builder.text("")
    inner = builder.table([(3, "h", -2), (0, "o", text)])
    fields = [
        (0, "B", 200),
        (1, "b", -1),
        (2, "H", 65535),
        (3, "I", 2**32 - 1),
        (4, "o", text),
        (5, "o", builder.raw(b"\0\1\2")),
        (6, "o", builder.numbers([1, 2, 3], "H")),
        (7, "o", builder.references([inner, inner, builder.table([])])),
        (8, "o", builder.references([empty, text])),
        (9, "?", 1),
        (10, "I", 0),
        (12, "o", builder.references([])),
        (13, "o", builder.numbers([7, 8], "I")),
    ]
    data = builder.finish(builder.table(fields))
    assert len(data) % 4 == 0
    table = root(data)
    assert [table.number(i, code) for i, code in ((0, "B"), (1, "b"), (2, "H"), (3, "I"), (9, "?"), (10, "I"))] == [
        200,
        -1,
        65535,
        2**32 - 1,
        1,
        0,
    ]
    assert table.text(4) == "naïve"
    assert table.raw(5) == b"\0\1\2"
    assert table.numbers(6, "H") == [1, 2, 3]
    assert [(inner.number(3, "h"), inner.text(0)) for inner in table.tables(7)] == [(-2, "naïve")] * 2 + [(0, "")]
    assert table.texts(8) == ["", "naïve"]
    assert table.tables(12) == []
    assert table.numbers(13, "I") == [7, 8]


def test_the_package_flatbuffers_reads_what_the_builder_writes() -> None:
    package = pytest.importorskip("flatbuffers", reason="the package flatbuffers is not installed")
    builder = Builder()
    data = builder.finish(
        builder.table([(0, "H", 3), (1, "o", builder.text("hello")), (2, "o", builder.numbers([5], "I"))])
    )
    position = package.encode.Get(package.packer.uoffset, data, 0)
    table = package.table.Table(data, position)
    assert table.Get(package.number_types.Uint16Flags, position + table.Offset(4)) == 3
    assert table.String(position + table.Offset(6)) == b"hello"
    assert table.VectorLen(table.Offset(8)) == 1
    assert table.Get(package.number_types.Uint32Flags, table.Vector(table.Offset(8))) == 5
