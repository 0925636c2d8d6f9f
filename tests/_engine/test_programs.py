"""The cache of programs: what is evicted, what is counted."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest

from aioarray._engine.programs import BASE_BYTES, BYTES_PER_CHARACTER, ProgramCache

ONE = BASE_BYTES + BYTES_PER_CHARACTER * 10


class Owner:
    def __init__(self) -> None:
        self.name = "owner"
        self.programs: dict[Any, Any] = {}
        self.fast: dict[Any, Any] = {}


class Entry:
    """In place of a program, and of its executable."""

    def __init__(self) -> None:
        self.used = True


def fill(cache: ProgramCache, owner: Owner, keys: range) -> list[Any]:
    entries = [Entry() for _ in keys]
    for key, entry in zip(keys, entries, strict=True):
        assert cache.add(entry, owner, key, entry) is entry  # type: ignore[arg-type]
        owner.fast[key] = entry
        assert cache.compiled(entry, entry, 10)  # type: ignore[arg-type]
    return entries


@pytest.mark.parametrize(("entries", "limit_bytes"), [(4, 1 << 40), (1 << 20, 4 * ONE)])
def test_oldest_unused_goes_first(entries: int, limit_bytes: int) -> None:
    cache, owner = ProgramCache(entries, limit_bytes), Owner()
    made = fill(cache, owner, range(4))
    made[0].used = True
    made[2].used = True
    fill(cache, owner, range(4, 6))
    assert sorted(owner.programs) == [0, 2, 4, 5]
    assert cache.evicted == 2
    assert cache.bytes == 4 * ONE
    assert len(cache) == 4


def test_used_entry_leaves_the_fast_path_once_so_that_its_next_use_is_seen() -> None:
    cache, owner = ProgramCache(2), Owner()
    made = fill(cache, owner, range(2))
    made[0].used = True
    fill(cache, owner, range(2, 3))
    assert sorted(owner.programs) == [0, 2]
    assert sorted(owner.fast) == [2]
    assert not made[0].used


def test_the_latest_is_kept_whatever_the_limits() -> None:
    cache, owner = ProgramCache(4, limit_bytes=1), Owner()
    fill(cache, owner, range(3))
    assert list(owner.programs) == [2]


def test_shared_executables_count_once() -> None:
    cache, owner = ProgramCache(), Owner()
    first, second = Entry(), Entry()
    for key, entry in enumerate((first, second)):
        cache.add(entry, owner, key, entry)  # type: ignore[arg-type]
        cache.compiled(entry, first, 10)  # type: ignore[arg-type]
    assert cache.bytes == ONE
    cache.set_limit(entries=1)
    assert cache.bytes == ONE
    cache.clear()
    assert cache.bytes == 0
    assert len(cache) == 0
    assert owner.programs == {}


def test_the_first_of_equal_keys_is_kept() -> None:
    cache, owner = ProgramCache(), Owner()
    entries = [Entry() for _ in range(16)]
    barrier = threading.Barrier(16)
    got: list[Any] = []

    def add(entry: Any) -> None:
        barrier.wait()
        got.append(cache.add(entry, owner, "key", entry))

    threads = [threading.Thread(target=add, args=(entry,)) for entry in entries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, got))) == 1
    assert len(cache) == 1


def test_entries_that_need_no_executable_are_evicted_too() -> None:
    cache, owner = ProgramCache(2), Owner()
    for key in range(10):
        cache.add(Entry(), owner, key)
    fill(cache, owner, range(10, 11))
    assert len(cache) == 2


def test_executable_of_a_forgotten_program_is_not_counted() -> None:
    cache, owner = ProgramCache(), Owner()
    entry: Any = Entry()
    cache.add(entry, owner, 0, entry)
    cache.clear()
    assert not cache.compiled(entry, entry, 10)
    assert cache.bytes == 0


def test_programs_of_owners_that_have_died_are_forgotten() -> None:
    cache, owner, other = ProgramCache(), Owner(), Owner()
    fill(cache, owner, range(3))
    fill(cache, other, range(2))
    del owner
    gc.collect()
    assert len(cache) == 2
    assert cache.bytes == 2 * ONE
    assert cache.evicted == 0
