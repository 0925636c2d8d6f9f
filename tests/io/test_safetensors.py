"""Reading and writing: round trips, other implementations, parts, shards, event loops."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import tracemalloc
from typing import TYPE_CHECKING, Any

import anyio
import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import _xla, io
from aioarray._base import dtypes
from aioarray.errors import FormatError
from aioarray.io import _file
from tests.io.files import file_bytes, tensor, write

if TYPE_CHECKING:
    from pathlib import Path

VALUES = [0, 1, 2, 3, 4, 5]


def of_every_dtype() -> dict[str, np.ndarray]:
    return {dtype.name: np.array(VALUES).astype(dtype).reshape(2, 3) for dtype in dtypes.ALL}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.safetensors"


def assert_same(tensors: dict[str, aio.Array], expected: dict[str, np.ndarray]) -> None:
    assert tensors.keys() == expected.keys()
    for name, x in tensors.items():
        assert x.dtype == expected[name].dtype
        assert x.shape == expected[name].shape
        assert np.asarray(x).tobytes() == expected[name].tobytes(), name


@pytest.mark.parametrize("memory_map", [False, True])
def test_every_dtype_comes_back(path: Path, memory_map: bool) -> None:
    tensors = of_every_dtype()
    tensors |= {"scalar": np.float32(2.5).reshape(()), "none": np.zeros((0, 4), np.int16)}
    tensors |= {"nan": np.array([np.nan, -0.0, np.inf], ml_dtypes.bfloat16), "a name\n\u1234": np.zeros(1)}
    io.save_safetensors(path, tensors)
    assert_same(io.load_safetensors(path, memory_map=memory_map), tensors)


def test_arrays_and_everything_that_becomes_one_are_written(path: Path) -> None:
    x = aio.asarray([1.0, 2.0])
    strided = np.arange(6).reshape(2, 3).T
    io.save_safetensors(path, {"pending": x + x, "list": [1, 2], "number": 3.0, "strided": strided})
    tensors = io.load_safetensors(path)
    assert {name: y.tolist() for name, y in tensors.items()} == {
        "pending": [2.0, 4.0],
        "list": [1, 2],
        "number": 3.0,
        "strided": [[0, 3], [1, 4], [2, 5]],
    }
    assert tensors["list"].dtype == np.int32  # the default integral dtype, as of any list of numbers
    assert tensors["number"].dtype == np.float32


def test_the_same_tensors_give_the_same_bytes_aligned(path: Path) -> None:
    tensors = {"b": np.zeros(3, np.int8), "a": np.zeros(5, np.float64), "c": np.zeros(32, np.int8), "w": np.zeros(32)}
    io.save_safetensors(path, tensors, metadata={"k": "v"})
    first = path.read_bytes()
    io.save_safetensors(path, dict(reversed(tensors.items())), metadata={"k": "v"})
    assert path.read_bytes() == first
    length = int.from_bytes(first[:8], "little")
    assert (8 + length) % 64 == 0
    header = json.loads(first[8 : 8 + length])
    offsets = {name: header[name]["data_offsets"][0] for name in tensors}
    # What is a multiple of 64 bytes first, and then by the size of the elements.
    assert offsets == {"w": 0, "a": 256, "b": 296, "c": 299}


def test_wrong_arguments_of_save(path: Path) -> None:
    with pytest.raises(TypeError, match="the name 1 is no string"):
        io.save_safetensors(path, {1: [1.0]})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="'__metadata__' is reserved"):
        io.save_safetensors(path, {"__metadata__": [1.0]})
    with pytest.raises(TypeError, match="both must be strings"):
        io.save_safetensors(path, {}, metadata={"step": 1})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"'aioarray\.dtypes' is reserved"):
        io.save_safetensors(path, {}, metadata={"aioarray.dtypes": "{}"})
    with pytest.raises(TypeError, match=r"not an array of numbers.*tensor 'w'"):
        io.save_safetensors(path, {"w": object()})  # type: ignore[dict-item]
    assert list(path.parent.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.save_safetensors(path, {"w": [1.0]})

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        io.save_safetensors(path, {"w": [2.0]})
    assert io.load_safetensors(path)["w"].tolist() == [1.0]
    assert list(path.parent.iterdir()) == [path]


# Other implementations


def test_our_files_open_in_the_safetensors_package(path: Path) -> None:
    package = pytest.importorskip("safetensors.numpy", reason="the package safetensors is not installed")
    tensors = {name: of_every_dtype()[name] for name in ("bool", "int8", "uint64", "float16", "float32")}
    io.save_safetensors(path, tensors, metadata={"format": "pt"})
    found = package.load_file(path)
    assert found.keys() == tensors.keys()
    for name, x in tensors.items():
        np.testing.assert_array_equal(found[name], x, strict=True)


def test_files_with_our_own_dtypes_open_in_the_safetensors_package(path: Path) -> None:
    package = pytest.importorskip("safetensors", reason="the package safetensors is not installed")
    io.save_safetensors(path, {name: of_every_dtype()[name] for name in ("int4", "uint4", "complex128")})
    with package.safe_open(path, framework="np") as file:
        assert file.get_tensor("int4").tolist() == [[0, 1, 2], [3, 4, 5]]
        assert file.get_tensor("uint4").dtype == np.uint8
        assert file.get_tensor("complex128").shape == (2, 3, 2)


def test_our_bfloat16_and_float8_open_in_torch(path: Path) -> None:
    package = pytest.importorskip("safetensors.torch", reason="the packages safetensors and torch are not installed")
    names = "bfloat16", "float8_e4m3fn", "float8_e5m2"
    io.save_safetensors(path, {name: of_every_dtype()[name] for name in names})
    for name, x in package.load_file(path).items():
        assert str(x.dtype) == f"torch.{name}"
        assert x.float().tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_their_files_open_here(path: Path) -> None:
    package = pytest.importorskip("safetensors.numpy", reason="the package safetensors is not installed")
    tensors = {name: of_every_dtype()[name] for name in ("bool", "int16", "float64", "complex64")}
    package.save_file(tensors, path, metadata={"made by": "the package"})
    assert_same(io.load_safetensors(path), tensors)
    with io.open_safetensors(path) as reader:
        assert dict(reader.metadata) == {"made by": "the package"}


def test_their_bfloat16_and_float8_open_here(path: Path) -> None:
    package = pytest.importorskip("safetensors.torch", reason="the packages safetensors and torch are not installed")
    torch = pytest.importorskip("torch", reason="the package torch is not installed")
    names = "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"
    package.save_file({name: torch.tensor([1.0, 2.0]).to(getattr(torch, name)) for name in names}, path)
    for name, x in io.load_safetensors(path).items():
        assert x.dtype.name == name
        assert np.asarray(x).astype(np.float32).tolist() == [1.0, 2.0]


# Parts


def test_names_choose_and_order(path: Path) -> None:
    io.save_safetensors(path, {"a": [1.0], "b": [2.0], "c": [3.0]})
    assert set(io.load_safetensors(path, ["c", "a"])) == {"a", "c"}
    assert io.load_safetensors(path, []) == {}
    with pytest.raises(KeyError, match=r"no tensor 'd'; it has 3: 'a', 'b', 'c'"):
        io.load_safetensors(path, ["d"])


def test_reader_reads_what_is_asked_for_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.save_safetensors(path, {"a": np.arange(100.0), "b": np.arange(3.0)}, metadata={"k": "v"})
    with io.open_safetensors(path) as reader:
        assert len(reader) == 2
        assert "a" in reader
        assert "d" not in reader
        assert reader != io.SafetensorsReader
        assert repr(reader) == f"SafetensorsReader({str(path)!r}, 2 tensors)"
        assert dict(reader.metadata) == {"k": "v"}
        assert reader.specs["a"].shape == (100,)
        assert reader.nbytes(["a", "b", "b"]) == 824
        read: list[int] = []
        read_into = _file.File._read_into

        def counting(self: _file.File, target: memoryview, start: int) -> None:
            read.append(len(target))
            read_into(self, target, start)

        monkeypatch.setattr(_file.File, "_read_into", counting)
        assert reader["b"].tolist() == [0.0, 1.0, 2.0]
        assert read == [24]
        with pytest.raises(KeyError, match="no tensor 'd'"):
            reader.read("d")


def test_a_closed_reader(path: Path) -> None:
    io.save_safetensors(path, {"a": [1.0]})
    for memory_map in (False, True):
        with io.open_safetensors(path, memory_map=memory_map) as reader:
            kept = reader["a"]
        with pytest.raises(ValueError, match="is closed"):
            reader["a"]
        reader.close()
        assert kept.tolist() == [1.0]


def test_a_file_that_is_cut_off_while_it_is_open(path: Path) -> None:
    io.save_safetensors(path, {"a": np.arange(100.0)})
    with io.open_safetensors(path) as reader:
        os.truncate(path, path.stat().st_size - 8)
        with pytest.raises(FormatError, match="it was cut off while it was read"):
            reader["a"]


def test_the_file_is_closed_by_whoever_reads_last(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.save_safetensors(path, {"a": [1.0]})
    reader = io.open_safetensors(path)
    (file,) = reader._files.values()
    reading, closed = threading.Event(), threading.Event()

    class Slow:
        closed = property(lambda self: raw.closed)

        def seek(self, position: int) -> None:
            reading.set()
            assert closed.wait(60)
            raw.seek(position)

        def __getattr__(self, name: str) -> Any:
            return getattr(raw, name)

    raw, file._file = file._file, Slow()  # type: ignore[assignment]
    results: list[aio.Array] = []
    thread = threading.Thread(target=lambda: results.append(reader["a"]))
    thread.start()
    assert reading.wait(60)
    reader.close()  # does not wait for the read, nor close under it
    assert not raw.closed
    closed.set()
    thread.join(60)
    assert results[0].tolist() == [1.0]
    assert raw.closed


def test_memory_map_shares_pages_and_survives_the_reader(path: Path) -> None:
    io.save_safetensors(path, {"a": np.arange(1024, dtype=np.float32), "odd": np.arange(3, dtype=np.int8)})
    with io.open_safetensors(path, memory_map=True) as reader:
        first, second, odd = reader["a"], reader["a"], reader["odd"]
    with io.open_safetensors(path) as reader:
        third, fourth = reader["a"], reader["a"]
    addresses = [_xla.unsafe_pointer(x._buffer) for x in (first, second, third, fourth)]
    assert addresses[0] == addresses[1]
    assert len(set(addresses)) == 3
    np.testing.assert_array_equal(first, np.arange(1024))
    assert odd.tolist() == [0, 1, 2]


def test_device_by_name(path: Path) -> None:
    io.save_safetensors(path, {"a": [1.0]})
    assert str(io.load_safetensors(path, device="cpu:0")["a"].device) == "cpu:0"
    with pytest.raises(ValueError, match="no device 'tpu'"):
        io.load_safetensors(path, device="tpu")


# Shards


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    io.save_safetensors(tmp_path / "model-1.safetensors", {"a": [1.0], "b": [2.0]})
    io.save_safetensors(tmp_path / "model-2.safetensors", {"c": [3.0], "unused": [4.0]})
    index = {"metadata": {"total_size": 12}, "weight_map": dict.fromkeys("ab", "model-1.safetensors")}
    index["weight_map"]["c"] = "model-2.safetensors"
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    return tmp_path


@pytest.mark.parametrize("name", ["", "model.safetensors.index.json"])
def test_shards_are_one_checkpoint(shards: Path, name: str) -> None:
    tensors = io.load_safetensors(shards / name)
    assert {name: x.tolist() for name, x in tensors.items()} == {"a": [1.0], "b": [2.0], "c": [3.0]}
    with io.open_safetensors(shards / name) as reader:
        assert dict(reader.metadata) == {"total_size": 12}
        assert reader["c"].tolist() == [3.0]


def test_only_the_files_that_are_needed_are_read(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    steps = _file.File.steps

    def recording(self: _file.File, names: Any, device: Any) -> Any:
        read.append(os.path.basename(self.path))
        return steps(self, names, device)

    monkeypatch.setattr(_file.File, "steps", recording)
    io.load_safetensors(shards, ["c"])
    assert read == ["model-2.safetensors"]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("no JSON", "is not JSON"),
        ("[]", '"weight_map"'),
        ("{}", '"weight_map"'),
        ('{"weight_map": {"a": 1}}', '"weight_map"'),
        ('{"weight_map": {"a": "../model-1.safetensors"}}', "is not the name of a file beside the index"),
        ('{"weight_map": {"a": "/etc/passwd"}}', "is not the name of a file beside the index"),
        ('{"weight_map": {"a": ".."}}', "is not the name of a file beside the index"),
        ('{"weight_map": {"a": "model-3.safetensors"}}', "which is not there"),
        ('{"weight_map": {"c": "model-1.safetensors"}}', "which does not have it"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_bad_index(shards: Path, index: str, expected: str) -> None:
    path = shards / "model.safetensors.index.json"
    path.write_text(index)
    with pytest.raises(FormatError) as caught:
        io.load_safetensors(path)
    assert str(caught.value).startswith(str(path))
    assert expected in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a folder without a file"):
        io.load_safetensors(tmp_path)
    with pytest.raises(FileNotFoundError):
        io.load_safetensors(tmp_path / "nothing.safetensors")
    for name in "ab":
        io.save_safetensors(tmp_path / f"{name}.safetensors", {})
    with pytest.raises(FormatError, match="has several files"):
        io.load_safetensors(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FormatError, match="is no regular file"):
            io.load_safetensors(tmp_path / "pipe")


# Event loops


@pytest.mark.asyncio
async def test_loading_and_saving_happen_off_the_loop(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    for module, name in ((_file.File, "_read_into"), (os, "fsync")):
        original = getattr(module, name)

        def recording(*args: Any, original: Any = original) -> Any:
            threads.append(threading.get_ident())
            return original(*args)

        monkeypatch.setattr(module, name, recording)
    x = aio.ones(3)
    await io.save_safetensors_async(path, {"a": x + x}, metadata={"k": "v"})
    assert (await io.load_safetensors_async(path))["a"].tolist() == [2.0, 2.0, 2.0]
    with io.open_safetensors(path) as reader:
        threads.pop()  # the header, which open_safetensors reads here
        assert (await reader.read_async("a")).tolist() == [2.0, 2.0, 2.0]
    assert len(threads) == 4  # fsync, header, data, data
    assert threading.get_ident() not in threads


@pytest.mark.asyncio
async def test_loading_copies_nothing_and_takes_small_steps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a gigabyte of weights takes a gigabyte, and the loop is never without the GIL for long."""
    tensors = {"large": np.ones((3 << 20, 4), np.float32), **{f"{i}": np.ones(1 << 18, np.float32) for i in range(8)}}
    size = sum(x.nbytes for x in tensors.values())
    io.save_safetensors(path, tensors)
    copies: list[bool] = []
    original = _file.from_host

    def record(value: Any, device: Any, *, copy: bool) -> aio.Array:
        copies.append(copy)
        return original(value, device, copy=copy)

    monkeypatch.setattr(_file, "from_host", record)
    done = [0]
    await aio.ones(1)
    _xla.collect_garbage()
    _xla.host_memory.release()  # or memory of a test before would be taken again
    tracemalloc.start()
    try:
        loaded = await io.load_safetensors_async(path, progress=lambda count, _: done.append(count))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert copies == [False] * len(tensors)
    assert size <= peak < 1.1 * size
    assert done[-1] == size
    assert max(np.diff(done)) <= _file.CHUNK_BYTES
    assert np.asarray(loaded["large"])[-1].tolist() == [1.0] * 4


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_progress_and_values_on_both_backends(path: Path, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file, "CHUNK_BYTES", 1000)
    tensors = {"large": np.arange(300.0), "small": np.arange(10.0), "other": np.arange(100.0)}
    io.save_safetensors(path, tensors)

    async def load() -> None:
        thread = threading.get_ident()
        seen: list[tuple[int, int, bool]] = []
        found = await io.load_safetensors_async(
            path, progress=lambda done, total: seen.append((done, total, threading.get_ident() == thread))
        )
        assert_same(found, tensors)
        # 2400 bytes in steps of at most 1000, then the two others in one.
        assert seen == [(1000, 3280, True), (2000, 3280, True), (2400, 3280, True), (3280, 3280, True)]

    anyio.run(load, backend=backend)
    seen = []
    io.load_safetensors(path, progress=lambda done, total: seen.append(done))
    assert seen == [1000, 2000, 2400, 3280]


