"""Reductions: one value of many, along axes."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, TypeAlias

import ml_dtypes
import numpy as np

from .._base import config, dtypes
from .._graph import ArraySpec, Definition, Emitter, Node, Op, array_spec, definition
from ._primitives import (
    add,
    bit_and,
    bit_or,
    divide,
    equal,
    imaginary_part,
    iota,
    maximum,
    minimum,
    multiply,
    not_equal,
    reshape,
    select,
    sqrt,
    subtract,
)
from ._rules import (
    REAL_PART,
    broadcast_shapes,
    broadcast_to,
    check_dtype,
    convert,
    index_dtype,
    int_array,
    normalize_axes,
    result_dtype,
    scalar,
)
from .data_types import nonzero_mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import DType

Axis: TypeAlias = int | tuple[int, ...] | None


# ---- The primitive


def _reduced(x: ArraySpec, initial: ArraySpec, *, axes: tuple[int, ...], combine: str) -> ArraySpec:
    return array_spec(tuple(n for axis, n in enumerate(x.shape) if axis not in axes), x.dtype)


def _lower_reduce(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    return emitter.op(
        "stablehlo.reduce",
        operands,
        tuple(child.spec for child in node.inputs),
        node.specs,
        {"dimensions": int_array(node.params["axes"])},
        (emitter.reducer(node.params["combine"], node.dtype),),
    )


# x, initial value -> x with ``axes`` combined by ``combine``, in any order: see ``Emitter.reducer``.
REDUCE = Op("reduce", _reduced, _lower_reduce)


def _reduce(x: Node, combine: str, initial: object, axes: tuple[int, ...]) -> Node:
    return REDUCE(x, scalar(initial, x.dtype), axes=axes, combine=combine) if axes else x


def _kept(x: Node, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Node:
    """``x``, reduced from ``shape``, with the reduced axes of length 1 if they are to be kept."""
    if not keepdims:
        return x
    return reshape(x, tuple(1 if axis in axes else n for axis, n in enumerate(shape)))


def _count(x: Node, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def widened(x: Node) -> Node:
    """``x`` in the dtype that sums of it are kept in."""
    narrow = x.dtype in dtypes.REAL_FLOATING and x.dtype.itemsize < 4
    return convert(x, dtypes.float32) if narrow else x


# ---- Sums and products


def accumulation_dtype(dtype: DType, count: int = 0) -> DType:
    """The dtype of sums and products of ``dtype`` where none is asked for (standard, "sum").

    A sum of ``count`` booleans has a dtype that holds it.
    """
    integral = config.current().integral
    if dtype == dtypes.bool_:
        return index_dtype(count)
    if dtype in dtypes.SIGNED:
        return builtins.max(dtype, integral, key=lambda d: d.itemsize)
    if dtype in dtypes.UNSIGNED:
        return builtins.max(dtype, np.dtype(f"uint{8 * integral.itemsize}"), key=lambda d: d.itemsize)
    return dtype


@definition
def sum(x: Node, axis: Axis, dtype: DType | None, keepdims: bool) -> Node:
    """Sums along ``axis``; of nothing, 0."""
    axes = normalize_axes("sum", axis, x.ndim)
    target = accumulation_dtype(x.dtype, _count(x, axes)) if dtype is None else dtype
    total = _sum(widened(numeric_cast("sum", x, target)), axes)
    return convert(_kept(total, x.shape, axes, keepdims), target)


@definition
def prod(x: Node, axis: Axis, dtype: DType | None, keepdims: bool) -> Node:
    """Products along ``axis``; of nothing, 1."""
    axes = normalize_axes("prod", axis, x.ndim)
    target = accumulation_dtype(x.dtype) if dtype is None else dtype
    product = _reduce(widened(numeric_cast("prod", x, target)), "stablehlo.multiply", 1, axes)
    return convert(_kept(product, x.shape, axes, keepdims), target)


def numeric_cast(function: str, x: Node, dtype: DType) -> Node:
    if x.dtype in dtypes.COMPLEX and dtype not in dtypes.COMPLEX:
        raise TypeError(
            f"{function}: dtype={dtype.name} would drop the imaginary part of {x.dtype.name}; take real(x) first"
        )
    if dtype == dtypes.bool_:
        raise TypeError(f"{function}: dtype=bool is not allowed; it takes numeric dtypes (any() and all() are bool)")
    return convert(x, dtype)


def _sum(x: Node, axes: tuple[int, ...]) -> Node:
    return _reduce(x, "stablehlo.add", 0, axes)


# ---- Means and variances


def _floating(function: str, x: Node) -> Node:
    """``x``, integers as real numbers."""
    x = convert(x, dtypes.real_for(x.dtype))
    check_dtype(function, x, dtypes.FLOATING)
    return x


@definition
def mean(x: Node, axis: Axis, dtype: DType | None, keepdims: bool) -> Node:
    """Means along ``axis``, in a floating-point dtype; of nothing, NaN."""
    axes = normalize_axes("mean", axis, x.ndim)
    x = _floating("mean", x) if dtype is None else numeric_cast("mean", x, dtype)
    check_dtype("mean", x, dtypes.FLOATING)
    average = divide(_sum(widened(x), axes), _count(x, axes))
    return convert(_kept(average, x.shape, axes, keepdims), x.dtype)


def _variance(function: str, x: Node, axis: Axis, correction: float, keepdims: bool) -> tuple[Node, DType]:
    """The variance, in the dtype it is computed in, and the dtype that it is to have."""
    axes = normalize_axes(function, axis, x.ndim)
    x = _floating(function, x)
    target = dtypes.real_of(x.dtype)
    x = widened(x)
    center = _kept(divide(_sum(x, axes), _count(x, axes)), x.shape, axes, True)
    deviation = subtract(x, broadcast_to(center, x.shape))
    if x.dtype in dtypes.COMPLEX:
        real, imaginary = REAL_PART(deviation), imaginary_part(deviation)
        squares = add(multiply(real, real), multiply(imaginary, imaginary))
    else:
        squares = multiply(deviation, deviation)
    freedom = _count(x, axes) - correction
    # With no more values than the correction there is no estimate (standard, "var").
    variance = divide(_sum(squares, axes), freedom if freedom > 0 else math.nan)
    return _kept(variance, x.shape, axes, keepdims), target


def correction_of(function: str, correction: float, ddof: float | None) -> float:
    """What is subtracted from the number of values, by its name in the standard or by NumPy's."""
    if ddof is None:
        return float(correction)
    if correction:
        raise ValueError(f"{function}: both correction={correction} and ddof={ddof}, its other name; give one of them")
    return float(ddof)


