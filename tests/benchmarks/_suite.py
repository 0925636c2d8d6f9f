"""Which benchmarks there are. Nothing is imported here: each runs in a process of its own."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple


class Entry(NamedTuple):
    """A benchmark: the file of its name."""

    name: str
    on_loops: bool = False  # measured on asyncio and on uvloop
    by_default: bool = True  # otherwise only when it is named: it takes long


SUITE = (
    Entry("eager_small"),
    Entry("eager_large"),
    Entry("eager_chain"),
    Entry("jit_calls"),
    Entry("awaiting", on_loops=True),
    Entry("many_awaits", on_loops=True),
    Entry("loop_lag", on_loops=True),
    Entry("head_of_line", on_loops=True),
    Entry("small_requests", by_default=False),
    Entry("throughput"),
    Entry("startup"),
    Entry("memory"),
    Entry("transfers"),
    Entry("numerics"),
    Entry("growth", on_loops=True),
    Entry("compile_many"),
    Entry("compile_memory", by_default=False),
    Entry("breadth", by_default=False),
)


class Choice(NamedTuple):
    """A benchmark, and a pattern for the names of its rows."""

    entry: Entry
    rows: str = "*"


def choose(words: list[str]) -> list[Choice]:
    """What words like ``eager_*`` and ``eager_small/a + b`` name. Raises ``LookupError`` if one names nothing."""
    if not words:
        return [Choice(entry) for entry in SUITE if entry.by_default]
    choices = []
    for word in words:
        name, _, rows = word.partition("/")
        found = [Choice(entry, rows or "*") for entry in SUITE if fnmatchcase(entry.name, name)]
        if not found:
            raise LookupError(f"no benchmark is called {name!r}; there are {', '.join(e.name for e in SUITE)}")
        choices += found
    return choices
