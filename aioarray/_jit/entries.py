"""What ``jit`` keeps for each combination of argument specs and static arguments, and how two combinations differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._array import trees
from .signature import argument_names

if TYPE_CHECKING:
    import inspect
    from collections.abc import Iterable, Sequence

    from .._array import Array
    from .._array.trees import TreeDef
    from .._dispatch.launch import FastEntry
    from .._engine import Program
    from .._graph import ArraySpec


class Key(NamedTuple):
    """What a program depends on. Calls with positional, dynamic arguments alone use the pair (structure, specs)."""

    structure: TreeDef  # of (args, kwargs); in a pair, of args
    specs: tuple[ArraySpec, ...]
    static: tuple[tuple[int | str, Any, Any], ...] = ()  # position or name, value, mark
    state: Any = None  # of the object whose method the function is
    defaults: Any = None  # the default dtypes, where they were ever changed


class Entry:
    """A program of a function: what it takes besides the arguments, and what it gives."""

    __slots__ = ("captured", "donated", "fast", "leaf", "program", "structure", "used")

    def __init__(
        self, program: Program | None, captured: tuple[Array, ...], donated: tuple[int, ...], structure: TreeDef
    ) -> None:
        self.program = program  # None if the function has no results
        self.captured = captured  # passed after the arguments
        self.donated = donated  # the arguments that are given up, by position among the leaves
        self.structure = structure  # of the result
        self.leaf = structure.num_nodes == 1 and structure.num_leaves == 1
        self.fast: FastEntry | None = None  # set before it is entered among those of the fast path
        self.used = True  # for the cache of programs, where there is no program

    def result(self, arrays: Sequence[Array]) -> Any:
        """The arrays that came out, as the tree that the function returned."""
        return arrays[0] if self.leaf else self.structure.unflatten(arrays)


def shown(spec: ArraySpec) -> str:
    """A spec in a message."""
    number = " from a Python number" if spec.weak else ""
    return f"{spec.dtype.name}[{','.join(map(str, spec.shape))}]{number}"


def leaf_names(parameters: list[inspect.Parameter] | None, key: tuple[Any, ...]) -> list[str]:
    """What to call the leaves of the arguments under ``key``."""
    structure = key[0]
    tree = structure.unflatten([0] * structure.num_leaves)
    return argument_names(parameters, trees.paths((tree, {}) if len(key) == 2 else tree))


def explain(parameters: list[inspect.Parameter] | None, new: tuple[Any, ...], others: Iterable[tuple[Any, ...]]) -> str:
    """How ``new`` differs from the one of the keys ``others`` that is nearest to it; empty if there are none."""
    found: list[list[str]] = [_differences(parameters, old, new) for old in others]
    if not found:
        return ""
    nearest: list[str] = min(found, key=_count)
    return "; ".join(nearest) + ". Pad what varies to a few sizes (see jit's buckets), or mark it static"


def differ_in_shape_alone(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two keys are equal but for the shapes of the arguments, which may be equal too."""
    if one[0] != other[0] or one[2:] != other[2:] or len(one[1]) != len(other[1]):
        return False
    return all(a.dtype == b.dtype and a.weak == b.weak for a, b in zip(one[1], other[1], strict=True))


def _count(differences: list[str]) -> int:
    return len(differences)


def _differences(parameters: list[inspect.Parameter] | None, old_key: Any, new_key: Any) -> list[str]:
    old, new = Key(*old_key), Key(*new_key)
    if old.structure != new.structure or len(old_key) != len(new_key):
        return [f"the arguments were passed as {old.structure}, now as {new.structure}"] * 2
    found = [
        f"argument {name} was {shown(before)}, now it is {shown(after)}"
        for name, before, after in zip(leaf_names(parameters, new_key), old.specs, new.specs, strict=True)
        if before is not after
    ]
    before, after = ({where: (value, mark) for where, value, mark in key.static} for key in (old, new))
    positional = [p.name for p in parameters or ()]
    for where in sorted(before.keys() | after.keys(), key=str):
        if before.get(where) != after.get(where):
            name = positional[where] if isinstance(where, int) and where < len(positional) else where
            values = [repr(key[where][0]) if where in key else "not given" for key in (before, after)]
            found.append(f"static argument {name} was {values[0]}, now it is {values[1]}")
    if old.state != new.state:
        found.append("an attribute of the object whose method it is has changed")
    if old.defaults != new.defaults:
        found.append(f"the default dtypes were {old.defaults}, now they are {new.defaults}")
    return found
