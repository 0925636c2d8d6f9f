"""Control flow whose conditions and trip counts are values: ``cond switch while_loop fori_loop scan map``.

Inside ``jit`` they become a part of the program. Outside they are one program themselves, traced at each call.
Functions given to them may close over Arrays; they take and return trees. Conditions are computed on the device, and
nothing waits.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ._array import Array, Recording, TracedArray, tracing
from ._base import dtypes
from ._graph import Graph, Node, array_spec, input_node
from ._jit.regions import Traced, close, difference, in_trace, nodes, trace_body
from ._ops import lax
from ._ops._primitives import add, less, select, subtract
from ._ops._rules import CONVERT, broadcast_to, convert, promote, scalar
from ._xla import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._array import ArrayLike
    from ._base.dtypes import DType
    from ._graph import ArraySpec
    from ._xla.trees import TreeDef

__all__ = ["cond", "fori_loop", "map", "scan", "switch", "while_loop"]

T = TypeVar("T")
Carry = TypeVar("Carry")


def cond(pred: ArrayLike, true_fun: Callable[..., T], false_fun: Callable[..., T], /, *operands: Any) -> T:
    """``true_fun(*operands)`` if ``pred``, else ``false_fun(*operands)``; only one of them is run.

    ``pred`` is a boolean of no dimensions. ``TypeError`` where the two give trees of other structure, shapes or dtypes.

    >>> aio.lax.cond(aio.asarray(2.0) > 1, lambda x: x + 1, lambda x: x * 0, 41.0)
    Array(42., dtype=float32)
    """

    def build(recording: Recording, pred: TracedArray, operands: tuple[Any, ...]) -> T:
        node = pred._node
        if node.ndim or node.dtype not in dtypes.INTEGRAL_OR_BOOLEAN:
            raise TypeError(f"cond: pred is {node.spec}; it takes a boolean of no dimensions")
        index = select(convert(node, dtypes.bool_), scalar(0, dtypes.int32), scalar(1, dtypes.int32))
        return _branch(recording, "cond", index, {"true_fun": true_fun, "false_fun": false_fun}, operands)

    return in_trace("cond", build, pred, operands)  # type: ignore[no-any-return]


def switch(index: ArrayLike, branches: Sequence[Callable[..., T]], /, *operands: Any) -> T:
    """``branches[index](*operands)``; an ``index`` out of range is brought into it.

    ``index`` is an integer of no dimensions. ``TypeError`` where branches give other structures, shapes or dtypes.

    >>> aio.lax.switch(aio.asarray(1), [lambda x: -x, lambda x: x * x], 3)
    Array(9, dtype=int32)
    """
    if not branches:
        raise ValueError("switch: there are no branches; give at least one")

    def build(recording: Recording, index: TracedArray, operands: tuple[Any, ...]) -> T:
        node = index._node
        if node.ndim or node.dtype not in dtypes.INTEGRAL:
            raise TypeError(f"switch: index is {node.spec}; it takes an integer of no dimensions")
        named = {f"branches[{i}]": function for i, function in enumerate(branches)}
        return _branch(recording, "switch", node, named, operands)

    return in_trace("switch", build, index, operands)  # type: ignore[no-any-return]


def _branch(
    recording: Recording, name: str, index: Node, functions: dict[str, Callable[..., T]], operands: tuple[Any, ...]
) -> T:
    leaves, structure = trees.flatten(operands)

    def call(function: Callable[..., T]) -> Callable[[list[TracedArray]], T]:
        # Operands are given as arrays of the branch itself, which it may update in place.
        return lambda _: function(*structure.unflatten([tracing.recording.traced(name, x) for x in leaves]))  # type: ignore[union-attr]

    traced = [trace_body(recording, f"{label} of {name}", call(function), ()) for label, function in functions.items()]
    traced = _agreed(recording, name, list(functions), traced)
    results = lax.switch(index, [branch.body for branch in traced]) if traced[0].outputs else ()
    return traced[0].structure.unflatten([TracedArray(recording, node) for node in results])  # type: ignore[no-any-return]


def _agreed(recording: Recording, name: str, labels: list[str], traced: list[Traced]) -> list[Traced]:
    """The branches with weak results in the dtype that others have; ``TypeError`` if that does not make them agree."""
    first = traced[0]
    common: list[DType] = []
    for position in range(len(first.outputs)):
        column = [branch.outputs[position] for branch in traced if position < len(branch.outputs)]
        strong = [node.dtype for node in column if not node.weak]
        common.append(strong[0] if strong else column[0].dtype)
    for label, branch in zip(labels, traced, strict=True):
        same = branch.structure == first.structure and all(
            node.shape == other.shape and (node.weak or node.dtype == dtype)
            for node, other, dtype in zip(branch.outputs, first.outputs, common, strict=True)
        )
        if not same:
            wanted = [array_spec(n.shape, d) for n, d in zip(first.outputs, common, strict=True)]
            found = [node.spec for node in branch.outputs]
            text = difference(f"{labels[0]} gives", first.structure, wanted, f"{label}", branch.structure, found)
            raise TypeError(f"{name}: branches must give the same; {text}")
    agreed = []
    for branch in traced:
        graph, around = branch.body
        outputs = tuple([convert(node, dtype) for node, dtype in zip(graph.outputs, common, strict=True)])
        agreed.append(Traced(lax.Body(Graph(graph.name, graph.inputs, outputs), around), branch.structure))
    return agreed


class _Turn(NamedTuple):
    """One turn of a loop, recorded."""

    child: Recording
    structure: TreeDef  # of the carried values it gives
    carried: list[Node]  # those
    others: list[Node]  # what it gives besides


def _settled(
    name: str, label: str, structure: TreeDef, carried: list[Node], record: Callable[[list[ArraySpec]], _Turn]
) -> tuple[list[Node], _Turn]:
    """The carried values to begin with, and a turn that gives what it takes; ``TypeError`` if there is none.

    Weak values, which come from Python numbers, take the dtype that the turn gives them.
    """
    while True:
        turn = record([node.spec for node in carried])
        if turn.structure != structure or not all(_fits(*pair) for pair in zip(carried, turn.carried, strict=True)):
            given, taken = [node.spec for node in turn.carried], [node.spec for node in carried]
            text = difference("it takes", structure, taken, "but gives", turn.structure, given)
            raise TypeError(f"{name}: {label} must give what it takes; {text}")
        changed = False
        for index, (before, after) in enumerate(zip(carried, turn.carried, strict=True)):
            if before.weak and not (after.weak and after.dtype == before.dtype):
                carried[index] = CONVERT(before, dtype=after.dtype)
                changed = True
        if not changed:
            result = [convert(after, before.dtype) for before, after in zip(carried, turn.carried, strict=True)]
            return carried, turn._replace(carried=result)


def _fits(before: Node, after: Node) -> bool:
    if before.shape != after.shape:
        return False
    narrower = dtypes.dtype_rank(after.dtype) <= dtypes.dtype_rank(before.dtype)
    return before.weak or before.dtype == after.dtype or (after.weak and narrower)


def while_loop(cond_fun: Callable[[Carry], Any], body_fun: Callable[[Carry], Carry], init_val: Carry, /) -> Carry:
    """Apply ``body_fun`` to ``init_val`` as long as ``cond_fun`` of the value is true; give the last value.

    ``TypeError`` unless ``body_fun`` gives the structure, shapes and dtypes that it takes, and ``cond_fun`` a boolean
    of no dimensions.

    >>> aio.lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
    Array(192, dtype=int32)
    """

    def build(recording: Recording, init: Carry) -> Carry:
        leaves, structure = trees.flatten(init)

        def record(specs: list[ArraySpec]) -> _Turn:
            with Recording("body_fun of while_loop", recording.device) as child:
                values = [child.argument(spec) for spec in specs]
                return _turn(child, body_fun(structure.unflatten(values)))

        carried, turn = _settled("while_loop", "body_fun", structure, nodes(leaves), record)
        condition = trace_body(
            recording,
            "cond_fun of while_loop",
            lambda values: cond_fun(structure.unflatten(values)),
            [node.spec for node in carried],
        )
        outputs = condition.outputs
        if len(outputs) != 1 or outputs[0].ndim or outputs[0].dtype != dtypes.bool_:
            given = ", ".join([str(node.spec.on(None)) for node in outputs]) or "nothing"
            raise TypeError(f"while_loop: cond_fun gives {given}; it must give a boolean of no dimensions")
        body = close(recording, turn.child, turn.carried)
        results = lax.loop(condition.body, body, carried, counted=False)
        return _tree(recording, structure, results)  # type: ignore[no-any-return]

    return in_trace("while_loop", build, init_val)  # type: ignore[no-any-return]


def fori_loop(
    lower: ArrayLike, upper: ArrayLike, body_fun: Callable[[Array, Carry], Carry], init_val: Carry, /
) -> Carry:
    """``value = body_fun(i, value)`` for ``i`` from ``lower`` to ``upper - 1``, beginning with ``init_val``.

    Gives the last value. The bounds are integers of no dimensions, known or not; ``i`` promotes as a Python number
    does. ``TypeError`` unless ``body_fun`` gives the structure, shapes and dtypes that it takes.

    >>> aio.lax.fori_loop(0, aio.asarray(5), lambda i, total: total + i, 0)
    Array(10, dtype=int32)
    """
    # Only inside a trace are Python numbers a part of the program.
    counted = tracing.recording is not None and isinstance(lower, int) and isinstance(upper, int)

    def build(recording: Recording, lower: TracedArray, upper: TracedArray, init: Carry) -> Carry:
        for label, bound in (("lower", lower), ("upper", upper)):
            if bound.ndim or bound.dtype not in dtypes.INTEGRAL:
                raise TypeError(f"fori_loop: {label} is {bound._spec}; it takes an integer of no dimensions")
        start, stop = _bounds(lower._node, upper._node)
        leaves, structure = trees.flatten(init)

        def record(specs: list[ArraySpec]) -> _Turn:
            with Recording("body_fun of fori_loop", recording.device) as child:
                index = child.argument(array_spec((), start.dtype, None, True))
                values = [child.argument(spec) for spec in specs]
                return _turn(child, body_fun(index, structure.unflatten(values)))

        carried, turn = _settled("fori_loop", "body_fun", structure, nodes(leaves), record)
        results = _count(recording, turn, start, stop, carried, [], counted)
        return _tree(recording, structure, results)  # type: ignore[no-any-return]

    return in_trace("fori_loop", build, lower, upper, init_val)  # type: ignore[no-any-return]


def _bounds(lower: Node, upper: Node) -> tuple[Node, ...]:
    """Both bounds in one dtype, which holds a Python number also where the other one is narrow."""
    if lower.weak != upper.weak:
        weak, other = (lower, upper) if lower.weak else (upper, lower)
        if other.dtype.itemsize < weak.dtype.itemsize:
            return CONVERT(lower, dtype=weak.dtype), CONVERT(upper, dtype=weak.dtype)
    return promote("fori_loop", lower, upper)


def scan(
    f: Callable[[Carry, Any], tuple[Carry, Any]],
    init: Carry,
    xs: Any = None,
    /,
    length: int | None = None,
    *,
    reverse: bool = False,
) -> tuple[Carry, Any]:
    """``carry, y = f(carry, x)`` for each ``x`` along the first axis of the arrays in ``xs``, beginning with ``init``.

    Gives the last carry, and the tree of all ``y``, stacked along a new first axis. Without ``xs``, ``length`` says how
    many times. With ``reverse`` it begins at the end of ``xs``. Raises ``ValueError`` for ``xs`` of different lengths,
    ``TypeError`` unless ``f`` gives a pair whose carry has the structure, shapes and dtypes that it takes.

    >>> total, sums = aio.lax.scan(lambda c, x: (c + x, c + x), 0, aio.asarray([1, 2, 3]))
    >>> total, sums
    (Array(6, dtype=int32), Array([1, 3, 6], dtype=int32))
    """
    count = _length(trees.flatten(xs)[0], length)

    def build(recording: Recording, init: Carry, xs: Any) -> tuple[Carry, Any]:
        leaves, structure = trees.flatten(init)
        rows, row_structure = trees.flatten(xs)
        y_structure: list[TreeDef] = []

        def record(specs: list[ArraySpec]) -> _Turn:
            with Recording("f of scan", recording.device) as child:
                index = child.argument(array_spec((), dtypes.int32))._node
                values = [child.argument(spec) for spec in specs]
                place = subtract(scalar(count - 1, index.dtype), index) if reverse else index
                row = [TracedArray(child, _row(child.node("scan", x), place)) for x in rows]
                result: Any = f(structure.unflatten(values), row_structure.unflatten(row))
                if not isinstance(result, tuple) or len(result) != 2:
                    raise TypeError(f"scan: f must give a pair (carry, y), it gives a {type(result).__name__}")
                ys, y_tree = trees.flatten(result[1])
                y_structure[:] = [y_tree]
                stacked = []
                for y in ys:
                    node = child.node("scan", y)
                    buffer = child.argument(array_spec((count, *node.shape), node.dtype))._node
                    stacked.append(lax.with_row(buffer, place, node) if count else buffer)
                return _turn(child, result[0], stacked)

        carried, turn = _settled("scan", "f", structure, nodes(leaves), record)
        buffers = [broadcast_to(scalar(0, node.dtype), node.shape) for node in turn.others]
        start, stop = scalar(0, dtypes.int32), scalar(count, dtypes.int32)
        results = _count(recording, turn, start, stop, carried, buffers, True)
        last = _tree(recording, structure, results[: len(carried)])
        return last, _tree(recording, y_structure[0], results[len(carried) :])

    return in_trace("scan", build, init, xs)  # type: ignore[no-any-return]


def map(f: Callable[[Any], Any], xs: Any, /) -> Any:
    """``f`` of each element along the first axis of the arrays in ``xs``, one after the other; results are stacked.

    >>> aio.lax.map(lambda x: x * x, aio.asarray([1, 2, 3]))
    Array([1, 4, 9], dtype=int32)
    """
    _, ys = scan(lambda _, x: (None, f(x)), None, xs)
    return ys


def _length(rows: list[Any], length: int | None) -> int:
    lengths = []
    for x in rows:
        shape = np.shape(x) if not isinstance(x, Array) else x.shape
        if not shape:
            raise ValueError("scan: an array of xs has no dimensions; f gets the elements along the first one")
        lengths.append(int(shape[0]))
    if length is not None:
        try:
            length = operator.index(length)
        except TypeError:
            raise TypeError(f"scan: length={length!r} is no integer") from None
        if length < 0:
            raise ValueError(f"scan: length={length} must not be negative")
    given = set(lengths) | (set() if length is None else {length})
    if len(given) != 1:
        listed = ", ".join([str(n) for n in sorted(given)])
        reason = f"the lengths {listed} differ" if given else "there are no xs; give the length"
        raise ValueError(f"scan: {reason}")
    return given.pop()


def _row(x: Node, index: Node) -> Node:
    if x.shape[0]:
        return lax.row(x, index)
    # There are no rows, and no turns; but f is traced.
    return broadcast_to(scalar(0, x.dtype), x.shape[1:])


def _turn(child: Recording, carry: Any, others: Sequence[Node] = ()) -> _Turn:
    leaves, structure = trees.flatten(carry)
    return _Turn(child, structure, [child.node(child.name, leaf) for leaf in leaves], list(others))


def _count(
    recording: Recording,
    turn: _Turn,
    start: Node,
    stop: Node,
    carried: list[Node],
    others: list[Node],
    counted: bool,
) -> tuple[Node, ...]:
    """Run ``turn``, whose first input is the count, from ``start`` to before ``stop``; give the values at the end."""
    index = turn.child.inputs[0]
    outputs = [add(index, 1), *turn.carried, *turn.others]
    body = close(recording, turn.child, outputs)
    inputs = tuple([input_node(node.spec) for node in (start, *carried, *others)])
    limit = input_node(stop.spec)
    condition = Graph(f"condition of {turn.child.name}", (*inputs, limit), (less(inputs[0], limit),))
    return lax.loop(lax.Body(condition, (stop,)), body, [start, *carried, *others], counted=counted)[1:]


def _tree(recording: Recording, structure: TreeDef, results: Sequence[Node]) -> Any:
    return structure.unflatten([TracedArray(recording, node) for node in results])
