"""Operations on operands that agree already: what the algorithms of ``random``, ``linalg`` and ``fft`` are written in.

They promote nothing and check nothing a user could get wrong. An operand that is a Python number takes the shape and
dtype of the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from .._base import dtypes
from .._graph import CONSTANT, ArraySpec, Node, Op, array_spec, results
from ._rules import BROADCAST, CONVERT, full_like, int_array, predicate, same, same2, stablehlo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.dtypes import DType

Operand: TypeAlias = Node | int | float


def _unary(name: str, target: str) -> Callable[[Node], Node]:
    op = Op(name, same, stablehlo(target))
    return lambda x: op(x)


def _pair(x: Operand, y: Operand) -> tuple[Node, Node]:
    if isinstance(x, Node):
        return x, y if isinstance(y, Node) else full_like(x, y)
    assert isinstance(y, Node)
    return full_like(y, x), y


def _binary(name: str, target: str) -> Callable[[Operand, Operand], Node]:
    op = Op(name, same2, stablehlo(target))
    return lambda x, y: op(*_pair(x, y))


def _comparison(name: str, direction: str) -> Callable[[Operand, Operand], Node]:
    attributes = {"comparison_direction": f"#stablehlo<comparison_direction {direction}>"}
    op = Op(name, predicate, stablehlo("stablehlo.compare", lambda node: attributes))
    return lambda x, y: op(*_pair(x, y))


absolute = _unary("abs", "stablehlo.abs")  # real operands
erf = _unary("erf", "chlo.erf")
erf_inv = _unary("erf_inv", "chlo.erf_inv")
exp = _unary("exp", "stablehlo.exponential")
floor = _unary("floor", "stablehlo.floor")
invert = _unary("bitwise_invert", "stablehlo.not")
lgamma = _unary("lgamma", "chlo.lgamma")
log = _unary("log", "stablehlo.log")
log1p = _unary("log1p", "stablehlo.log_plus_one")
negative = _unary("negative", "stablehlo.negate")
sign = _unary("sign", "stablehlo.sign")
sqrt = _unary("sqrt", "stablehlo.sqrt")

add = _binary("add", "stablehlo.add")
bit_and = _binary("bitwise_and", "stablehlo.and")
bit_or = _binary("bitwise_or", "stablehlo.or")
bit_xor = _binary("bitwise_xor", "stablehlo.xor")
multiply = _binary("multiply", "stablehlo.multiply")
next_after = _binary("nextafter", "chlo.next_after")
power = _binary("pow", "stablehlo.power")
remainder = _binary("fmod", "stablehlo.remainder")  # the sign is the dividend's
shift_left = _binary("bitwise_left_shift", "stablehlo.shift_left")
shift_right = _binary("logical_right_shift", "stablehlo.shift_right_logical")
subtract = _binary("subtract", "stablehlo.subtract")

_quotient = _binary("divide", "stablehlo.divide")

equal = _comparison("equal", "EQ")
greater = _comparison("greater", "GT")
greater_equal = _comparison("greater_equal", "GE")
less = _comparison("less", "LT")
less_equal = _comparison("less_equal", "LE")
not_equal = _comparison("not_equal", "NE")


_SELECT = Op("where", lambda condition, x, y: same2(x, y), stablehlo("stablehlo.select"))


def _infer_bitcast(x: ArraySpec, *, dtype: DType) -> ArraySpec:
    if x.dtype.itemsize > dtype.itemsize:
        return array_spec((*x.shape, x.dtype.itemsize // dtype.itemsize), dtype)
    return array_spec(x.shape[:-1] if x.dtype.itemsize < dtype.itemsize else x.shape, dtype)


_BITCAST = Op("view", _infer_bitcast, stablehlo("stablehlo.bitcast_convert"))
_COMPLEX = Op(
    "complex", lambda re, im: array_spec(re.shape, dtypes.complex_of(re.dtype)), stablehlo("stablehlo.complex")
)
_IMAGINARY_PART = Op("imag", lambda x: array_spec(x.shape, dtypes.real_of(x.dtype)), stablehlo("stablehlo.imag"))
_IOTA = Op(
    "iota",
    lambda *, shape, dtype, dimension: array_spec(shape, dtype),
    stablehlo("stablehlo.iota", lambda node: {"iota_dimension": f"{node.params['dimension']} : i64"}),
)
_BARRIER = Op("barrier", lambda x: (x,), stablehlo("stablehlo.optimization_barrier"))
_RESHAPE = Op("reshape", lambda x, *, shape: x.with_shape(shape), stablehlo("stablehlo.reshape"))


def select(condition: Node, x: Operand, y: Operand) -> Node:
    """``x`` where ``condition``, which has its shape, is true; ``y`` elsewhere."""
    return _SELECT(condition, *_pair(x, y))


def divide(x: Operand, y: Operand) -> Node:
    """``x / y``, rounded once."""
    x, y = _pair(x, y)
    if x.dtype in dtypes.REAL_FLOATING and _has_known_reciprocal(y):
        # XLA would multiply by the reciprocal of what is constant or stretched, which rounds twice. It does not see
        # through this.
        y = select(not_equal(x, x), x, y)
    return _quotient(x, y)


def _has_known_reciprocal(x: Node) -> bool:
    while x.op in (CONVERT, _RESHAPE):
        x = x.inputs[0]
    return x.op is BROADCAST or x.op is CONSTANT


def maximum(x: Operand, y: Operand) -> Node:
    """The greater of two numbers, NaN where one is. Real operands."""
    return _extreme(_MAXIMUM, greater_equal, x, y)


def minimum(x: Operand, y: Operand) -> Node:
    """The lesser of two numbers, NaN where one is. Real operands."""
    return _extreme(_MINIMUM, less_equal, x, y)


_MAXIMUM = Op("maximum", same2, stablehlo("stablehlo.maximum"))
_MINIMUM = Op("minimum", same2, stablehlo("stablehlo.minimum"))


def _extreme(op: Op, wins: Callable[[Operand, Operand], Node], x: Operand, y: Operand) -> Node:
    x, y = _pair(x, y)
    if x.dtype not in dtypes.REAL_FLOATING:
        return op(x, y)
    # Written out: where a large reduction follows, XLA's CPU compiler hands both to a library that drops NaN.
    return select(bit_or(wins(x, y), not_equal(x, x)), x, y)


def bitcast(x: Node, dtype: DType) -> Node:
    """The bits of ``x`` as ``dtype``.

    A narrower one has a last axis for the pieces of each element, lowest first; a wider one is put together of such.
    """
    return _BITCAST(x, dtype=dtype)


def make_complex(real: Node, imaginary: Node) -> Node:
    """``real + 1j * imaginary``, without arithmetic."""
    return _COMPLEX(real, imaginary)


def imaginary_part(x: Node) -> Node:
    """The imaginary part of a complex node."""
    return _IMAGINARY_PART(x)


def iota(shape: tuple[int, ...], dtype: DType, dimension: int = 0) -> Node:
    """The index along ``dimension`` at every position of ``shape``."""
    return _IOTA(shape=shape, dtype=dtype, dimension=dimension % len(shape))


def barrier(x: Node) -> Node:
    """``x``, computed before what uses it: no fusion across."""
    return results(_BARRIER(x))[0]


def reshape(x: Node, shape: tuple[int, ...]) -> Node:
    """``x`` in ``shape``, in row-major order."""
    return x if x.shape == shape else _RESHAPE(x, shape=shape)


def _infer_slice(x: ArraySpec, *, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]) -> ArraySpec:
    return x.with_shape(tuple(-(-(b - a) // s) for a, b, s in zip(start, stop, step, strict=True)))


_SLICE = Op(
    "slice",
    _infer_slice,
    stablehlo(
        "stablehlo.slice",
        lambda node: {
            "start_indices": int_array(node.params["start"]),
            "limit_indices": int_array(node.params["stop"]),
            "strides": int_array(node.params["step"]),
        },
    ),
)


def slice_axis(x: Node, axis: int, start: int, stop: int, step: int = 1) -> Node:
    """``x[start:stop:step]`` along one axis; positions within the axis, ``step`` positive."""
    axis %= x.ndim
    if (start, stop, step) == (0, x.shape[axis], 1):
        return x
    starts, stops, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], stops[axis], steps[axis] = start, max(start, stop), step
    return _SLICE(x, start=tuple(starts), stop=tuple(stops), step=tuple(steps))


def slice_region(x: Node, starts: tuple[int, ...], stops: tuple[int, ...], steps: tuple[int, ...]) -> Node:
    """``x[start:stop:step]`` along every axis; positions within the axes, steps positive, no stop before its start."""
    if stops == x.shape and not any(starts) and all(step == 1 for step in steps):
        return x
    return _SLICE(x, start=starts, stop=stops, step=steps)


def take_index(x: Node, axis: int, index: int) -> Node:
    """``x`` at one static position of an axis, which goes."""
    axis %= x.ndim
    return reshape(slice_axis(x, axis, index, index + 1), x.shape[:axis] + x.shape[axis + 1 :])


def _infer_concatenate(*arrays: ArraySpec, axis: int) -> ArraySpec:
    first = arrays[0]
    length = sum(x.shape[axis] for x in arrays)
    return first.with_shape((*first.shape[:axis], length, *first.shape[axis + 1 :]))


_CONCATENATE = Op(
    "concat",
    _infer_concatenate,
    stablehlo("stablehlo.concatenate", lambda node: {"dimension": f"{node.params['axis']} : i64"}),
)


def concatenate(arrays: Sequence[Node], axis: int = 0) -> Node:
    """``arrays``, alike but for ``axis``, one behind the other."""
    return arrays[0] if len(arrays) == 1 else _CONCATENATE(*arrays, axis=axis % arrays[0].ndim)


def stack(arrays: Sequence[Node], axis: int = 0) -> Node:
    """Nodes of one shape along a new axis."""
    axis %= arrays[0].ndim + 1
    shape = (*arrays[0].shape[:axis], 1, *arrays[0].shape[axis:])
    return concatenate([reshape(x, shape) for x in arrays], axis)


_TRANSPOSE = Op(
    "permute_dims",
    lambda x, *, axes: x.with_shape(tuple(x.shape[a] for a in axes)),
    stablehlo("stablehlo.transpose", lambda node: {"permutation": int_array(node.params["axes"])}),
)


def transpose(x: Node, axes: tuple[int, ...]) -> Node:
    """The axes of ``x`` in the order ``axes``."""
    return x if axes == tuple(range(x.ndim)) else _TRANSPOSE(x, axes=axes)
