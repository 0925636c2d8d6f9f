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


def checked_pattern(function: str, pattern: str | None) -> str | None:
    """``pattern``, if ``matches`` can take it; ``TypeError`` now, and not where something is enqueued."""
    if pattern is None or isinstance(pattern, str):
        return pattern
    raise TypeError(
        f"{function}: a pattern is {pattern!r}; it must be the name of an operation or jitted function, or a pattern "
        'such as "mat*"'
    )


def matches(pattern: str | None, name: str) -> bool:
    """Whether ``name`` is meant by ``pattern``, in which ``*``, ``?`` and ``[…]`` are those of file names."""
    return pattern is None or fnmatchcase(name, pattern)
