"""NumPy's files: what NumPy reads of ours and we of NumPy's, and files that are damaged or lie."""

from __future__ import annotations

import asyncio
import io as bytes_io
import os
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray.errors import FormatError
from aioarray.io._npy_write import STORED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DTYPES = sorted(STORED, key=str)


def load(path: Path) -> Any:
    return asyncio.run(aio.load(path))


def npy_bytes(value: np.ndarray) -> bytes:
    file = bytes_io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def with_header(text: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    head = text.encode("latin1")
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(head))
    return b"\x93NUMPY" + version + length + head + data


def assert_same(x: Any, expected: np.ndarray) -> None:
    assert isinstance(x, aio.Array)
    assert (x.dtype, x.shape) == (expected.dtype.newbyteorder("="), expected.shape)
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_stored_dtypes_are_numpys() -> None:
    assert {np.dtype(name) for name in ("bool", "int8", "uint64", "float16", "float64", "complex64")} <= STORED
    assert not {np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.float8_e5m2)} & STORED


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_array_both_ways(tmp_path: Path, dtype: np.dtype) -> None:
    for i, shape in enumerate([(), (0, 3), (6,), (2, 3)]):
        value = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
        asyncio.run(aio.save(tmp_path / f"ours{i}.npy", value))
        theirs = np.load(tmp_path / f"ours{i}.npy", allow_pickle=False)
        assert (theirs.dtype, theirs.shape, theirs.tobytes()) == (dtype, shape, value.tobytes())
        for form in (value, value.copy(order="F"), value.astype(dtype.newbyteorder(">"))):
            np.save(tmp_path / "theirs.npy", form)
            assert_same(load(tmp_path / "theirs.npy"), value)


@pytest.mark.parametrize("save", [aio.savez, aio.savez_compressed])
def test_several_arrays_both_ways(tmp_path: Path, save: Callable[..., Any]) -> None:
    values: dict[str, Any] = {
        "arr_0": np.arange(6.0).reshape(2, 3),
        "w": np.float32(2),
        "path": np.zeros((0, 2), np.int16),
    }
    asyncio.run(save(tmp_path / "x.npz", values["arr_0"], w=values["w"], path=values["path"]))
    with np.load(tmp_path / "x.npz", allow_pickle=False) as theirs:
        assert sorted(theirs) == sorted(values)
        for name, value in values.items():
            np.testing.assert_array_equal(theirs[name], value, strict=True)
    loaded = load(tmp_path / "x.npz")
    assert list(loaded) == list(values)
    for write in (np.savez, np.savez_compressed):
        write(tmp_path / "theirs.npz", **values)
        loaded = load(tmp_path / "theirs.npz")
        assert loaded.keys() == values.keys()
        for name, value in values.items():
            assert_same(loaded[name], np.asarray(value))


def test_more_than_one_piece(tmp_path: Path) -> None:
    value = np.arange(2_500_000, dtype=np.int64)
    asyncio.run(aio.savez_compressed(tmp_path / "x.npz", x=value))
    assert_same(load(tmp_path / "x.npz")["x"], value)
    asyncio.run(aio.save(tmp_path / "x.npy", aio.asarray(value)))
    assert_same(load(tmp_path / "x.npy"), value)


def test_pending_arrays_and_the_ending_of_the_name(tmp_path: Path) -> None:
    async def main() -> None:
        x = aio.ones(3) + 1
        await aio.save(tmp_path / "x", x)
        await aio.savez(tmp_path / "y.dat", x)

    asyncio.run(main())
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "y.dat.npz"]
    assert_same(load(tmp_path / "x.npy"), np.full(3, 2, np.float32))


def test_the_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        asyncio.run(aio.savez(tmp_path / name, x=[1, 2]))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"save: NumPy's files have no dtype bfloat16; .*astype.*safetensors"):
        asyncio.run(aio.save(tmp_path / "x.npy", aio.ones(2, dtype=aio.bfloat16)))
    with pytest.raises(TypeError, match=r"savez: .* int4 \(array 'w'\)"):
        asyncio.run(aio.savez(tmp_path / "x.npz", w=np.ones(2, ml_dtypes.int4)))
    with pytest.raises(TypeError, match=r"\(array 'w'\)"):
        asyncio.run(aio.savez(tmp_path / "x.npz", w="text"))
    with pytest.raises(ValueError, match="'arr_0' is the name"):
        asyncio.run(aio.savez(tmp_path / "x.npz", [1], arr_0=[2]))
    assert os.listdir(tmp_path) == []