@definition
def var(x: Node, axis: Axis, correction: float, keepdims: bool) -> Node:
    """Variances along ``axis``: squared distances from the mean, divided by their number less ``correction``."""
    variance, dtype = _variance("var", x, axis, correction, keepdims)
    return convert(variance, dtype)


@definition
def std(x: Node, axis: Axis, correction: float, keepdims: bool) -> Node:
    """Standard deviations along ``axis``: the square roots of ``var``."""
    variance, dtype = _variance("std", x, axis, correction, keepdims)
    return convert(sqrt(variance), dtype)


# ---- Extremes


def lowest(dtype: DType) -> object:
    """A value that no value of ``dtype`` is less than."""
    if dtype in dtypes.INTEGRAL:
        return ml_dtypes.iinfo(dtype).min
    return False if dtype == dtypes.bool_ else _largest_floating(dtype, -1)


def highest(dtype: DType) -> object:
    """A value that no value of ``dtype`` is greater than."""
    if dtype in dtypes.INTEGRAL:
        return ml_dtypes.iinfo(dtype).max
    return True if dtype == dtypes.bool_ else _largest_floating(dtype, 1)


def _largest_floating(dtype: DType, sign: int) -> float:
    infinity = np.asarray(sign * math.inf).astype(dtype)
    # Some of the 8-bit dtypes have no infinity.
    return float(infinity) if np.isinf(infinity.astype(np.float64)) else sign * float(ml_dtypes.finfo(dtype).max)


def _extreme(
    function: str, combine: str, initial: Callable[[DType], object], of_nothing: bool = False
) -> Callable[..., Node]:
    def body(x: Node, axis: Axis, keepdims: bool) -> Node:
        axes = normalize_axes(function, axis, x.ndim)
        check_dtype(function, x, dtypes.REAL_OR_BOOLEAN)
        if not of_nothing:
            _check_not_empty(function, x, axes)
        return _kept(_reduce(x, combine, initial(x.dtype), axes), x.shape, axes, keepdims)

    return body


