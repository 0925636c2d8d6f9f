"""Which operators there are: one function each, declared with its domain, its names and the versions it is for.

::

    @operator("Softmax", since=13)
    def softmax(call: Call, x: Tensor) -> Tensor: ...

The function takes what it may ask about the node, then the inputs; None stands for one that is not there. It gives one
value, or a tuple of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


class Operator(NamedTuple):
    """A function for an operator, from the version of its domain on until the next one."""

    since: int
    function: Callable[..., Any]
    random: bool  # gives another result at each call, so it is never computed beforehand


# (domain, name) -> the functions, by version; filled by ``operator`` when the chapters are imported, read after that.
_OPERATORS: dict[tuple[str, str], list[Operator]] = {}


def operator(*names: str, since: int = 1, domain: str = "", random: bool = False) -> Callable[[F], F]:
    """Declare the function for the operators ``names`` of ``domain``, from version ``since`` of it on."""

    def declare(function: F) -> F:
        for name in names:
            versions = _OPERATORS.setdefault((domain, name), [])
            if any(version.since == since for version in versions):
                raise ValueError(f"operator: {name} of domain {domain!r} is declared twice from version {since} on")
            versions.append(Operator(since, function, random))
            versions.sort(key=lambda version: version.since)
        return function

    return declare


def find(domain: str, name: str, version: int) -> Operator | None:
    """The function for an operator in a version of its domain, or None."""
    found = None
    for candidate in _OPERATORS.get((domain, name), ()):
        if candidate.since <= version:
            found = candidate
    return found


def declared() -> dict[tuple[str, str], tuple[int, ...]]:
    """(domain, name) -> the versions from which on there is another function."""
    return {key: tuple(version.since for version in versions) for key, versions in _OPERATORS.items()}
