"""``Definition``: a function on nodes that the engine can run as one compiled program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from .node import Node

# What a body gives: one node, or a tuple of them.
Result = TypeVar("Result", bound="Node | tuple[Node, ...]", covariant=True)


class Definition(Generic[Result]):
    """``body(*nodes, *static)`` under a name, and the programs made of it.

    Called on nodes it inlines its body, so definitions are built out of definitions.
    """

    __slots__ = ("__weakref__", "body", "fast", "name", "programs")

    def __init__(self, name: str, body: Callable[..., Result]) -> None:
        self.name = name
        self.body = body
        # Key -> program. Filled by the loop or any other thread that enqueues; emptied by the engine's eviction.
        self.programs: dict[Any, Any] = {}
        # The same keys, for programs that may be launched on the spot: (execute, handlers, result's spec, program).
        self.fast: dict[Any, tuple[Any, Any, Any, Any]] = {}

    def __call__(self, *arguments: Any) -> Result:
        return self.body(*arguments)

    def __repr__(self) -> str:
        return f"Definition({self.name})"


def definition(body: Callable[..., Result]) -> Definition[Result]:
    """Decorator: ``body`` under its own name."""
    return Definition(body.__name__.strip("_"), body)
