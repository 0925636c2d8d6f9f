"""Which arguments of a function are static and which are donated, and what each is called in messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

Positions: TypeAlias = int | Sequence[int] | None
Names: TypeAlias = str | Sequence[str] | None

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Selection:
    """Some parameters of a function, by position and by name, so that an argument is found however it is passed."""

    __slots__ = ("names", "positions")

    def __init__(self, positions: frozenset[int] = frozenset(), names: frozenset[str] = frozenset()) -> None:
        self.positions = positions
        self.names = names

    def __bool__(self) -> bool:
        return bool(self.positions or self.names)


def select(option: str, parameters: list[inspect.Parameter] | None, positions: Positions, names: Names) -> Selection:
    """The parameters given by ``positions`` and ``names``; each found by both where the signature is known.

    Raises ``ValueError`` where there is no such parameter. ``option`` names the pair in messages: "static", "donate".
    """
    indices = [positions] if isinstance(positions, int) else list(positions or ())
    chosen = [names] if isinstance(names, str) else list(names or ())
    if parameters is None:
        return Selection(frozenset(indices), frozenset(chosen))
    positional = [p.name for p in parameters if p.kind in _POSITIONAL]
    variadic = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    keyword = [p.name for p in parameters if p.kind in _NAMED]
    any_keyword = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    all_positions: set[int] = set()
    all_names: set[str] = set()
    for index in indices:
        position = index + len(positional) if index < 0 else index
        if position < 0 or (position >= len(positional) and not variadic):
            raise ValueError(
                f"jit: {option}_argnums has {index}, but the function has {len(positional)} positional parameters"
            )
        all_positions.add(position)
        if position < len(positional) and positional[position] in keyword:
            all_names.add(positional[position])
    for name in chosen:
        known = {p.name for p in parameters if p.kind in (*_POSITIONAL, *_NAMED)}
        if name not in known and not any_keyword:
            raise ValueError(
                f"jit: {option}_argnames has {name!r}, but the function's parameters are {', '.join(sorted(known))}"
            )
        all_names.add(name)
        if name in positional:
            all_positions.add(positional.index(name))
    return Selection(frozenset(all_positions), frozenset(all_names))


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of ``function``; None where Python does not know them (some functions written in C)."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def argument_names(parameters: list[inspect.Parameter] | None, paths: Iterable[Sequence[Any]]) -> list[str]:
    """What to call leaves of ``(args, kwargs)`` in messages: ``params['w']`` for its path."""
    positional = [p.name for p in parameters or () if p.kind in _POSITIONAL]
    variadic = next((p.name for p in parameters or () if p.kind is inspect.Parameter.VAR_POSITIONAL), "args")
    names = []
    for group, first, *rest in paths:
        if group.idx == 1:
            name = str(first.key)
        elif first.idx < len(positional):
            name = positional[first.idx]
        else:
            name = f"{variadic}[{first.idx - len(positional)}]"
        names.append(name + path_text(rest))
    return names


def path_text(path: Iterable[Any]) -> str:
    """A path into a tree as Python would write it: ``['w'][0].bias``."""
    text = ""
    for key in path:
        if hasattr(key, "idx"):
            text += f"[{key.idx}]"
        elif hasattr(key, "key"):
            text += f"[{key.key!r}]"
        else:
            text += f".{key.name}"
    return text


def mark(value: Any) -> Any:
    """What tells apart static values that are equal, but may mean different programs: 1, 1.0 and True, 0.0 and -0.0."""
    kind = type(value)
    if isinstance(value, tuple):
        return kind, tuple([mark(item) for item in value])
    if kind is complex:
        return kind, mark(value.real), mark(value.imag)
    return (kind, str(value)) if kind is float and value == 0.0 else kind
