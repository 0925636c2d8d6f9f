"""Nested containers, flattened by jaxlib's C++ walker in a registry of our own.

The registry of `jax` is another one: what is registered here does not exist there, and the other way round.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .bindings import _jax

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

T = TypeVar("T")

TreeDef: TypeAlias = Any
"""jaxlib ``PyTreeDef``: a structure without its leaves; hashable, comparable, with ``unflatten(leaves)``."""


class _Lazy:
    """The registry, made at first use, under ``lock``; any thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.registry: Any = None


_lazy = _Lazy()


def registry() -> Any:
    """The registry: None, tuple, list, dict and namedtuple are nodes in it, and what was registered."""
    if _lazy.registry is None:
        with _lazy.lock:
            if _lazy.registry is None:
                _lazy.registry = _jax.pytree.PyTreeRegistry(
                    enable_none=True,
                    enable_tuple=True,
                    enable_namedtuple=True,
                    enable_list=True,
                    enable_dict=True,
                )
    return _lazy.registry


def flatten(tree: object) -> tuple[list[Any], TreeDef]:
    """The leaves of ``tree``, left to right, dicts by sorted key; and its structure. None has no leaves."""
    leaves, treedef = registry().flatten(tree)
    return leaves, treedef


def paths(tree: object) -> list[tuple[Any, ...]]:
    """Where each leaf of ``tree`` is: keys with an ``idx``, a ``key`` or a ``name``, from the outside in."""
    return [path for path, _ in registry().flatten_with_path(tree)[0]]


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of that structure with these leaves. Raises ValueError unless their number is right."""
    return treedef.unflatten(leaves)


def register_node(
    cls: type[T],
    to_children: Callable[[T], tuple[Iterable[Any], Hashable]],
    from_children: Callable[[Any, tuple[Any, ...]], T],
) -> None:
    """Make ``cls`` a node, which ``to_children`` takes apart and ``from_children`` puts together.

    ``to_children(x)`` gives (children, auxiliary), ``from_children(auxiliary, children)`` gives x.
    ``auxiliary`` is part of the structure: hashable and comparable. Raises ValueError if ``cls`` is one.
    """
    registry().register_node(cls, to_children, from_children)


def register_dataclass(cls: type[Any], data_fields: Sequence[str], static_fields: Sequence[str] = ()) -> None:
    """Make a dataclass a node: ``data_fields`` are its children, ``static_fields`` part of its structure."""
    registry().register_dataclass_node(cls, list(data_fields), list(static_fields))
