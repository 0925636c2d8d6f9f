"""Nested containers of Arrays: dict, list, tuple, namedtuple, dataclass, None, and registered classes.

jaxlib's walker in C++ takes them apart, with a registry of our own: what is registered here does not exist in that of
`jax`, nor the other way round.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .bindings import _jax

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

T = TypeVar("T")

Tree: TypeAlias = Any
TreeDef: TypeAlias = Any
"""jaxlib ``PyTreeDef``: a structure without its leaves; hashable, comparable, with ``unflatten(leaves)``."""


class _Lazy:
    """The registry, made at first use, under ``lock``; any thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.registry: Any = None


_lazy = _Lazy()


def _registry() -> Any:
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


def flatten(tree: Tree) -> tuple[list[Any], TreeDef]:
    """The leaves of ``tree``, left to right, dicts by sorted key; and its structure. None has no leaves."""
    leaves, structure = _registry().flatten(tree)
    # Dataclasses are registered when they are first met.
    fresh = {kind for kind in set(map(type, leaves)) if dataclasses.is_dataclass(kind)}
    if not fresh:
        return leaves, structure
    for cls in fresh:
        _registry().register_dataclass_node(cls, [field.name for field in dataclasses.fields(cls) if field.init], [])
    return flatten(tree)


def flattener() -> Callable[[Tree], tuple[list[Any], TreeDef]]:
    """A function as ``flatten``, but faster, for which a dataclass that was not met before stays a leaf."""
    return _registry().flatten  # type: ignore[no-any-return]


def paths(tree: Tree) -> list[tuple[Any, ...]]:
    """Where each leaf of ``tree`` is, in the order of ``flatten``: keys with an ``idx``, a ``key`` or a ``name``."""
    return [path for path, _ in _registry().flatten_with_path(tree)[0]]


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
    _registry().register_node(cls, flatten, unflatten)