@pytest.mark.asyncio
async def test_errors_of_the_asynchronous_forms(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await io.load_safetensors_async(path)
    write(path, file_bytes({"w": tensor("F32", [2], 0, 4)}, b"\x00" * 4))
    with pytest.raises(FormatError, match="tensor 'w'"):
        await io.load_safetensors_async(path)
    with pytest.raises(FileNotFoundError):
        await io.save_safetensors_async(path.parent / "nowhere" / "x", {"w": [1.0]})


@pytest.mark.asyncio
async def test_a_cancelled_load_stops_reading_and_closes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file, "CHUNK_BYTES", 800)
    io.save_safetensors(path, {"a": np.arange(1000.0)})
    in_step, go_on, closed = threading.Event(), threading.Event(), threading.Event()
    reads: list[int] = []
    read_into, close = _file.File._read_into, _file.File.close

    def slow(self: _file.File, target: memoryview, start: int) -> None:
        reads.append(start)
        if len(reads) == 3:
            in_step.set()
            assert go_on.wait(60)
        read_into(self, target, start)

    def recording(self: _file.File) -> None:
        close(self)
        closed.set()

    monkeypatch.setattr(_file.File, "_read_into", slow)
    monkeypatch.setattr(_file.File, "close", recording)
    task = asyncio.create_task(io.load_safetensors_async(path))
    await asyncio.to_thread(in_step.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # at once, though the step goes on
    assert not closed.is_set()
    del task
    go_on.set()
    assert await asyncio.to_thread(closed.wait, 60)
    assert len(reads) == 3


@pytest.mark.asyncio
async def test_a_cancelled_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.save_safetensors(path, {"a": [1.0]})
    writing, go_on, unlinked = threading.Event(), threading.Event(), threading.Event()
    stored, unlink = io._save._stored, os.unlink

    def slow(value: np.ndarray) -> np.ndarray:
        writing.set()
        assert go_on.wait(60)
        return stored(value)

    def recording(name: str) -> None:
        unlink(name)
        unlinked.set()

    monkeypatch.setattr(io._save, "_stored", slow)
    monkeypatch.setattr(os, "unlink", recording)
    task = asyncio.create_task(io.save_safetensors_async(path, {"a": [2.0]}))
    await asyncio.to_thread(writing.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.to_thread(unlinked.wait, 60)
    assert io.load_safetensors(path)["a"].tolist() == [1.0]
    assert list(path.parent.iterdir()) == [path]
