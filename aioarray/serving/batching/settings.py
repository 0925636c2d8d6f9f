"""Checks of options, for every class that takes some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable


def check_counts(name: str, **counts: Any) -> None:
    """``ValueError`` for an option that is no whole number of at least 1."""
    for option, value in counts.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: {option} is {value!r}; it must be a whole number of at least 1")


def check_positive(name: str, **positive: float | None) -> None:
    """``ValueError`` for an option that is given and not above 0."""
    for option, given in positive.items():
        if given is not None and not given > 0:
            raise ValueError(f"{name}: {option} is {given}; it must be above 0")


def check_hashable(name: str, **values: Hashable) -> None:
    """``TypeError`` for a value that cannot be looked up."""
    for what, value in values.items():
        try:
            hash(value)
        except TypeError:
            raise TypeError(f"{name}: {what} is a {type(value).__name__}, which cannot be hashed") from None


def name_of(function: Any) -> str:
    """What a function is called in messages."""
    return getattr(function, "name", None) or getattr(function, "__name__", None) or type(function).__name__
