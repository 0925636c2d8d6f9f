"""The state of an object whose method is jitted: its Arrays are arguments like any other, the rest is static.

So ``self.weights = updated`` is seen by the next call, and ``self.training = False`` makes another program.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from .._array import Array, trees
from .signature import mark

# Objects within objects are looked through so far; beyond it, and for these types, an object is known by its identity.
DEPTH = 8
_OPAQUE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


class State(NamedTuple):
    """What a method can see of its object."""

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
        elif hasattr(value, "__dict__") and depth < DEPTH and not isinstance(value, _OPAQUE) and id(value) not in seen:
            seen.add(id(value))
            leaves, structure = trees.flatten(vars(value))
            key.append((type(value), structure))
            for leaf in leaves:
                visit(leaf, depth + 1)
        elif isinstance(value, (bool, int, float, complex, str, bytes)):
            key.append((value, mark(value)))
        else:
            key.append(Same(value))

    visit(instance, 0)
    return State(arrays, tuple(key))
