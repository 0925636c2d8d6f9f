"""The cache of programs, bounded: what has not been used lately is forgotten, and its executable with it.

A program stays in the dict of its owner (a ``Definition``, or what ``jit`` keeps for a function), where a call finds
it without coming here. So this does not see uses. It goes round over all programs instead: one whose turn has come
loses its mark of use, and its place on the owner's fast path, where it would not get a new mark; when its turn comes
again without one, it is the least recently used, as far as anybody can tell.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import ref

from . import budget

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType

    from .._xla import Executable
    from .launch import Program

ENTRIES: Final = 4096
BYTES: Final = 256 << 20

# What a small executable was seen to take on CPU, and what each byte of a program's text adds.
BASE_BYTES: Final = 200_000
BYTES_PER_CHARACTER: Final = 4


class Owner(Protocol):
    """Where programs are found by key. Written by the cache; read by any thread."""

    name: str
    programs: dict[Any, Any]
    fast: dict[Any, Any]


class Used(Protocol):
    """A program, or what stands in place of one that need not be compiled."""

    used: bool  # set by any thread at each use


class Slot:
    """The place of one entry in the cache. Under the cache's lock."""

    __slots__ = ("executable", "key", "mark", "owner", "program")

    def __init__(self, mark: Used, owner: ReferenceType[Owner], key: Any, program: Program | None) -> None:
        self.mark = mark
        self.owner = owner
        self.key = key
        self.program = program
        self.executable: Executable | None = None  # once compiled


class ProgramCache:
    """The only instance is ``engine.programs``. Any thread."""

    __slots__ = ("_gone", "_held", "_lock", "_ring", "_slots", "bytes", "evicted", "limit_bytes", "limit_entries")

    def __init__(self, entries: int = ENTRIES, limit_bytes: int = BYTES) -> None:
        self.limit_entries = entries
        self.limit_bytes = limit_bytes
        self.evicted = 0
        self.bytes = 0  # of the executables of its programs, estimated
        self._ring: deque[Slot] = deque()  # oldest first; under _lock, as everything below
        self._slots: dict[Program, Slot] = {}
        # Owners that have died, which they may do anywhere at any moment: put here by a method of C.
        self._gone: deque[ReferenceType[Owner]] = deque()
        # Executable -> how many programs share it, and its size.
        self._held: dict[Executable, tuple[int, int]] = {}
        self._lock = threading.RLock()

    def add(
        self,
        entry: Any,
        owner: Owner,
        key: Any,
        program: Program | None = None,
        explain: Callable[[], str] | None = None,
    ) -> Any:
        """Enter ``entry`` into ``owner`` under ``key``; or give the one that another thread has entered.

        ``program`` is what it leads to, if that is to be compiled: this counts against the budgets of the caller, with
        ``explain()`` saying how it came to that. Raises ``CompileBudgetError``. The cache holds the program, but
        neither its owner nor, if that is something else, the entry, which may hold anything.
        """
        if program is not None and key not in owner.programs:
            budget.admit(owner.name, explain)
        with self._lock:
            existing = owner.programs.get(key)
            if existing is not None:
                return existing
            mark = entry if program is None else program
            mark.used = False  # it has to be used again to be worth more than what comes after it
            slot = Slot(mark, ref(owner, self._gone.append), key, program)
            owner.programs[key] = entry
            self._ring.append(slot)
            if program is not None:
                program.cached = True
                self._slots[program] = slot
            return entry

    def leave_fast_path(self, program: Program) -> None:
        """Have the calls of ``program`` come through ``enqueue`` again."""
        with self._lock:
            slot = self._slots.get(program)
            owner = None if slot is None else slot.owner()
            if slot is not None and owner is not None:
                owner.fast.pop(slot.key, None)

    def compiled(self, program: Program, executable: Executable, text_length: int) -> bool:
        """Take ``program``'s executable into account; False if it is not in the cache, or no more.

        On a compile worker, which so does the work of freeing others.
        """
        with self._lock:
            slot = self._slots.get(program)
            if slot is None:
                return False
            slot.executable = executable
            holders, size = self._held.get(executable, (0, BASE_BYTES + BYTES_PER_CHARACTER * text_length))
            self._held[executable] = holders + 1, size
            if not holders:
                self.bytes += size
            self._shrink()
            return program in self._slots

    def _shrink(self) -> None:
        self._bury()
        ring = self._ring
        for _ in range(2 * len(ring)):
            # The last one to come was asked for just now.
            if len(ring) <= 1 or (len(ring) <= self.limit_entries and self.bytes <= self.limit_bytes):
                return
            slot = ring.popleft()
            if slot.mark.used:
                slot.mark.used = False
                owner = slot.owner()
                if owner is not None:
                    owner.fast.pop(slot.key, None)
                ring.append(slot)
            else:
                self._forget(slot)
                self.evicted += 1

    def _bury(self) -> None:
        """Forget the programs of owners that have died."""
        if not self._gone:
            return
        self._gone.clear()
        kept: deque[Slot] = deque()
        for slot in self._ring:
            if slot.owner() is None:
                self._forget(slot)
            else:
                kept.append(slot)
        self._ring = kept

    def _forget(self, slot: Slot) -> None:
        owner = slot.owner()
        if owner is not None:
            owner.programs.pop(slot.key, None)
            owner.fast.pop(slot.key, None)
        if slot.program is not None:
            del self._slots[slot.program]
        if slot.executable is not None:
            holders, size = self._held.pop(slot.executable)
            if holders > 1:
                self._held[slot.executable] = holders - 1, size
            else:
                self.bytes -= size

    def set_limit(self, *, entries: int | None = None, limit_bytes: int | None = None) -> None:
        """Change the limits; what is over them goes at once."""
        with self._lock:
            self.limit_entries = self.limit_entries if entries is None else entries
            self.limit_bytes = self.limit_bytes if limit_bytes is None else limit_bytes
            self._shrink()

    def clear(self) -> None:
        """Forget every program; those that are queued or running finish."""
        with self._lock:
            while self._ring:
                self._forget(self._ring.popleft())

    def __len__(self) -> int:
        with self._lock:
            self._bury()
            return len(self._ring)

    def after_fork_in_child(self) -> None:
        self._lock = threading.RLock()
