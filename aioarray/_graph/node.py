"""``Op``, ``Node``, ``Graph``: a computation as data, before it is lowered.

An ``Op`` is declared once, in a table of ``_ops``. Calling it on nodes checks them, infers the result's spec, and gives
the node that stands for the result. A node is immutable and may be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .spec import ArraySpec, array_spec

if TYPE_CHECKING:
    import numpy as np

    from .._base.dtypes import DType

Params: TypeAlias = Mapping[str, Any]
# An Op with several results gives a tuple of specs.
Specs: TypeAlias = ArraySpec | tuple[ArraySpec, ...]


class Emitter(Protocol):
    """What lowering rules write to (implemented by ``lower``). Operands and results are SSA names."""

    def op(
        self,
        name: str,
        operands: tuple[str, ...],
        operand_specs: tuple[ArraySpec, ...],
        results: Specs,
        attributes: Mapping[str, str] | None = None,
        regions: tuple[str, ...] = (),
        properties: bool = True,
    ) -> str: ...

    def region(self, graph: Graph, bound: tuple[str, ...] = ()) -> str: ...

    def reducer(self, name: str, dtype: DType) -> str: ...

    def fresh(self) -> str: ...

    def add_functions(self, text: str, dynamic: bool) -> None: ...


Infer: TypeAlias = Callable[..., Specs]
Lower: TypeAlias = Callable[[Emitter, "Node", tuple[str, ...]], str]


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One primitive operation.

    ``infer(*specs, **params)`` gives the result's spec or raises; ``lower(emitter, node, operands)`` writes StableHLO
    and gives the result's name. ``bounded`` says that the cost analysis of XLA bounds its time (not so for loops with
    a dynamic trip count and for calls into libraries). ``steady`` says that one run on operands of given specs takes
    about as long as another. ``may_fail`` says that it can fail while it runs.
    """

    name: str
    infer: Infer
    lower: Lower
    bounded: bool = True
    may_fail: bool = False
    steady: bool = True

    def __call__(self, *inputs: Node, **params: Any) -> Node:
        specs = self.infer(*[node.spec for node in inputs], **params)
        return Node(self, inputs, params, specs)

    def __repr__(self) -> str:
        return f"Op({self.name})"


class Node:
    """A value in a graph: ``op`` applied to ``inputs`` with static ``params``."""

    __slots__ = ("inputs", "op", "params", "specs")

    def __init__(self, op: Op, inputs: tuple[Node, ...], params: Params, specs: Specs) -> None:
        self.op = op
        self.inputs = inputs
        self.params = params
        self.specs = specs

    @property
    def spec(self) -> ArraySpec:
        specs = self.specs
        if isinstance(specs, tuple):
            raise TypeError(f"{self.op.name} has {len(specs)} results; take one with result(node, index)")
        return specs

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        return self.spec.ndim

    @property
    def size(self) -> int:
        return self.spec.size

    @property
    def weak(self) -> bool:
        return self.spec.weak

    def __repr__(self) -> str:
        return f"{self.op.name}: {self.specs}"


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A whole program: what goes in, what comes out."""

    name: str
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]


def _no_rule(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    raise AssertionError(f"{node.op.name} is written by the graph's lowering itself")


# The three leaves that lowering itself knows.
INPUT = Op("input", lambda *, spec: spec, _no_rule)
CONSTANT = Op("constant", lambda *, value, weak=False: array_spec(value.shape, value.dtype, None, weak), _no_rule)
RESULT = Op("result", lambda *specs, index: specs[index], _no_rule)


def input_node(spec: ArraySpec) -> Node:
    """A parameter of the program; ``spec``'s device is dropped."""
    return INPUT(spec=array_spec(spec.shape, spec.dtype, None, spec.weak))


def constant(value: np.ndarray, weak: bool = False) -> Node:
    """A value known when the program is built; ``value`` must not change afterwards."""
    return CONSTANT(value=value, weak=weak)


def result(node: Node, index: int) -> Node:
    """Result number ``index`` of a node that has several."""
    assert isinstance(node.specs, tuple)
    return Node(RESULT, (node,), {"index": index}, node.specs[index])


def results(node: Node) -> tuple[Node, ...]:
    """All results of a node that has several."""
    assert isinstance(node.specs, tuple)
    return tuple(result(node, index) for index in range(len(node.specs)))
