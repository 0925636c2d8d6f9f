"""Operations that move elements and compute nothing: shapes, axes, joining, repeating, casting."""

from __future__ import annotations

import math
from typing import Any

from .._base import dtypes
from .._graph import ArraySpec, Node, Op, definition
from ._primitives import (
    concatenate,
    not_equal,
    slice_axis,
    subtract,
    transpose,
)
from ._primitives import reshape as _reshape
from ._rules import (
    broadcast_shapes,
    convert,
    int_array,
    normalize_axes,
    normalize_axis,
    result_dtype,
    stablehlo,
)
from ._rules import broadcast_to as _broadcast_to


def _padded(
    x: ArraySpec,
    value: ArraySpec,
    *,
    low: tuple[int, ...],
    high: tuple[int, ...],
    interior: tuple[int, ...],
) -> ArraySpec:
    return x.with_shape(
        tuple(
            n + before + after + max(0, n - 1) * between
            for n, before, after, between in zip(x.shape, low, high, interior, strict=True)
        )
    )


REVERSE = Op(
    "flip",
    lambda x, *, axes: x,
    stablehlo("stablehlo.reverse", lambda node: {"dimensions": int_array(node.params["axes"])}),
)
PAD = Op(
    "pad",
    _padded,
    stablehlo(
        "stablehlo.pad",
        lambda node: {
            "edge_padding_low": int_array(node.params["low"]),
            "edge_padding_high": int_array(node.params["high"]),
            "interior_padding": int_array(node.params["interior"]),
        },
    ),
)


