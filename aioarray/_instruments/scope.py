"""``Scope``: an instrument that is installed for the body of a ``with``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from .._engine import instruments

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Scope(instruments.Instrument):
    """Holds for the code in the ``with``, the tasks it starts, and what it runs through ``run_sync``. Not reusable."""

    _used = False

    def __enter__(self) -> Self:
        if self._used:
            raise RuntimeError(f"{type(self).__name__} can be entered once; make another one")
        self._used = True
        instruments.install(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        instruments.uninstall(self)


def matches(pattern: str | None, name: str) -> bool:
    """Whether ``name`` is meant by ``pattern``, in which ``*``, ``?`` and ``[…]`` are those of file names."""
    return pattern is None or fnmatchcase(name, pattern)
