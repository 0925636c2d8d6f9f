"""Control flow: branches and loops whose conditions and counts are values of the device.

Where a condition or a count is known, or values may be read, Python chooses or loops, so shapes may change from turn to
turn. Otherwise they are ``aio.lax``'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import lax

from .._evaluate import NeedsValue
from .._registry import operator
from .._values import Tensor, as_array, as_tree, is_known, namespace

if TYPE_CHECKING:
    from .._evaluate import Call

# A loop with a known count is written out up to this many turns, if its values change their shapes.
UNROLLED = 512


@operator("If")
def if_(call: Call, condition: Tensor) -> tuple[Tensor, ...]:
    branches = call.graph("then_branch"), call.graph("else_branch")
    if is_known(condition) or call.eager:
        chosen = bool(call.scalar(condition, "the condition"))
        return tuple(call.evaluate(branches[0] if chosen else branches[1], []))

    def branch(graph: Any) -> Any:
        return lambda: tuple(as_tree(x) for x in call.evaluate(graph, []))

    try:
        return lax.cond(namespace(condition).reshape(condition, ()), branch(branches[0]), branch(branches[1]))
    except (TypeError, ValueError, IndexError) as error:
        # The branches give other shapes, or one of them is for inputs of other shapes: which it is has to be known.
        raise call.needs_value("which branch is taken") from error


@operator("Loop")
def loop(call: Call, count: Tensor = None, condition: Tensor = None, *carried: Tensor) -> tuple[Tensor, ...]:
    body = call.graph("body")
    if len(body.inputs) != len(carried) + 2 or len(body.outputs) < len(carried) + 1:
        raise call.error(
            f"its body takes {len(body.inputs)} values and gives {len(body.outputs)}, for {len(carried)} to carry"
        )
    scanned = len(body.outputs) - len(carried) - 1
    if call.eager:
        return _eager_loop(call, body, count, condition, list(carried), scanned)
    turns = int(call.scalar(count, "the count")) if count is not None and is_known(count) else None
    starts = condition is None or (is_known(condition) and bool(condition.reshape(-1)[0]))
    if condition is not None and is_known(condition) and not starts:
        turns = 0
    if turns is not None and turns <= 0:
        if scanned:
            raise call.needs_value("what a loop of no turns gives")
        return carried
    if turns is not None and starts and _always_goes_on(call, body):
        return _counted_loop(call, body, turns, list(carried), scanned)
    if scanned:
        # How many turns there are is how long the results are.
        raise call.needs_value("how many turns a loop takes")
    return _open_loop(call, body, count, condition, list(carried))


def _always_goes_on(call: Call, body: Any) -> bool:
    """Whether the condition that the body gives is the one that it takes, or true."""
    name = body.outputs[0].name
    makers = {output: node for node in body.nodes for output in node.outputs}
    while name in makers and makers[name].op == "Identity" and not makers[name].domain:
        name = makers[name].inputs[0]
    if name == body.inputs[1].name:
        return True
    value = body.constants.get(name)
    return value is not None and value.size == 1 and bool(value.reshape(-1)[0])


def _count(x: int) -> Any:
    return np.asarray(x, np.int64)


def _eager_loop(
    call: Call, body: Any, count: Tensor, condition: Tensor, carried: list[Tensor], scanned: int
) -> tuple[Tensor, ...]:
    limit = None if count is None else int(call.scalar(count, "the count"))
    goes_on = condition is None or bool(call.scalar(condition, "the condition"))
    rows: list[list[Tensor]] = [[] for _ in range(scanned)]
    turn = 0
    while goes_on and (limit is None or turn < limit):
        results = call.evaluate(body, [_count(turn), np.asarray(True), *carried])
        goes_on = bool(call.scalar(results[0], "the condition"))
        carried = results[1 : len(carried) + 1]
        for row, value in zip(rows, results[len(carried) + 1 :], strict=True):
            row.append(value)
        turn += 1
    return (*carried, *(_stacked(call, row, body.outputs[len(carried) + 1 + k]) for k, row in enumerate(rows)))


def _stacked(call: Call, rows: list[Tensor], info: Any) -> Tensor:
    if rows:
        return (np if all(map(is_known, rows)) else aio).stack(rows)
    if info.dtype is None or info.shape is None or any(not isinstance(n, int) for n in info.shape):
        return np.zeros((0,), info.dtype or np.float32)
    return np.zeros((0, *info.shape), info.dtype)


def _counted_loop(call: Call, body: Any, turns: int, carried: list[Tensor], scanned: int) -> tuple[Tensor, ...]:
    def turn(values: Any, index: Any) -> Any:
        results = call.evaluate(body, [index, np.asarray(True), *values])
        arrays = tuple(map(as_tree, results))
        return arrays[1 : len(carried) + 1], arrays[len(carried) + 1 :]

    try:
        last, rows = lax.scan(turn, tuple(map(as_tree, carried)), aio.arange(turns, dtype=np.int64))
    except (TypeError, NeedsValue) as error:
        if turns > UNROLLED:
            raise call.needs_value("shapes that change in each turn of a loop") from error
        return _unrolled(call, body, turns, carried, scanned)
    return (*last, *rows)


def _unrolled(call: Call, body: Any, turns: int, carried: list[Tensor], scanned: int) -> tuple[Tensor, ...]:
    rows: list[list[Tensor]] = [[] for _ in range(scanned)]
    for index in range(turns):
        results = call.evaluate(body, [_count(index), np.asarray(True), *carried])
        carried = results[1 : len(carried) + 1]
        for row, value in zip(rows, results[len(carried) + 1 :], strict=True):
            row.append(value)
    return (*carried, *(_stacked(call, row, None) for row in rows))


def _open_loop(call: Call, body: Any, count: Tensor, condition: Tensor, carried: list[Tensor]) -> tuple[Tensor, ...]:
    limit = None if count is None else aio.reshape(as_array(count), ())

    def goes_on(state: Any) -> Any:
        turn, condition, _ = state
        return condition if limit is None else condition & (turn < limit)

    def turn(state: Any) -> Any:
        index, condition, values = state
        results = [as_tree(x) for x in call.evaluate(body, [index, condition, *values])]
        return index + _count(1), aio.reshape(results[0], ()), tuple(results[1:])

    first = aio.asarray(np.asarray(True)) if condition is None else aio.reshape(as_array(condition), ())
    try:
        start = aio.asarray(_count(0)), first, tuple(map(as_tree, carried))
        _, _, last = lax.while_loop(goes_on, turn, start)
    except TypeError:
        raise call.needs_value("how many turns a loop takes whose values change their shapes") from None
    return tuple(last)


@operator("Scan", since=8)
def scan_of_batches(call: Call, lengths: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
    """In version 8 there is an axis of batches, each of its own length."""
    if lengths is not None:
        raise call.error("has lengths for each batch; aioarray has this operator from version 9 on, or without them")
    count = call.integer("num_scan_inputs")
    directions = call.items("directions", (0,) * count)
    rows = []
    for index in range(values[0].shape[0]):
        own = [x[index] for x in values]
        rows.append(_scan(call, own, count, directions, (), (0,) * count, ()))
    return tuple(aio.stack(column) for column in zip(*rows, strict=True))


@operator("Scan", since=9)
def scan(call: Call, *values: Tensor) -> tuple[Tensor, ...]:
    count = call.integer("num_scan_inputs")
    return _scan(
        call,
        list(values),
        count,
        call.items("scan_input_directions", (0,) * count),
        call.items("scan_output_directions", ()),
        call.items("scan_input_axes", (0,) * count),
        call.items("scan_output_axes", ()),
    )


def _scan(
    call: Call, values: list[Tensor], count: int, directions: Any, out_directions: Any, axes: Any, out_axes: Any
) -> tuple[Tensor, ...]:
    body = call.graph("body")
    kept = len(values) - count
    if not 0 < count <= len(values) or len(directions) != count or len(axes) != count:
        raise call.error(f"is {count}, for {len(values)} inputs", "num_scan_inputs")
    states, sequences = values[:kept], []
    for x, axis, backwards in zip(values[kept:], axes, directions, strict=True):
        moved = aio.moveaxis(as_array(x), axis, 0)
        sequences.append(aio.flip(moved, axis=0) if backwards else moved)

    def turn(state: Any, slices: Any) -> Any:
        results = [as_array(x) for x in call.evaluate(body, [*state, *slices])]
        return tuple(results[:kept]), tuple(results[kept:])

    if call.eager:
        state: Any = tuple(states)
        rows = []
        for index in range(sequences[0].shape[0]):
            state, row = turn(state, [x[index] for x in sequences])
            rows.append(row)
        last, stacked = state, [aio.stack(column) for column in zip(*rows, strict=True)]
    else:
        last, stacked = lax.scan(turn, tuple(map(as_array, states)), tuple(sequences))
    results = list(last)
    for k, x in enumerate(stacked):
        x = aio.flip(x, axis=0) if out_directions and out_directions[k] else x
        results.append(aio.moveaxis(x, 0, out_axes[k]) if out_axes else x)
    return tuple(results)