@definition
def reshape(x: Node, shape: tuple[int, ...]) -> Node:
    """``x`` in ``shape``, of which one length may be -1."""
    if any(n < -1 for n in shape):
        raise ValueError(f"reshape: shape {shape} has a negative length; use at most one -1, to be filled in")
    unknown = [axis for axis, n in enumerate(shape) if n == -1]
    if len(unknown) > 1:
        raise ValueError(f"reshape: shape {shape} leaves {len(unknown)} lengths open; use -1 at most once")
    target = shape
    if unknown:
        known = math.prod(n for n in shape if n != -1)
        if known == 0 or x.size % known:
            raise ValueError(f"reshape: {x.size} elements of shape {x.shape} do not fill shape {shape}")
        target = tuple(x.size // known if n == -1 else n for n in shape)
    if math.prod(target) != x.size:
        raise ValueError(
            f"reshape: shape {x.shape} has {x.size} elements, shape {shape} has {math.prod(target)}; "
            "both must have the same number"
        )
    return _reshape(x, target)


@definition
def reshape_by_columns(x: Node, shape: tuple[int, ...]) -> Node:
    """``x`` in ``shape``, its elements read and put with the first axis running fastest."""
    turned = transpose(x, tuple(range(x.ndim))[::-1])
    result = reshape(turned, shape[::-1])
    return transpose(result, tuple(range(result.ndim))[::-1])


@definition
def permute_dims(x: Node, axes: tuple[int, ...]) -> Node:
    """``x`` with its axes in the order ``axes``, which names each of them once."""
    order = normalize_axes("permute_dims", axes, x.ndim)
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: axes {axes} must name each of the {x.ndim} axes of shape {x.shape} once")
    return transpose(x, order)


@definition
def matrix_transpose(x: Node) -> Node:
    """``x`` with its last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: shape {x.shape} has fewer than 2 axes; it takes stacks of matrices")
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@definition
def moveaxis(x: Node, source: int | tuple[int, ...], destination: int | tuple[int, ...]) -> Node:
    """``x`` with the axes ``source`` at the positions ``destination``; the others keep their order."""
    sources = normalize_axes("moveaxis", source, x.ndim)
    destinations = normalize_axes("moveaxis", destination, x.ndim)
    if len(sources) != len(destinations):
        raise ValueError(
            f"moveaxis: source {source} and destination {destination} differ in length; give as many of each"
        )
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for target, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(target, axis)
    return transpose(x, tuple(order))


@definition
def concat(*arguments: Any) -> Node:
    """``concat(*arrays, axis)``: the arrays one after another along ``axis``; flattened first when it is None."""
    nodes: tuple[Node, ...] = arguments[:-1]
    axis: int | None = arguments[-1]
    if not nodes:
        raise ValueError("concat: no arrays given; it takes at least one")
    dtype = result_dtype("concat", *nodes)
    nodes = tuple(convert(node, dtype) for node in nodes)
    if axis is None:
        return concatenate(tuple(_reshape(node, (node.size,)) for node in nodes), 0)
    if nodes[0].ndim == 0:
        raise ValueError("concat: arrays without axes cannot be joined along one; use stack(), or axis=None")
    position = normalize_axis("concat", axis, nodes[0].ndim)
    expected = _without(nodes[0].shape, position)
    for node in nodes:
        if node.ndim != nodes[0].ndim or _without(node.shape, position) != expected:
            raise ValueError(
                f"concat: shapes {nodes[0].shape} and {node.shape} differ outside axis {axis}; they must agree there"
            )
    return concatenate(nodes, position)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


@definition
def stack(*arguments: Any) -> Node:
    """``stack(*arrays, axis)``: arrays of one shape along a new axis."""
    nodes: tuple[Node, ...] = arguments[:-1]
    axis: int = arguments[-1]
    if not nodes:
        raise ValueError("stack: no arrays given; it takes at least one")
    for node in nodes:
        if node.shape != nodes[0].shape:
            raise ValueError(f"stack: shapes {nodes[0].shape} and {node.shape} differ; all must be the same")
    dtype = result_dtype("stack", *nodes)
    position = normalize_axis("stack", axis, nodes[0].ndim + 1)
    shape = (*nodes[0].shape[:position], 1, *nodes[0].shape[position:])
    return concatenate(tuple(_reshape(convert(node, dtype), shape) for node in nodes), position)


@definition
def expand_dims(x: Node, axis: int | tuple[int, ...]) -> Node:
    """``x`` with axes of length 1 at the positions ``axis`` of the result."""
    count = len(axis) if isinstance(axis, tuple) else 1
    new = normalize_axes("expand_dims", axis, x.ndim + count)
    lengths = iter(x.shape)
    return _reshape(x, tuple(1 if k in new else next(lengths) for k in range(x.ndim + count)))


@definition
def squeeze(x: Node, axis: int | tuple[int, ...] | None) -> Node:
    """``x`` without the axes ``axis``, which have length 1; None for all that have."""
    if axis is None:
        return _reshape(x, tuple(n for n in x.shape if n != 1))
    axes = normalize_axes("squeeze", axis, x.ndim)
    for k in axes:
        if x.shape[k] != 1:
            raise ValueError(f"squeeze: axis {k} of shape {x.shape} has length {x.shape[k]}; it takes length 1")
    return _reshape(x, tuple(n for k, n in enumerate(x.shape) if k not in axes))


@definition
def flip(x: Node, axis: int | tuple[int, ...] | None) -> Node:
    """``x`` with the order of its elements reversed along ``axis``; None for all."""
    axes = normalize_axes("flip", axis, x.ndim)
    return REVERSE(x, axes=axes) if axes else x


@definition
def roll(x: Node, shift: int | tuple[int, ...], axis: int | tuple[int, ...] | None) -> Node:
    """``x`` with elements moved ``shift`` places along ``axis``, those that leave re-entering; None: flattened."""
    if axis is None:
        flat = _reshape(x, (x.size,))
        for places in shift if isinstance(shift, tuple) else (shift,):
            flat = _rolled(flat, places, 0)
        return _reshape(flat, x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(axes) == 1 and len(shifts) > 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: shift {shift} and axis {axis} differ in length; give as many of each")
    for places, k in zip(shifts, axes, strict=True):
        x = _rolled(x, places, normalize_axis("roll", k, x.ndim))
    return x


def _rolled(x: Node, shift: int, axis: int) -> Node:
    length = x.shape[axis]
    if length == 0 or shift % length == 0:
        return x
    cut = length - shift % length
    return concatenate((slice_axis(x, axis, cut, length), slice_axis(x, axis, 0, cut)), axis)


@definition
def broadcast_to(x: Node, shape: tuple[int, ...]) -> Node:
    """``x`` stretched to ``shape`` by the broadcasting rules."""
    if any(n < 0 for n in shape):
        raise ValueError(f"broadcast_to: shape {shape} has a negative length")
    fits = x.ndim <= len(shape) and all(n in (1, m) for n, m in zip(x.shape[::-1], shape[::-1], strict=False))
    if not fits:
        raise ValueError(
            f"broadcast_to: shape {x.shape} does not stretch to {shape}; its lengths, counted from the last, "
            "must equal the new ones or be 1"
        )
    return _broadcast_to(x, shape)


@definition
def broadcast_arrays(*nodes: Node) -> tuple[Node, ...]:
    """``nodes`` stretched to their common shape."""
    shape = broadcast_shapes("broadcast_arrays", *[node.shape for node in nodes])
    return tuple(_broadcast_to(node, shape) for node in nodes)


@definition
def diff(x: Node, prepend: Node | None, append: Node | None, axis: int, n: int) -> Node:
    """Differences of neighbours along ``axis``, ``n`` times, after joining ``prepend`` and ``append`` on."""
    if n < 0:
        raise ValueError(f"diff: n={n} must not be negative")
    k = normalize_axis("diff", axis, x.ndim)
    if prepend is not None or append is not None:
        pieces = [_diff_operand(x, piece, k) for piece in (prepend, x, append) if piece is not None]
        x = concat(*pieces, k)
    for _ in range(n):
        length = x.shape[k]
        if length == 0:
            return x
        later, earlier = slice_axis(x, k, 1, length), slice_axis(x, k, 0, length - 1)
        x = not_equal(later, earlier) if x.dtype == dtypes.bool_ else subtract(later, earlier)
    return x


def _diff_operand(x: Node, piece: Node, axis: int) -> Node:
    """A scalar to be joined on stands for one slice, as in NumPy."""
    return piece if piece.ndim else _broadcast_to(piece, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


@definition
def unstack(x: Node, axis: int) -> tuple[Node, ...]:
    """The slices of ``x`` along ``axis``, without that axis."""
    if x.ndim == 0:
        raise ValueError("unstack: an array without axes cannot be taken apart")
    position = normalize_axis("unstack", axis, x.ndim)
    shape = _without(x.shape, position)
    return tuple(_reshape(slice_axis(x, position, i, i + 1), shape) for i in range(x.shape[position]))


@definition
def tile(x: Node, repetitions: tuple[int, ...]) -> Node:
    """``x`` repeated as a whole, ``repetitions`` times along each axis; the shorter of both is filled with 1."""
    if any(n < 0 for n in repetitions):
        raise ValueError(f"tile: repetitions {repetitions} must not be negative")
    ndim = max(x.ndim, len(repetitions))
    lengths = (1,) * (ndim - x.ndim) + x.shape
    counts = (1,) * (ndim - len(repetitions)) + repetitions
    # (2, 3) tiled (4, 5) times is (1, 2, 1, 3) stretched to (4, 2, 5, 3).
    apart = tuple(n for length in lengths for n in (1, length))
    stretched = tuple(n for count, length in zip(counts, lengths, strict=True) for n in (count, length))
    result = tuple(count * length for count, length in zip(counts, lengths, strict=True))
    return _reshape(_broadcast_to(_reshape(x, apart), stretched), result)


@definition
def repeat(x: Node, repeats: int, axis: int | None) -> Node:
    """``x`` with every element repeated ``repeats`` times along ``axis``; flattened first when it is None."""
    if repeats < 0:
        raise ValueError(f"repeat: repeats={repeats} must not be negative")
    if axis is None:
        x, axis = _reshape(x, (x.size,)), 0
    k = normalize_axis("repeat", axis, x.ndim)
    before, length, after = x.shape[:k], x.shape[k], x.shape[k + 1 :]
    apart = _reshape(x, (*before, length, 1, *after))
    return _reshape(_broadcast_to(apart, (*before, length, repeats, *after)), (*before, length * repeats, *after))