def _extreme_from(function: str, combine: str, least: Callable[[DType], object]) -> Callable[..., Node]:
    def body(x: Node, initial: Node | None, where: Node | None, axis: Axis, keepdims: bool) -> Node:
        axes = normalize_axes(function, axis, x.ndim)
        if initial is None:
            raise ValueError(f"{function}: where= is given without initial=, which is the {function} of nothing")
        if initial.ndim:
            raise ValueError(f"{function}: initial has shape {initial.shape}; it is a number")
        dtype = result_dtype(function, x, initial)
        check_dtype(function, x, dtypes.REAL_OR_BOOLEAN)
        x, initial = convert(x, dtype), convert(initial, dtype)
        if where is not None:
            if where.dtype != dtypes.bool_:
                raise TypeError(f"{function}: where has dtype {where.dtype.name}; it is a mask of booleans")
            mask = broadcast_to(where, broadcast_shapes(function, where.shape, x.shape))
            if mask.shape != x.shape:
                raise ValueError(f"{function}: where of shape {where.shape} does not stretch to {x.shape}")
            x = select(mask, x, broadcast_to(initial, x.shape))
        found = _reduce(x, combine, least(dtype), axes)
        start = broadcast_to(initial, found.shape)
        if dtype == dtypes.bool_:
            found = bit_or(found, start) if combine == "maximum" else bit_and(found, start)
        else:
            found = maximum(found, start) if combine == "maximum" else minimum(found, start)
        return _kept(found, x.shape, axes, keepdims)

    return body


def _check_not_empty(function: str, x: Node, axes: tuple[int, ...]) -> None:
    if _count(x, axes) == 0:
        raise ValueError(
            f"{function}: axis {axes[0] if len(axes) == 1 else axes} of shape {x.shape} has no elements; "
            f"there is no {function} of nothing"
        )


max = Definition("max", _extreme("max", "maximum", lowest))
min = Definition("min", _extreme("min", "minimum", highest))
# ``max`` for where NaN among the elements is NaN in what the result is used for anyway: up to twice as fast.
# Of nothing, the lowest.
greatest = Definition("max", _extreme("max", "stablehlo.maximum", lowest, of_nothing=True))
# x, initial value, mask or None: ``max`` and ``min`` that begin with a value, which is theirs of nothing.
max_from = Definition("max", _extreme_from("max", "maximum", lowest))
min_from = Definition("min", _extreme_from("min", "minimum", highest))


def _extreme_position(function: str, combine: str, initial: Callable[[DType], object]) -> Callable[..., Node]:
    def body(x: Node, axis: int | None, keepdims: bool) -> Node:
        axes = normalize_axes(function, axis, x.ndim)
        check_dtype(function, x, dtypes.REAL_OR_BOOLEAN)
        _check_not_empty(function, x, axes)
        shape = x.shape
        if axis is None:
            x, axes = reshape(x, (x.size,)), (0,)
        length = _count(x, axes)
        # Two plain reductions: the extreme, then the first place that holds it. NaN is the extreme of what has one.
        value = _kept(_reduce(x, combine, initial(x.dtype), axes), x.shape, axes, True)
        holds = equal(x, broadcast_to(value, x.shape))
        if x.dtype in dtypes.REAL_FLOATING:
            holds = bit_or(holds, not_equal(x, x))
        dtype = index_dtype(length)
        places = iota(x.shape, dtype, axes[0])
        first = _reduce(select(holds, places, length - 1), "stablehlo.minimum", length - 1, axes)
        kept = (1,) * len(shape) if axis is None else tuple(1 if k in axes else n for k, n in enumerate(shape))
        return reshape(first, kept) if keepdims else first

    return body


argmax = Definition("argmax", _extreme_position("argmax", "maximum", lowest))
argmin = Definition("argmin", _extreme_position("argmin", "minimum", highest))


# ---- Truth


@definition
def any(x: Node, axis: Axis, keepdims: bool) -> Node:
    """Whether an element along ``axis`` is not zero; of nothing, False."""
    axes = normalize_axes("any", axis, x.ndim)
    return _kept(_reduce(nonzero_mask(x), "stablehlo.or", False, axes), x.shape, axes, keepdims)


@definition
def all(x: Node, axis: Axis, keepdims: bool) -> Node:
    """Whether all elements along ``axis`` are not zero; of nothing, True."""
    axes = normalize_axes("all", axis, x.ndim)
    return _kept(_reduce(nonzero_mask(x), "stablehlo.and", True, axes), x.shape, axes, keepdims)


@definition
def count_nonzero(x: Node, axis: Axis, keepdims: bool) -> Node:
    """How many elements along ``axis`` are not zero."""
    axes = normalize_axes("count_nonzero", axis, x.ndim)
    ones = convert(nonzero_mask(x), index_dtype(_count(x, axes)))
    return _kept(_sum(ones, axes), x.shape, axes, keepdims)
