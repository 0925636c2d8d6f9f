"""The lowering rules and spec checks that most operations share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base import config, dtypes
from .._graph import ArraySpec, Emitter, Node, Op, array_spec, constant

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._graph.node import Lower

Attributes = Callable[[Node], dict[str, str]]


def stablehlo(name: str, attributes: Attributes | None = None) -> Lower:
    """The rule "one node is one operation ``name``", with ``attributes`` read off the node."""

    def lower(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
        specs = tuple(child.spec for child in node.inputs)
        return emitter.op(name, operands, specs, node.specs, attributes(node) if attributes else None)

    return lower


def same(x: ArraySpec) -> ArraySpec:
    """Result spec: that of the operand."""
    return x


def same2(x: ArraySpec, y: ArraySpec) -> ArraySpec:
    """Result spec of two operands that must agree already."""
    assert x.shape == y.shape, (x, y)
    assert x.dtype == y.dtype, (x, y)
    return x if not x.weak else y


def predicate(*operands: ArraySpec) -> ArraySpec:
    """Result spec: bool of the operands' shape."""
    return array_spec(operands[0].shape, dtypes.bool_)


def int_array(values: Collection[int]) -> str:
    """``array<i64: 1, 2>``, as StableHLO's static integer lists are written."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def check_dtype(function: str, node: Node, allowed: frozenset[DType]) -> None:
    """``TypeError`` unless ``node``'s dtype is ``allowed``."""
    if node.dtype not in allowed:
        category = dtypes.CATEGORY_NAMES.get(allowed) or ", ".join(sorted(d.name for d in allowed))
        raise TypeError(f"{function}: dtype {node.dtype.name} is not allowed; it takes {category} dtypes")


def scalar(value: Any, dtype: DType) -> Node:
    """A constant of no dimensions."""
    return constant(np.asarray(value).astype(dtype).reshape(()))


def full_like(node: Node, value: Any) -> Node:
    """``value`` in ``node``'s shape and dtype."""
    return broadcast_to(scalar(value, node.dtype), node.shape)


def _lower_convert(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    spec = node.inputs[0].spec
    if spec.dtype == dtypes.bool_ and node.dtype in dtypes.FLOATING:
        # XLA takes the product of a converted bool and a number for a choice of the number or 0, also where the number
        # is infinite or NaN. Not so of an integer.
        whole = array_spec(spec.shape, dtypes.int8)
        operands = (emitter.op("stablehlo.convert", operands, (spec,), (whole,)),)
        spec = whole
    return emitter.op("stablehlo.convert", operands, (spec,), node.specs)


CONVERT = Op("astype", lambda x, *, dtype, weak=False: array_spec(x.shape, dtype, None, weak), _lower_convert)
BROADCAST = Op(
    "broadcast_to",
    lambda x, *, shape, dimensions: x.with_shape(shape),
    stablehlo(
        "stablehlo.broadcast_in_dim",
        lambda node: {"broadcast_dimensions": int_array(node.params["dimensions"])},
    ),
)
REAL_PART = Op("real", lambda x: array_spec(x.shape, dtypes.real_of(x.dtype)), stablehlo("stablehlo.real"))


def convert(x: Node, dtype: DType) -> Node:
    """``x`` in ``dtype``; complex to real keeps the real part, floating to bool is ``x != 0``."""
    if x.dtype == dtype:
        return x
    return CONVERT(digits(x), dtype=dtype)


def number(x: Node) -> Node:
    """A Python number that came in the widest dtype of its kind, in the default dtype.

    Beside a wider array it still has all of its digits.
    """
    dtype = dtypes.default_for_rank(dtypes.dtype_rank(x.dtype))
    return x if x.dtype == dtype else CONVERT(x, dtype=dtype, weak=True)


def digits(x: Node) -> Node:
    """What ``number`` was given, if it made ``x``; otherwise ``x`` itself."""
    return x.inputs[0] if x.op is CONVERT and x.weak else x


def broadcast_to(x: Node, shape: tuple[int, ...]) -> Node:
    """``x`` stretched to ``shape`` by the broadcasting rules; the caller has checked that it fits."""
    if x.shape == shape:
        return x
    # broadcast_in_dim itself stretches dimensions of length 1.
    return BROADCAST(x, shape=shape, dimensions=tuple(range(len(shape) - x.ndim, len(shape))))


def broadcast_shapes(function: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that ``shapes`` broadcast to (standard, "Broadcasting"); ``ValueError`` where they do not."""
    ndim = max((len(s) for s in shapes), default=0)
    result: list[int] = []
    for axis in range(-ndim, 0):
        lengths = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(lengths) > 1:
            listed = " and ".join(map(str, shapes))
            raise ValueError(
                f"{function}: shapes {listed} cannot be broadcast: axis {axis} has lengths "
                f"{', '.join(map(str, sorted(lengths)))}; lengths must be equal or 1"
            )
        result.append(lengths.pop() if lengths else 1)
    return tuple(result)


def result_dtype(function: str, *nodes: Node) -> DType:
    """The dtype that ``nodes`` promote to; weak ones (Python scalars) take part with their kind only."""
    strong = [node.dtype for node in nodes if not node.weak]
    if not strong:
        dtype = nodes[0].dtype
        for node in nodes[1:]:
            if dtypes.dtype_rank(node.dtype) > dtypes.dtype_rank(dtype):
                dtype = node.dtype
        return dtype
    dtype = strong[0]
    for other in strong[1:]:
        try:
            dtype = dtypes.promote(dtype, other)
        except TypeError as error:
            raise TypeError(f"{function}: {error}") from None
    ranks = [dtypes.dtype_rank(node.dtype) for node in nodes if node.weak]
    return dtypes.weak_dtype(max(ranks), dtype) if ranks else dtype


def promote(function: str, *nodes: Node) -> tuple[Node, ...]:
    """``nodes`` in their common dtype and shape."""
    dtype = result_dtype(function, *nodes)
    shape = broadcast_shapes(function, *[node.shape for node in nodes])
    return tuple(broadcast_to(convert(node, dtype), shape) for node in nodes)


def normalize_axis(function: str, axis: int, ndim: int) -> int:
    """``axis`` counted from the front; ``IndexError``-like ``ValueError`` when out of range."""
    if not -ndim <= axis < ndim:
        allowed = f"use {-ndim}..{ndim - 1}" if ndim else "there is no axis"
        raise AxisError(f"{function}: axis {axis} is out of range for {ndim} dimensions; {allowed}")
    return axis % ndim


class AxisError(ValueError, IndexError):
    """An axis that the array does not have; both ``ValueError`` and ``IndexError``, as in NumPy."""


def normalize_axes(function: str, axes: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """``axes`` (one, several, or None for all) counted from the front, in the order given; no axis twice."""
    if axes is None:
        return tuple(range(ndim))
    several = axes if isinstance(axes, tuple) else (axes,)
    result = tuple(normalize_axis(function, axis, ndim) for axis in several)
    if len(set(result)) != len(result):
        raise ValueError(f"{function}: axes {several} name an axis twice; name each once")
    return result


def index_dtype(size: int) -> DType:
    """The dtype of positions in an array of ``size`` elements: the default integral one, if they fit."""
    integral = config.current().integral
    return integral if size <= np.iinfo(integral).max else dtypes.int64
