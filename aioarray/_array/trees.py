"""Nested containers of Arrays: dict, list, tuple, namedtuple, dataclass, None, and registered classes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .._xla import tree as _tree

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

T = TypeVar("T")
Tree: TypeAlias = Any
TreeDef: TypeAlias = Any


def flatten(tree: Tree) -> tuple[list[Any], TreeDef]:
    """The leaves of ``tree`` and its structure, which can be compared, hashed and unflattened."""
    leaves, structure = _tree.flatten(tree)
    fresh = {kind for kind in set(map(type, leaves)) if dataclasses.is_dataclass(kind)}
    if not fresh:
        return leaves, structure
    for cls in fresh:
        _tree.register_dataclass(cls, [field.name for field in dataclasses.fields(cls) if field.init])
    return flatten(tree)


def flattener() -> Callable[[Tree], tuple[list[Any], TreeDef]]:
    """A function as ``flatten``, but faster, for which a dataclass that was not met before stays a leaf."""
    return _tree.registry().flatten  # type: ignore[no-any-return]


def paths(tree: Tree) -> list[tuple[Any, ...]]:
    """Where each leaf of ``tree`` is, in the order of ``flatten``: keys with an ``idx``, a ``key`` or a ``name``."""
    return _tree.paths(tree)


def unflatten(structure: TreeDef, leaves: Iterable[Any]) -> Tree:
    """The tree of that structure with ``leaves``."""
    return _tree.unflatten(structure, leaves)


def register_tree_node(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Any, tuple[Any, ...]], T],
) -> None:
    """Make instances of ``cls`` trees: ``flatten(x)`` gives ``(children, auxiliary)``, ``unflatten`` takes these again.

    ``auxiliary`` is hashable and comparable, a part of the structure. Raises ``ValueError`` for a class that is
    registered already.

    >>> class Pair:
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> aio.register_tree_node(Pair, lambda p: ((p.left, p.right), None), lambda _, children: Pair(*children))
    >>> aio.block_until_ready(Pair(aio.ones(2), None)).left
    Array([1., 1.], dtype=float32)
    """
    _tree.register_node(cls, flatten, unflatten)
