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

    __slots__ = ("__weakref__", "body", "fast", "name", "out_of_range", "programs")

    def __init__(
        self, name: str, body: Callable[..., Result], out_of_range: Callable[[int], float] | None = None
    ) -> None:
        self.name = name
        self.body = body
        # Gives the float with which the result is that of a Python integer beyond the other operand's dtype.
        self.out_of_range = out_of_range
        # What runs it keeps here what it made, by the specs of the operands: programs, and those of them that may be
        # launched on the spot. Filled by any thread that calls, emptied by the cache of programs.
        self.programs: dict[Any, Any] = {}
        self.fast: dict[Any, Any] = {}

    def __call__(self, *arguments: Any) -> Result:
        return self.body(*arguments)

    def __repr__(self) -> str:
        return f"Definition({self.name})"


def definition(body: Callable[..., Result]) -> Definition[Result]:
    """Decorator: ``body`` under its own name."""
    return Definition(body.__name__.strip("_"), body)
