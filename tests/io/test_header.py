"""What a header must be, and what is said of one that is not."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from aioarray import io
from aioarray.errors import FormatError
from aioarray.io import _header
from tests.io.files import file_bytes, tensor, write

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"w": tensor("F32", [2], 0, 8), "b": tensor("U8", [3], 8, 11)}


def refused(path: Path, content: bytes) -> str:
    """What the error says about a file with ``content``."""
    name = write(path / "x.safetensors", content)
    with pytest.raises(FormatError) as caught:
        io.load_safetensors(name)
    text = str(caught.value)
    assert text.startswith(name)
    return text.removeprefix(name + ": ")


def test_a_good_file_is_read(tmp_path: Path) -> None:
    data = np.array([1.5, -2.0], "<f4").tobytes() + bytes([7, 8, 9])
    name = write(tmp_path / "x.safetensors", file_bytes(GOOD, data))
    tensors = io.load_safetensors(name)
    assert list(tensors) == ["w", "b"]
    np.testing.assert_array_equal(tensors["w"], np.array([1.5, -2.0], np.float32), strict=True)
    np.testing.assert_array_equal(tensors["b"], np.array([7, 8, 9], np.uint8), strict=True)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "0 bytes are too short"),
        (b"\x02\x00\x00", "3 bytes are too short"),
        (file_bytes({}) + b"x", "1 bytes at the end, from byte 10"),
        (b"PK\x03\x04 a zip file", "at most 100000000 are allowed"),
        ((101).to_bytes(8, "little") + b"{}" * 50, "should have 101 bytes, but only 100 follow"),
        ((100_000_001).to_bytes(8, "little") + b"{}", "at most 100000000 are allowed"),
        (b"\xff" * 8 + b"{}", "at most 100000000 are allowed"),
        (file_bytes(b""), "byte 8 should be '{'"),
        (file_bytes(b" {}"), "byte 8 should be '{'"),
        (file_bytes(b"[]"), "byte 8 should be '{'"),
        (file_bytes(b"{"), "the header is not JSON"),
        (file_bytes(b"{} {}"), "the header is not JSON"),
        (file_bytes(b'{"\xff": 1}'), "the header is not JSON"),
        (file_bytes(b'{"\\ud800": 1}'), "the header is not JSON"),
        (file_bytes(b'{"w":' + b"[" * 100_000), "the header"),
        (file_bytes(b'{"w":' + b"9" * 5000 + b"}"), "the header is not JSON"),
        (file_bytes(b'{"w": NaN}'), "NaN is not allowed"),
        (file_bytes(b'{"a": 1, "a": 1}'), "the key 'a' is there twice"),
        (file_bytes(b'{"a": {"dtype": "U8", "dtype": "I8"}}'), "the key 'dtype' is there twice"),
        (file_bytes({"__metadata__": {"a": 1}}), "__metadata__ must be an object of strings"),
        (file_bytes({"__metadata__": []}), "__metadata__ must be an object of strings"),
    ],
)
def test_what_is_no_header(tmp_path: Path, content: bytes, expected: str) -> None:
    assert expected in refused(tmp_path, content)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (1, "must be an object of dtype, shape and data_offsets"),
        ({"dtype": "U8", "shape": [4]}, "must be an object of dtype, shape and data_offsets"),
        ({**tensor("U8", [4], 0, 4), "more": 1}, "must be an object of dtype, shape and data_offsets"),
        (tensor("F33", [1], 0, 4), "dtype 'F33' is unknown"),
        (tensor("f32", [1], 0, 4), "dtype 'f32' is unknown"),
        (tensor(["F32"], [1], 0, 4), "dtype ['F32'] is unknown"),
        (tensor("F32", 1, 0, 4), "shape 1 is no list"),
        (tensor("F32", [1.0], 0, 4), "shape [1.0] is no list"),
        (tensor("F32", [True], 0, 4), "shape [True] is no list"),
        (tensor("F32", [-1, -1], 0, 4), "shape [-1, -1] is no list"),
        (tensor("F32", [2**63, 0], 0, 0), "shape [9223372036854775808, 0] is no list"),
        (tensor("F32", [1] * 65, 0, 4), "is no list of at most 64 lengths"),
        ({"dtype": "U8", "shape": [4], "data_offsets": [0]}, "data_offsets [0] are no two"),
        (tensor("U8", [4], 0, 4.0), "data_offsets [0, 4.0] are no two"),
        (tensor("U8", [4], -4, 0), "data_offsets [-4, 0] are no two"),
        (tensor("U8", [4], 4, 0), "data_offsets [4, 0] are -32 bits"),
        (tensor("F32", [2], 0, 4), "data_offsets [0, 4] are 32 bits, but F32 of shape [2] takes 64"),
        (tensor("F64", [2**40, 2**40], 0, 4), "takes 77371252455336267181195264"),
        (tensor("F6_E2M3", [1], 0, 1), "takes 6"),
        (tensor("F32", [0, 2**61], 0, 0), "shape [0, 2305843009213693952] is too large for an array"),
        (tensor("U8", [5], 0, 5), "ends at byte"),
        (tensor("U8", [3], 1, 4), "they leave a gap"),
        (tensor("U8", [2], 0, 2), "2 bytes at the end"),
    ],
)
def test_an_entry_that_lies(tmp_path: Path, entry: Any, expected: str) -> None:
    text = refused(tmp_path, file_bytes({"w": entry}, b"\x00" * 4))
    assert expected in text
    assert "'w'" in text or "at the end" in text


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0, 4), (2, 6), "tensor 'b' begins at byte"),
        ((0, 4), (0, 4), "they overlap"),
        ((0, 6), (1, 3), "they overlap"),
        ((0, 2), (4, 6), "they leave a gap"),
    ],
)
def test_tensors_must_follow_each_other(
    tmp_path: Path, first: tuple[int, int], second: tuple[int, int], expected: str
) -> None:
    header = {"a": tensor("U8", [first[1] - first[0]], *first), "b": tensor("U8", [second[1] - second[0]], *second)}
    assert expected in refused(tmp_path, file_bytes(header, b"\x00" * 6))


@pytest.mark.parametrize(
    "note",
    [
        "no JSON",
        "[]",
        "[" * 100_000,
        '{"x": "int4"}',
        '{"w": "int5"}',
        '{"w": ["int4"]}',
        '{"w": "int4"}',
        '{"p": "complex128"}',
    ],
)
def test_a_note_on_dtypes_that_does_not_fit(tmp_path: Path, note: str) -> None:
    header = {"w": tensor("F32", [1], 0, 4), "p": tensor("F64", [1], 4, 12), "__metadata__": {"aioarray.dtypes": note}}
    assert "'aioarray.dtypes'" in refused(tmp_path, file_bytes(header, b"\x00" * 12))


def test_values_that_are_not_of_their_dtype(tmp_path: Path) -> None:
    assert "boolean 2, which must be 0 or 1" in refused(
        tmp_path, file_bytes({"w": tensor("BOOL", [3], 0, 3)}, bytes([0, 1, 2]))
    )
    note = {"__metadata__": {"aioarray.dtypes": '{"w": "int4"}'}}
    assert "but has values -9..7" in refused(
        tmp_path, file_bytes({"w": tensor("I8", [2], 0, 2), **note}, bytes([7, 256 - 9]))
    )


@pytest.mark.parametrize("dtype", ["F8_E8M0", "F4", "F6_E3M2"])
def test_tensors_of_dtypes_that_we_lack_can_be_left_out(tmp_path: Path, dtype: str) -> None:
    size = {"F8_E8M0": 8, "F4": 4, "F6_E3M2": 6}[dtype]
    header = {"scale": tensor(dtype, [8], 0, size), "w": tensor("U8", [1], size, size + 1)}
    content = file_bytes(header, bytes(range(size + 1)))
    assert f"tensor 'scale' has dtype {dtype}, for which aioarray has none" in refused(tmp_path, content)
    with io.open_safetensors(tmp_path / "x.safetensors") as reader:
        assert list(reader) == ["scale", "w"]
        assert list(reader.specs) == ["w"]
        assert reader["w"].tolist() == [size]


def test_nothing_is_allocated_on_the_word_of_a_header(tmp_path: Path) -> None:
    contents = [
        (99_999_999).to_bytes(8, "little") + b"{}",
        file_bytes({"w": tensor("F32", [2**28], 0, 2**30)}),
        file_bytes({"w": tensor("F32", [2**40], 0, 2**42)}, b"\x00" * 100),
    ]
    refused(tmp_path, contents[0])  # what a first call allocates for good
    tracemalloc.start()
    try:
        for content in contents:
            refused(tmp_path, content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_an_empty_file_of_no_tensors_is_one(tmp_path: Path) -> None:
    assert io.load_safetensors(write(tmp_path / "x", file_bytes({}))) == {}
    assert io.load_safetensors(write(tmp_path / "y", file_bytes(b"{}     "))) == {}


def test_empty_tensors_and_scalars(tmp_path: Path) -> None:
    header = {
        "none": tensor("F32", [0, 3], 0, 0),
        "one": tensor("F32", [], 0, 4),
        "none again": tensor("I64", [2, 0], 4, 4),
    }
    tensors = io.load_safetensors(write(tmp_path / "x", file_bytes(header, np.float32(3).tobytes())))
    assert {name: x.shape for name, x in tensors.items()} == {"none": (0, 3), "one": (), "none again": (2, 0)}
    assert tensors["one"].item() == 3.0


def mutations(content: bytes, count: int, seed: int) -> list[bytes]:
    """``content`` with bytes changed, put in, left out, or pieces moved."""
    draw = random.Random(seed)
    result = []
    for _ in range(count):
        changed = bytearray(content)
        for _ in range(draw.choice((1, 1, 2, 5))):
            place = draw.randrange(len(changed))
            kind = draw.randrange(5)
            if kind == 0:
                changed[place] = draw.randrange(256)
            elif kind == 1:
                changed[place] ^= 1 << draw.randrange(8)
            elif kind == 2:
                changed.insert(place, draw.choice(b'0129"{}[],:-\x00'))
            elif kind == 3 and len(changed) > 9:
                del changed[place : place + draw.randrange(1, 5)]
            else:
                changed[place : place + 4] = changed[(at := draw.randrange(len(changed))) : at + 4]
        result.append(bytes(changed))
    return result


def test_mutated_files_are_refused_or_read_but_nothing_else(tmp_path: Path) -> None:
    header = {"w": tensor("F32", [2, 1], 0, 8), "m": tensor("BOOL", [3], 8, 11), "__metadata__": {"a": "b"}}
    content = file_bytes(header, np.array([1.0, 2.0], np.float32).tobytes() + b"\x00\x01\x00")
    outcomes = {"read": 0, "refused": 0}
    for mutated in mutations(content, 3000, seed=1):
        try:
            length = _header.header_length(mutated[:8], len(mutated), "file")
            parsed = _header.parse(mutated[8 : 8 + length], len(mutated), "file")
        except FormatError:
            outcomes["refused"] += 1
            continue
        # Whatever is said to be there is there, once.
        assert sum(entry.nbytes for entry in parsed.entries.values()) == len(mutated) - 8 - length
        json.loads(mutated[8 : 8 + length])
        outcomes["read"] += 1
        flags = parsed.entries.get("m")
        if flags is None or max(mutated[flags.start :][:3]) <= 1:
            assert io.load_safetensors(write(tmp_path / "x", mutated)).keys() == parsed.entries.keys()
    assert outcomes["refused"] > 1000
    assert outcomes["read"] > 20
