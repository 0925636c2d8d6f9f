"""The compile cache: limits in memory, and executables on disk that any number of processes share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray._engine import disk_cache, engine
from aioarray._engine.disk_cache import SUFFIX, DiskCache
from tests.support.compiling import compiles

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]

# Compiles three programs and prints what they give, and how many came from where.
PROGRAM = """
import sys
import aioarray as aio

@aio.jit
def network(parameters, x):
    hidden = aio.maximum(x @ parameters["w1"] + parameters["b1"], 0.0)
    return hidden @ parameters["w2"] + parameters["b2"]

@aio.jit
def decode(n):
    return aio.lax.while_loop(lambda v: v < n, lambda v: v * 2 + 1, 0)

parameters = {"w1": aio.ones((64, 32)), "b1": aio.ones(32), "w2": aio.ones((32, 4)), "b2": aio.ones(4)}
x = aio.ones((8, 64))
sums = aio.cumulative_sum(aio.ones((3, 3)), axis=0)
values = [network(parameters, x).tolist()[7][3], int(decode(100)), sums.tolist()[2][2]]
stats = aio.compile_cache.stats()
print(values, stats["compiles"], stats["disk_hits"], stats["disk_misses"], flush=True)
"""
VALUES = [65 * 32 + 1.0, 127, 3.0]


def run(directory: Path, program: str = PROGRAM) -> subprocess.Popen[str]:
    environment = {**os.environ, "AIOARRAY_CACHE_DIR": str(directory), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> tuple[Any, int, int, int, str]:
    output, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    values, _, counts = output.strip().rpartition("] ")
    numbers = [int(n) for n in counts.split()]
    assert eval(values + "]") == VALUES
    return values, numbers[0], numbers[1], numbers[2], errors


@pytest.fixture
def limits() -> Iterator[None]:
    before = aio.compile_cache.stats()
    yield
    aio.compile_cache.set_limit(limit_entries=before["limit_entries"], limit_bytes=before["limit_bytes"])


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "cache"
    aio.compile_cache.clear()
    aio.compile_cache.set_dir(path)
    yield path
    aio.compile_cache.set_dir(None)


def entries(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"*{SUFFIX}"))


# In memory


@pytest.mark.usefixtures("limits")
def test_least_recently_used_programs_are_forgotten() -> None:
    aio.compile_cache.clear()
    aio.compile_cache.set_limit(limit_entries=4)
    f = aio.jit(lambda x: x + 91.5)
    used = aio.ones(1)
    evicted = aio.compile_cache.stats()["evicted"]
    for n in range(1, 13):
        assert float(f(aio.ones(n)).block_until_ready().tolist()[-1]) == 92.5
        f(used).block_until_ready()
        compiles()
    stats = aio.compile_cache.stats()
    assert stats["entries"] <= 4
    assert stats["evicted"] - evicted == 8
    assert len(f.programs) <= 4
    before = compiles()
    f(used).block_until_ready()
    f(aio.ones(12)).block_until_ready()
    assert compiles() == before
    f(aio.ones(5)).block_until_ready()
    assert compiles() == before + 1


@pytest.mark.usefixtures("limits")
def test_limit_in_bytes() -> None:
    aio.compile_cache.clear()
    assert aio.compile_cache.stats()["bytes"] == 0
    f = aio.jit(lambda x: x + 92.5)
    f(aio.ones(1)).block_until_ready()
    compiles()
    one = aio.compile_cache.stats()["bytes"]
    assert one > 100_000
    aio.compile_cache.set_limit(limit_bytes=3 * one + 1)
    for n in range(2, 9):
        f(aio.ones(n)).block_until_ready()
        compiles()
        assert aio.compile_cache.stats()["bytes"] <= 3 * one + 1
    assert aio.compile_cache.stats()["entries"] == 3


def test_programs_that_share_an_executable_count_once() -> None:
    aio.compile_cache.clear()
    x = aio.ones(7)
    f, g = aio.jit(lambda x: x + 93.5), aio.jit(lambda y: y + 93.5)
    f(x).block_until_ready()
    compiles()
    one = aio.compile_cache.stats()["bytes"]
    g(x).block_until_ready()
    compiles()
    assert aio.compile_cache.stats()["entries"] == 2
    assert aio.compile_cache.stats()["bytes"] == one


def test_cleared_programs_are_compiled_again_and_queued_ones_finish() -> None:
    f = aio.jit(lambda x: aio.exp(x) + 94.5)
    result = f(aio.zeros(5))
    aio.compile_cache.clear()
    assert float(result.block_until_ready().tolist()[0]) == 95.5
    del result
    aio.compile_cache.clear()
    before = compiles()
    f(aio.zeros(5)).block_until_ready()
    assert compiles() == before + 1


@pytest.mark.usefixtures("limits")
def test_many_shapes_do_not_grow_the_process() -> None:
    aio.compile_cache.set_limit(limit_entries=20)
    f = aio.jit(lambda x: x * 2 + 95.5)
    executables = engine.compiler._executables
    for n in range(1, 60):
        f(np.ones(n, np.float32)).block_until_ready()
    compiles()
    assert len(f.programs) <= 21
    assert len(f._programs.fast) <= 21
    assert len(executables) <= 20 + 33  # and those of the latest control flow outside jit


def test_wrong_limits() -> None:
    with pytest.raises(ValueError, match="limit_entries is 0"):
        aio.compile_cache.set_limit(limit_entries=0)
    with pytest.raises(ValueError, match="limit_bytes is -1"):
        aio.compile_cache.set_limit(limit_bytes=-1)
    with pytest.raises(ValueError, match="limit_bytes is 0"):
        aio.compile_cache.set_dir(None, limit_bytes=0)


# On disk


def test_warm_process_compiles_nothing(tmp_path: Path) -> None:
    _, compiled, hits, misses, _ = result(run(tmp_path / "cache"))
    assert compiled == misses > 0
    assert hits == 0
    files = entries(tmp_path / "cache")
    assert len(files) == compiled
    _, warm, hits, misses, errors = result(run(tmp_path / "cache"))
    assert (warm, hits, misses) == (0, compiled, 0)
    assert errors == ""
    assert entries(tmp_path / "cache") == files


def test_nothing_is_written_unless_asked_for(tmp_path: Path) -> None:
    assert aio.compile_cache.stats()["directory"] is None
    aio.jit(lambda x: x + 96.5)(1.0).block_until_ready()
    assert list(tmp_path.iterdir()) == []


def test_loaded_programs_are_as_compiled_ones(directory: Path) -> None:
    f = aio.jit(lambda x, y: {"a": x @ y, "b": aio.sum(x) + 97.5}, donate_argnums=0)

    def call() -> tuple[list[Any], bool]:
        x = aio.ones((3, 3)) * 1
        tree = f(x, aio.eye(3))
        return [tree["a"].tolist(), float(tree["b"])], x.is_deleted()

    first = call()
    compiles()
    aio.compile_cache.clear()
    before = aio.compile_cache.stats()
    assert call() == first == ([np.ones((3, 3)).tolist(), 106.5], True)
    compiles()
    after = aio.compile_cache.stats()
    assert after["compiles"] == before["compiles"]
    assert after["disk_hits"] > before["disk_hits"]
    assert after["directory"] == str(directory)
    cost = f.lower(aio.ones((3, 3)), aio.eye(3)).cost()
    assert cost.flops >= 2 * 27


def corrupt_cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def corrupt_bit(content: bytes) -> bytes:
    return content[:-100] + bytes([content[-100] ^ 4]) + content[-99:]


def corrupt_header(content: bytes) -> bytes:
    return content.replace(b"jaxlib ", b"jaxlib 9", 1)


def corrupt_foreign(content: bytes) -> bytes:
    return b"not an entry at all"


def corrupt_empty(content: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("corrupt", [corrupt_cut, corrupt_bit, corrupt_header, corrupt_foreign, corrupt_empty])
def test_broken_entry_is_a_logged_miss_and_is_replaced(
    directory: Path, corrupt: Any, caplog: pytest.LogCaptureFixture
) -> None:
    f = aio.jit(lambda x: x + 98.5)
    f(1.0).block_until_ready()
    compiles()
    (path,) = entries(directory)
    good = path.read_bytes()
    path.write_bytes(corrupt(good))
    aio.compile_cache.clear()
    before = compiles()
    assert float(f(1.0)) == 99.5
    assert compiles() == before + 1
    assert str(path) in caplog.text
    assert path.read_bytes()[: len(b"aioarray")] == b"aioarray"
    aio.compile_cache.clear()
    assert float(f(1.0)) == 99.5
    assert compiles() == before + 1


@pytest.mark.parametrize("difference", ["cpu", "jaxlib"])
def test_entry_of_another_cpu_or_version_is_a_logged_miss(
    directory: Path, difference: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    f = aio.jit(lambda x: x + 99.5)
    real = disk_cache._environment()
    monkeypatch.setattr(disk_cache, "_environment", lambda: {**real, difference: "another"})
    f(1.0).block_until_ready()
    compiles()
    monkeypatch.undo()
    aio.compile_cache.clear()
    before = compiles()
    assert float(f(1.0)) == 100.5
    assert compiles() == before + 1
    assert f"it is for {difference} 'another'" in caplog.text


def test_entry_under_another_key_is_a_miss(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    f, g = aio.jit(lambda x: x + 100.5), aio.jit(lambda x: x + 101.5)
    f(1.0).block_until_ready()
    compiles()
    (path,) = entries(directory)
    aio.compile_cache.clear()
    g(1.0).block_until_ready()
    compiles()
    (other,) = set(entries(directory)) - {path}
    other.write_bytes(path.read_bytes())
    aio.compile_cache.clear()
    assert float(g(1.0)) == 102.5
    compiles()
    assert "it is for key" in caplog.text


def test_size_limit_evicts_what_was_used_longest_ago(tmp_path: Path) -> None:
    aio.compile_cache.set_dir(tmp_path / "cache")
    try:
        f = aio.jit(lambda x: x + 102.5)
        f(aio.ones(1)).block_until_ready()
        compiles()
        (first,) = entries(tmp_path / "cache")
        size = first.stat().st_size
        aio.compile_cache.set_dir(tmp_path / "cache", limit_bytes=size * 4)
        for n in range(2, 9):
            aio.compile_cache.clear()
            f(aio.ones(n)).block_until_ready()
            compiles()
            os.utime(first, (2**33, 2**33))  # it was used after all others
        kept = entries(tmp_path / "cache")
        assert len(kept) <= 4
        assert first in kept
    finally:
        aio.compile_cache.set_dir(None)


def test_leftovers_of_killed_processes_are_swept_up(tmp_path: Path) -> None:
    old, new = tmp_path / "old.tmp", tmp_path / "new.tmp"
    old.write_bytes(b"x")
    new.write_bytes(b"x")
    os.utime(old, (0, 0))
    tmp_path.chmod(0o700)
    DiskCache(str(tmp_path))
    assert not old.exists()
    assert new.exists()


def test_full_or_vanished_directory_is_logged_and_nothing_more(
    directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory.rmdir()
    f = aio.jit(lambda x: x + 103.5)
    assert float(f(1.0)) == 104.5
    compiles()
    assert "cannot store a program" in caplog.text


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such permissions on this system")
def test_directory_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "open"
    path.mkdir()
    path.chmod(0o777)
    with pytest.raises(PermissionError, match="chmod go-w"):
        aio.compile_cache.set_dir(path)
    assert aio.compile_cache.stats()["directory"] is None
    _, _, hits, misses, errors = result(run(path))
    assert (hits, misses) == (0, 0)
    assert "is not used" in errors
    assert list(path.iterdir()) == []


def test_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        aio.compile_cache.set_dir(tmp_path / "file" / "cache")


@pytest.mark.timeout(300)
def test_eight_processes_at_once_one_killed_and_entries_broken(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    processes = [run(cache) for _ in range(8)]
    victim = processes.pop()
    while not entries(cache) if cache.exists() else True:
        assert any(p.poll() is None for p in processes)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    for process in processes:
        result(process)
    files = entries(cache)
    files[0].write_bytes(corrupt_cut(files[0].read_bytes()))
    files[1].write_bytes(corrupt_bit(files[1].read_bytes()))
    processes = [run(cache) for _ in range(4)]
    for process in processes:
        result(process)
    # No entry is unreadable afterwards.
    _, compiled, hits, misses, errors = result(run(cache))
    assert (compiled, misses, errors) == (0, 0, "")
    assert hits == len(files) == len(entries(cache))
