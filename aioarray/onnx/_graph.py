"""A model as plain data: what ``_read`` makes of a file, and what the evaluator walks. Nothing here changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

_MISSING: Any = object()
# What an attribute may be, for messages.
_KINDS = {int: "an integer", float: "a float", str: "a string", tuple: "a list"}


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """What a model takes or gives: its name, dtype and shape, and what the file says about it.

    ``shape`` has an int for a fixed length, a name for one that may vary, None for one that has no name; it is None
    itself where the file does not say how many axes there are. ``dtype`` is None for what is no tensor.

    >>> aio.onnx.ValueInfo("x", aio.ones(3).dtype, ("batch", 3))
    ValueInfo(name='x', dtype=dtype('float32'), shape=('batch', 3), doc='')
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int | str | None, ...] | None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute of a function's node that is an attribute of the function itself."""

    name: str


@dataclass(frozen=True)
class Node:
    """One call of an operator. ``inputs`` and ``outputs`` are names; "" is an optional one that is not there."""

    source: str  # the file, for messages
    name: str
    op: str
    domain: str
    version: int  # of the domain's operators, as the model says
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    overload: str = ""

    def error(self, text: str, attribute: str | None = None) -> FormatError:
        """A ``FormatError`` that names the node, its operator and the attribute."""
        what = "" if attribute is None else f", attribute {attribute!r}"
        return FormatError(f"{self.source}: node {self.name!r} ({self.label}){what}: {text}")

    @property
    def label(self) -> str:
        """The operator, with its domain unless that is ONNX's own."""
        return f"{self.domain}.{self.op}" if self.domain else self.op

    def _get(self, name: str, kind: type, default: Any) -> Any:
        value = self.attributes.get(name, default)
        if value is _MISSING:
            raise self.error("is missing; the operator needs it", name)
        if value is not default and not isinstance(value, kind):
            raise self.error(f"is {value!r:.60}; the operator takes {_KINDS[kind]}", name)
        return value

    def integer(self, name: str, default: Any = _MISSING) -> int:
        """The integer attribute ``name``."""
        return self._get(name, int, default)  # type: ignore[no-any-return]

    def number(self, name: str, default: Any = _MISSING) -> float:
        """The attribute ``name``, a float."""
        return self._get(name, float, default)  # type: ignore[no-any-return]

    def text(self, name: str, default: Any = _MISSING) -> str:
        """The attribute ``name``, a text."""
        return self._get(name, str, default)  # type: ignore[no-any-return]

    def items(self, name: str, default: Any = _MISSING) -> tuple[Any, ...]:
        """The attribute ``name``, a tuple of ints, floats, texts or tensors."""
        return self._get(name, tuple, default)  # type: ignore[no-any-return]

    def get(self, name: str) -> Any:
        """The attribute ``name`` as it is; None if it is not there."""
        return self.attributes.get(name)

    def graph(self, name: str) -> Graph:
        """The attribute ``name``, a graph."""
        value = self.attributes.get(name)
        if not isinstance(value, Graph):
            raise self.error("is missing, or no graph; the operator needs one", name)
        return value

    def graphs(self) -> dict[str, Graph]:
        """The attributes that are graphs."""
        return {name: value for name, value in self.attributes.items() if isinstance(value, Graph)}


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which each finds its inputs. Names that nothing in it gives come from around it."""

    name: str
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    nodes: tuple[Node, ...]
    constants: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def used(self) -> frozenset[str]:
        """The names it takes from around it."""
        given = {info.name for info in self.inputs} | set(self.constants)
        found: set[str] = set()
        for node in self.nodes:
            for name in node_uses(node):
                if name not in given:
                    found.add(name)
            given.update(node.outputs)
        found.update(info.name for info in self.outputs if info.name not in given)
        return frozenset(found)


@dataclass(frozen=True)
class Function:
    """A function of the model's own, or the body by which ONNX defines an operator."""

    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]  # with their defaults; ``None`` where there is none
    nodes: tuple[Node, ...]


def node_uses(node: Node) -> list[str]:
    """The names whose values a node takes, those in its graphs among them."""
    names = [name for name in node.inputs if name]
    for graph in node.graphs().values():
        names += graph.used()
    return names
