"""The cache of programs, bounded: what has not been used lately is forgotten, and its executable with it."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .._graph import Definition
    from .launch import Program

ENTRIES: Final = 4096


class ProgramCache:
    """Second-chance eviction over the programs of all definitions; the only instance is ``engine.programs``.

    Each program stays in the dict of its definition, where a call finds it without coming here.
    """

    __slots__ = ("_lock", "_ring", "evicted", "limit")

    def __init__(self, limit: int = ENTRIES) -> None:
        self.limit = limit
        self.evicted = 0
        self._ring: deque[Program] = deque()  # oldest first; under _lock
        self._lock = threading.RLock()

    def add(self, program: Program, owner: Definition, key: Any) -> Program:
        """Enter ``program`` into ``owner`` under ``key``; or give the one that another thread has entered."""
        with self._lock:
            existing = owner.programs.get(key)
            if existing is not None:
                return existing  # type: ignore[no-any-return]
            program.owner, program.key = owner, key
            owner.programs[key] = program
            self._ring.append(program)
            self._shrink()
            return program

    def _shrink(self) -> None:
        while len(self._ring) > self.limit:
            program = self._ring.popleft()
            if program.used:
                program.used = False
                self._ring.append(program)
                continue
            _forget(program)
            self.evicted += 1

    def clear(self) -> None:
        """Forget every program; those that are queued or running finish."""
        with self._lock:
            for program in self._ring:
                _forget(program)
            self._ring.clear()

    def __len__(self) -> int:
        return len(self._ring)

    def after_fork_in_child(self) -> None:
        self._lock = threading.RLock()


def _forget(program: Program) -> None:
    if program.owner is not None:
        program.owner.programs.pop(program.key, None)
        program.owner.fast.pop(program.key, None)
        program.owner = None