WHOLE = npy_bytes(np.arange(4.0))
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "neither"),
    "other": (b"hello world", "neither"),
    "magic alone": (WHOLE[:6], "no header"),
    "cut header": (WHOLE[:40], "no header"),
    "cut data": (WHOLE[:-1], "cut off"),
    "more": (WHOLE + b"x", "would be lost"),
    "pickle": (npy_bytes(np.array([{}], object)), "holds dtype.*'O'"),
    "strings": (npy_bytes(np.array(["a"])), "not one of"),
    "bfloat16": (npy_bytes(np.ones(2, ml_dtypes.bfloat16)), "not one of"),
    "records": (npy_bytes(np.zeros(2, [("a", "i4")])), "not one of"),
    "boolean": (npy_bytes(np.zeros(2, bool))[:-1] + b"\x02", "has a boolean 2"),
    "version": (WHOLE[:6] + b"\x07\x00" + WHOLE[8:], "version"),
    "code": (with_header("{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': ()}\n"), "no header"),
    "nested": (with_header("(" * 9000), "no header"),
    "long": (with_header("{'descr': '<f8'}", version=b"\x02\x00")[:8] + b"\xff\xff\xff\xff", "no header"),
    "negative": (with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }\n", bytes(8)), "lengths"),
    "boolean length": (with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (True,), }\n", bytes(8)), "leng"),
    "huge": (with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }\n"), "too large"),
    "large": (with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"), "cut off"),
    "none": (with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2305843009213693952), }\n"), "large"),
    "dimensions": (
        with_header(f"{{'descr': '|u1', 'fortran_order': False, 'shape': {(1,) * 80}, }}\n", b"1"),
        "at most",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_npy(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(FormatError, match=rf"x\.npy: .*{message}"):
        load(tmp_path / "x.npy")


def npz_bytes(parts: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = bytes_io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return file.getvalue()


def replaced(content: bytes, old: bytes, new: bytes) -> bytes:
    assert old in content
    return content.replace(old, new)


DEFLATED = npz_bytes([("a.npy", WHOLE)], zipfile.ZIP_DEFLATED)
BAD_ARCHIVES: dict[str, tuple[bytes, str]] = {
    "cut": (npz_bytes([("a.npy", WHOLE)])[:-30], "no whole .npz"),
    "no array": (npz_bytes([("readme.txt", b"hello")]), "is no array"),
    "other compression": (npz_bytes([("a.npy", WHOLE)], zipfile.ZIP_LZMA), "compressed otherwise"),
    "damaged part": (npz_bytes([("a.npy", WHOLE[:-1])]), "array 'a': .*cut off"),
    "checksum": (replaced(npz_bytes([("a.npy", WHOLE)]), WHOLE[-8:], bytes(8)), "array 'a': is damaged"),
    "bomb": (replaced(DEFLATED, struct.pack("<I", len(WHOLE)), struct.pack("<I", 1 << 30)), "cannot become"),
    "pickle": (npz_bytes([("a.npy", npy_bytes(np.array([None], object)))]), "array 'a': holds"),
}


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_damaged_npz(tmp_path: Path, name: str) -> None:
    content, message = BAD_ARCHIVES[name]
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(FormatError, match=rf"x\.npz: .*{message}"):
        load(tmp_path / "x.npz")


def test_an_array_that_is_there_twice(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        (tmp_path / "x.npz").write_bytes(npz_bytes([("a.npy", WHOLE), ("a.npy", WHOLE)]))
    with pytest.raises(FormatError, match="'a': is there twice"):
        load(tmp_path / "x.npz")


@pytest.mark.parametrize("whole", [WHOLE, npz_bytes([("a.npy", WHOLE)]), DEFLATED], ids=["npy", "npz", "deflated"])
def test_any_byte_may_be_wrong(tmp_path: Path, whole: bytes) -> None:
    async def main() -> int:
        refused = 0
        for i in range(len(whole)):
            (tmp_path / "x").write_bytes(whole[:i] + bytes([whole[i] ^ 0x41]) + whole[i + 1 :])
            try:
                await aio.load(tmp_path / "x")
            except FormatError:
                refused += 1
        return refused

    assert asyncio.run(main()) >= 20


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is no regular file"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "x.npy")
