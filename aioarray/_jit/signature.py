"""The parameters of a jitted function: which are static, donated or padded, and what arguments are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .._xla import trees

if TYPE_CHECKING:
    from .._xla.trees import TreeDef
    from .buckets import Buckets

Positions: TypeAlias = int | Sequence[int] | None
Names: TypeAlias = str | Sequence[str] | None

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature:
    """What ``jit`` knows of a function's parameters. Unchanged once the function is made."""

    def __init__(
        self,
        name: str,
        parameters: list[inspect.Parameter] | None,
        static: Selection,
        donated: Selection,
        buckets: Buckets | None,
    ) -> None:
        self.name = name  # of the function
        self.static = static
        self.donated = donated
        self.buckets = buckets
        self._names = [p.name for p in parameters or ()]
        self._positional = [p.name for p in parameters or () if p.kind in _POSITIONAL]
        variadic = (p.name for p in parameters or () if p.kind is inspect.Parameter.VAR_POSITIONAL)
        self._variadic = next(variadic, "args")

    def parameter(self, where: int | str) -> str:
        """What to call the argument at a position, or of a name, in messages."""
        return self._names[where] if isinstance(where, int) and where < len(self._names) else repr(where)

    def places(self, structure: TreeDef, plain: bool) -> list[tuple[str, tuple[Any, ...]]]:
        """For each leaf of the arguments, the argument it is in, and where in it. ``structure`` is that of a key."""
        tree = structure.unflatten([0] * structure.num_leaves)
        found = []
        for group, first, *rest in trees.paths((tree, {}) if plain else tree):
            if group.idx == 1:
                name = str(first.key)
            elif first.idx < len(self._positional):
                name = self._positional[first.idx]
            else:
                name = f"{self._variadic}[{first.idx - len(self._positional)}]"
            found.append((name, tuple(rest)))
        return found

    def leaf_names(self, structure: TreeDef, plain: bool) -> list[str]:
        """What to call the leaves of the arguments in messages: ``params['w']``."""
        return [name + trees.path_text(path) for name, path in self.places(structure, plain)]


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
