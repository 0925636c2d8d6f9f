"""Trees of arguments and results, as files of ``jax.export`` describe them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind: TypeAlias = Literal["leaf", "none", "tuple", "list", "dict"]


@dataclass(frozen=True, slots=True)
class Structure:
    """A leaf, or a container of others. What JAX calls a custom node is a tuple of its children here."""

    kind: Kind
    children: tuple[Structure, ...] = ()
    keys: tuple[str, ...] = ()  # of a dict, sorted

    def count(self) -> int:
        """How many leaves there are."""
        return 1 if self.kind == "leaf" else sum(child.count() for child in self.children)

    def build(self, leaves: Iterator[Any]) -> Any:
        """The tree with ``leaves``, left to right."""
        if self.kind == "leaf":
            return next(leaves)
        if self.kind == "none":
            return None
        children = [child.build(leaves) for child in self.children]
        if self.kind == "tuple":
            return tuple(children)
        return children if self.kind == "list" else dict(zip(self.keys, children, strict=True))

    def flatten(self, tree: Any, path: str, leaves: list[tuple[str, Any]]) -> None:
        """Append (path, leaf) for each leaf of ``tree``. ``TypeError`` where it is not of this structure."""
        if self.kind == "leaf":
            if tree is None or isinstance(tree, (tuple, list, dict)):
                raise TypeError(f"{path} is {_describe(tree)}; it takes an array")
            leaves.append((path, tree))
        elif self.kind == "none":
            if tree is not None:
                raise TypeError(f"{path} is {_describe(tree)}; it takes None")
        elif self.kind == "dict":
            if not isinstance(tree, dict) or tree.keys() != set(self.keys):
                raise TypeError(f"{path} is {_describe(tree)}; it takes a dict with the keys {_listed(self.keys)}")
            for key, child in zip(self.keys, self.children, strict=True):
                child.flatten(tree[key], f"{path}[{key!r}]", leaves)
        else:
            expected = tuple if self.kind == "tuple" else list
            if not isinstance(tree, expected) or len(tree) != len(self.children):
                raise TypeError(f"{path} is {_describe(tree)}; it takes a {self.kind} of {len(self.children)}")
            for index, child in enumerate(self.children):
                child.flatten(tree[index], f"{path}[{index}]", leaves)


LEAF = Structure("leaf")


def _listed(keys: Sequence[object]) -> str:
    return ", ".join(map(repr, keys)) or "none"


def _describe(tree: Any) -> str:
    if isinstance(tree, dict):
        return f"a dict with the keys {_listed(sorted(tree, key=str))}"
    if isinstance(tree, (tuple, list)):
        return f"a {type(tree).__name__} of {len(tree)}"
    return f"a {type(tree).__name__}"


def structure_of(tree: Any, leaves: list[Any], path: str = "the argument") -> Structure:
    """The structure of ``tree``, whose leaves are appended. ``TypeError`` for containers the format does not have."""
    if tree is None:
        return Structure("none")
    if type(tree) is tuple or type(tree) is list:
        children = tuple(structure_of(item, leaves, f"{path}[{i}]") for i, item in enumerate(tree))
        return Structure("tuple" if type(tree) is tuple else "list", children)
    if type(tree) is dict:
        for key in tree:
            if not isinstance(key, str):
                raise TypeError(f"{path} is a dict with the key {key!r}; the format knows strings only")
        keys = tuple(sorted(tree))
        return Structure("dict", tuple(structure_of(tree[k], leaves, f"{path}[{k!r}]") for k in keys), keys)
    leaves.append(tree)
    return LEAF
