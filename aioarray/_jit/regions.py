"""Functions that become the bodies of branches and loops, inside a trace or as a program of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._array import Array, Recording, TracedArray, as_array, enqueue, tracing
from .._base import dtypes
from .._dispatch.operands import common_device
from .._dispatch.programs import make_program
from .._dispatch.scalars import is_scalar, scalar_operand
from .._graph import ArraySpec, Graph, Node
from .._ops._rules import digits
from .._ops.lax import Body
from .._xla import trees
from .tracing import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._xla.trees import Tree, TreeDef


class Traced(NamedTuple):
    """A function as a body."""

    body: Body
    structure: TreeDef  # of the result

    @property
    def outputs(self) -> tuple[Node, ...]:
        return self.body.graph.outputs


def argument(function: str, x: Any) -> Array:
    """``x`` as an Array for a program; Python numbers weak."""
    if is_scalar(x):
        dtype = dtypes.default_for_rank(dtypes.scalar_rank(x))
        return Array(*scalar_operand(x, dtype), True)
    return as_array(function, x)


def in_trace(name: str, function: Callable[..., Any], *arguments: Tree) -> Any:
    """``function(recording, *trees)``, with traced arrays in the trees: in the trace going on, or as one program.

    The program is traced anew at each call, since functions may close over anything; an executable is found by content.
    """
    leaves, structure = trees.flatten(arguments)
    recording = tracing.recording
    if recording is not None:
        traced = [recording.traced(name, leaf) for leaf in leaves]
        return function(recording, *structure.unflatten(traced))
    arrays = [argument(name, leaf) for leaf in leaves]
    device = common_device(name, [x._spec for x in arrays])

    def whole(values: list[Any]) -> Any:
        return function(tracing.recording, *structure.unflatten(values))

    graph = trace(name, whole, [x._spec for x in arrays], device)
    if not graph.outputs:
        return graph.structure.unflatten(())
    program = make_program(name, graph.inputs, graph.outputs, device, single=False)
    results = enqueue(program, [x._operand(name) for x in (*arrays, *graph.captured)])
    return graph.structure.unflatten(results)


def nodes(values: Sequence[TracedArray]) -> list[Node]:
    """The nodes of traced arrays."""
    return [value._node for value in values]


def close(parent: Recording, child: Recording, outputs: Sequence[Node]) -> Body:
    """What ``child`` has recorded, as a body in ``parent``."""
    captured = list(child.captured.values())
    inputs = (*child.inputs, *[node for _, node in captured])
    around = tuple([digits(parent.node(child.name, array)) for array, _ in captured])
    return Body(Graph(child.name, inputs, tuple(outputs)), around)


def trace_body(
    parent: Recording, name: str, function: Callable[[list[TracedArray]], Any], specs: Sequence[ArraySpec]
) -> Traced:
    """``function(arrays)``, where the arrays have ``specs``, as a body in ``parent``; it returns a tree."""
    with Recording(name, parent.device) as child:
        leaves, structure = trees.flatten(function([child.argument(spec) for spec in specs]))
        outputs = [child.node(name, leaf) for leaf in leaves]
    return Traced(close(parent, child, outputs), structure)


class _Shown:
    """A leaf of a tree in a message."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def difference(
    first: str, structure: TreeDef, specs: Sequence[ArraySpec], second: str, other: TreeDef, others: Sequence[ArraySpec]
) -> str:
    """How two trees of arrays differ: both, and where they do first."""
    shown = []
    for each, leaves in ((structure, specs), (other, others)):
        shown.append(each.unflatten([_Shown(str(x.on(None))) for x in leaves]))
    text = f"{first} {shown[0]!r}, {second} {shown[1]!r}"
    if structure != other:
        return f"{text}: they are trees of different structure"
    paths = trees.paths(shown[0])
    for path, x, y in zip(paths, specs, others, strict=True):
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            place = f"at {trees.path_text(path)} they are" if path else "they are"
            return f"{text}: {place} {x.on(None)} and {y.on(None)}"
    raise AssertionError("called only where there is a difference")
