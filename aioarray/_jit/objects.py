"""The state of an object whose method is jitted: its Arrays are arguments like any other, the rest is static.

So ``self.weights = updated`` is seen by the next call, and ``self.training = False`` makes another program.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, NamedTuple

from .._array import Array
from .._base.marks import mark
from .._xla import trees

# Objects within objects are looked through so far; beyond it, and for these types, an object is known by its identity.
DEPTH = 8
_OPAQUE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


class State(NamedTuple):
    """What a method can see of its object."""

    instance: object
    arrays: list[Array]  # each once
    key: tuple[Any, ...]  # all the rest, and where each Array is


class Same:
    """A key that stands for one object, which it keeps alive."""

    __slots__ = ("_object",)

    def __init__(self, value: object) -> None:
        self._object = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other._object is self._object

    def __hash__(self) -> int:
        return id(self._object)


def is_tree(instance: object) -> bool:
    """Whether ``instance`` is a node of trees, so that it is an argument like any other."""
    leaves, _ = trees.flatten(instance)
    return not (len(leaves) == 1 and leaves[0] is instance)


def state_of(instance: object) -> State:
    """The state of ``instance``: of its attributes, the containers in them, and the objects in those."""
    arrays: list[Array] = []
    key: list[Any] = []
    positions: dict[int, int] = {}
    seen: set[int] = set()

    def visit(value: Any, depth: int) -> None:
        if isinstance(value, Array):
            position = positions.setdefault(id(value), len(arrays))
            if position == len(arrays):
                arrays.append(value)
            key.append(position)
        elif depth < DEPTH and id(value) not in seen and (attributes := _attributes(value)) is not None:
            seen.add(id(value))
            leaves, structure = trees.flatten(attributes)
            key.append((type(value), structure))
            for leaf in leaves:
                visit(leaf, depth + 1)
        elif isinstance(value, (bool, int, float, complex, str, bytes)):
            key.append((value, mark(value)))
        else:
            key.append(Same(value))

    visit(instance, 0)
    return State(instance, arrays, tuple(key))


def _attributes(value: object) -> dict[str, Any] | None:
    """The attributes of an object, also those in slots; None of what is known by its identity."""
    if isinstance(value, _OPAQUE):
        return None
    found: dict[str, Any] = dict(getattr(value, "__dict__", ()))
    kind = type(value)
    # Objects with a hash by value (paths, fractions) keep what they have computed in slots, and never change.
    by_value = kind.__hash__ not in (None, object.__hash__) and not dataclasses.is_dataclass(kind)
    slots = [] if by_value else [name for base in kind.__mro__ for name in _slots_of(base)]
    found.update((name, getattr(value, name)) for name in slots if hasattr(value, name))
    if isinstance(value, (tuple, list, dict)):  # as a class of the user's
        found[""] = dict(value) if isinstance(value, dict) else tuple(value)
    return found if found or slots or hasattr(value, "__dict__") else None


def _slots_of(cls: type) -> list[str]:
    if "__slots__" not in vars(cls):
        return []
    return [name for name, member in vars(cls).items() if isinstance(member, types.MemberDescriptorType)]
