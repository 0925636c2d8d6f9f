"""What is checked of a test: from its markers, the command line and the configuration file, in this order."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "aioarray_"

COUNT: Final = "whole number of 0 or more"
SECONDS: Final = "number of 0 or more"
LIMIT: Final = "number above 0"

# name -> the words that it may be, or what kind of number
ALLOWED: Final[dict[str, tuple[str, ...] | str]] = {
    "sync_reads": ("allow", "warn", "raise"),
    "max_compiles": COUNT,
    "leaks": ("allow", "warn", "error"),
    "unawaited": ("allow", "warn", "error"),
    "held_locks": ("allow", "warn", "raise"),
    "max_loop_lag": LIMIT,
}


@dataclass(frozen=True)
class Settings:
    """None where a thing is not looked at."""

    sync_reads: Any = None
    max_compiles: int | None = None
    leaks: str | None = None
    unawaited: str | None = None
    held_locks: str | None = None
    max_loop_lag: float | None = None  # milliseconds

    def __bool__(self) -> bool:
        return self != NOTHING

    def with_values(self, where: str, values: Mapping[str, Any]) -> Settings:
        """These settings, with those in ``values`` in their place; ``UsageError`` for what is not allowed."""
        known = [field.name for field in fields(self)]
        for name in values:
            if name not in known:
                raise pytest.UsageError(f"{where}: there is no setting {name!r}; there are {', '.join(known)}")
        return replace(self, **{name: _checked(where, name, value) for name, value in values.items()})


NOTHING: Final = Settings()
# What a marker without arguments, and `--aioarray`, mean.
STRICT: Final = Settings(sync_reads="raise", leaks="error", unawaited="error", held_locks="raise")


def _checked(where: str, name: str, value: Any) -> Any:
    allowed = ALLOWED[name]
    if value is None:
        return None
    if isinstance(allowed, tuple):
        if value not in allowed:
            raise pytest.UsageError(f"{where}: {name}={value!r} is not one of {', '.join(allowed)}")
        return value
    return number(where, name, value, allowed)


def number(where: str, name: str, value: Any, kind: str) -> Any:
    """``value``, which may be a text, as a number of this kind; ``UsageError`` if it is none."""
    found: float = math.nan
    if not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):
            found = int(value) if kind == COUNT and not isinstance(value, float) else float(value)
    if not (0 < found < math.inf if kind == LIMIT else 0 <= found < math.inf) or (kind == COUNT and found % 1):
        raise pytest.UsageError(f"{where}: {name}={value!r} is not a {kind}")
    return int(found) if kind == COUNT else found


def configured(config: pytest.Config) -> Settings:
    """What the configuration file and the command line say, for all tests."""
    settings = NOTHING
    ini = {name: value for name in ALLOWED if (value := config.getini(PREFIX + name)) not in ("", None)}
    if ini:
        settings = settings.with_values("the configuration file", ini)
    if config.getoption("aioarray"):
        settings = (
            STRICT
            if not settings
            else replace(
                STRICT,
                **{
                    field.name: value
                    for field in fields(settings)
                    if (value := getattr(settings, field.name)) is not None
                },
            )
        )
    options = {name: value for name in ALLOWED if (value := config.getoption(PREFIX + name)) is not None}
    return settings.with_values("the command line", options) if options else settings


def of_item(item: pytest.Item, base: Settings) -> Settings:
    """What holds for ``item``: its markers, the closest first, and ``base`` where they say nothing."""
    for mark in reversed(list(item.iter_markers("aioarray"))):
        where = f"@pytest.mark.aioarray of {item.nodeid}"
        if mark.args:
            raise pytest.UsageError(f"{where}: give settings by name, such as leaks='error'; got {mark.args}")
        if not mark.kwargs:
            base = replace(STRICT, max_compiles=base.max_compiles, max_loop_lag=base.max_loop_lag)
        base = base.with_values(where, mark.kwargs)
    return base
