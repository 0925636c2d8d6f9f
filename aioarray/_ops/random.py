"""Random arrays: JAX's distributions on JAX's bits, value for value.

Every definition takes a key uint32[2] first and, last among its static arguments, whether the key's layout is
partitionable. Those that loop until they accept a sample are in ``rejection``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from .._base import config, dtypes
from .._graph import Definition, Node, definition, results
from . import _primitives as p
from . import cumulative, searching, statistical, threefry
from ._rules import broadcast_shapes, broadcast_to, check_dtype, convert, normalize_axis, scalar
from .indexing import take
from .sorting import TOP_K, sort_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import DType

Shape = tuple[int, ...]

# Dtypes whose samples are made of random bits: all but those that share their width with another of 8 bits.
SAMPLED = frozenset({dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64})


def check_key(function: str, key: Node) -> None:
    """``ValueError`` or ``TypeError`` unless ``key`` is one key."""
    if key.dtype != dtypes.uint32:
        raise TypeError(f"{function}: a key is of dtype uint32, not {key.dtype.name}; make one with random.key(seed)")
    if key.shape != (2,):
        raise ValueError(
            f"{function}: one key has shape (2,), not {key.shape}; make one with random.key(seed), or take one of "
            "several: keys[i]"
        )


def check_real(function: str, dtype: DType) -> None:
    """``TypeError`` unless ``dtype`` is one that samples are made in."""
    if dtype not in SAMPLED:
        allowed = ", ".join(sorted(d.name for d in SAMPLED))
        raise TypeError(f"{function}: dtype {dtype.name} is not allowed; use one of {allowed}")


def parameter(function: str, name: str, x: Node, shape: Shape, dtype: DType) -> Node:
    """A distribution's parameter in the shape and dtype of the samples."""
    if broadcast_shapes(function, x.shape, shape) != shape:
        raise ValueError(f"{function}: {name} of shape {x.shape} does not broadcast to shape {shape} of the samples")
    return broadcast_to(convert(x, dtype), shape)


def sample_shape(function: str, shape: Shape | None, *parameters: Node) -> Shape:
    """``shape`` or, when it is None, what the parameters broadcast to."""
    return broadcast_shapes(function, *[x.shape for x in parameters]) if shape is None else shape


# ---- Keys and bits


@definition
def seed(x: Node) -> Node:
    """The key uint32[2] of an integer: its low 32 bits."""
    check_dtype("key", x, dtypes.INTEGRAL)
    if x.shape:
        raise ValueError(f"key: the seed has shape {x.shape}; it takes one integer")
    low = convert(x, dtypes.uint32)
    return p.stack((scalar(0, dtypes.uint32), low))


@definition
def split(key: Node, shape: Shape, partitionable: bool) -> Node:
    """New keys uint32[*shape, 2]."""
    check_key("split", key)
    return threefry.split(key, shape, partitionable)


@definition
def fold_in(key: Node, data: Node) -> Node:
    """The key that ``key`` and an integer make."""
    check_key("fold_in", key)
    check_dtype("fold_in", data, dtypes.INTEGRAL)
    if data.shape:
        raise ValueError(f"fold_in: data has shape {data.shape}; it takes one integer")
    return threefry.fold_in(key, convert(data, dtypes.uint32))


@definition
def bits(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """Unsigned integers, each equally likely."""
    check_key("bits", key)
    if dtype not in dtypes.UNSIGNED or dtype == dtypes.uint4:
        raise TypeError(f"bits: dtype {dtype.name} is not allowed; use uint8, uint16, uint32 or uint64")
    return threefry.bits(key, dtype.itemsize * 8, shape, partitionable)


# ---- Uniform


def unit(keys: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """In ``[0, 1)``, from each of ``keys`` (``threefry``): bits as the mantissa of a number in [1, 2), less 1."""
    info = ml_dtypes.finfo(dtype)
    width = 8 if info.nmant < 8 else info.bits
    unsigned = dtypes.as_dtype(f"uint{info.bits}")
    words = convert(threefry.bits(keys, width, shape, partitionable), unsigned)
    one = int(np.array(1, dtype).view(unsigned))
    return p.subtract(p.bitcast(p.bit_or(p.shift_right(words, width - info.nmant), one), dtype), 1)


def between(sample: Node, low: p.Operand, high: p.Operand) -> Node:
    """``sample`` of ``[0, 1)`` stretched to ``[low, high)``."""
    low, high = (x if isinstance(x, Node) else broadcast_to(scalar(x, sample.dtype), sample.shape) for x in (low, high))
    return p.maximum(low, p.add(p.multiply(sample, p.subtract(high, low)), low))


def _uniform_unit(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    check_key("uniform", key)
    check_real("uniform", dtype)
    return unit(key, shape, dtype, partitionable)


# In [0, 1).
uniform_unit = Definition("uniform", _uniform_unit)


@definition
def uniform(key: Node, low: Node, high: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """In ``[low, high)``."""
    sample = _uniform_unit(key, shape, dtype, partitionable)
    bounds = (("minval", low), ("maxval", high))
    return between(sample, *(parameter("uniform", name, x, shape, dtype) for name, x in bounds))


def _convert_clipped(x: Node, dtype: DType) -> Node:
    # Integers, those out of range at its ends.
    source, target = ml_dtypes.iinfo(x.dtype), ml_dtypes.iinfo(dtype)
    clipped = p.maximum(x, max(int(source.min), int(target.min)))
    return convert(p.minimum(clipped, min(int(source.max), int(target.max))), dtype)


@definition
def randint(key: Node, low: Node, high: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """Integers in ``[low, high)``; ``low`` where that is empty."""
    check_key("randint", key)
    if dtype not in dtypes.INTEGRAL or dtype.name.endswith("int4"):
        raise TypeError(f"randint: dtype {dtype.name} is not allowed; it takes integer dtypes of 8 to 64 bits")
    for bound in (low, high):
        check_dtype("randint", bound, dtypes.INTEGRAL)
    info = ml_dtypes.iinfo(dtype)
    sampled = dtype
    if info.bits < 32:
        # Drawn in 32 bits, since the remainder below favours small numbers when the range is large.
        sampled = dtypes.int32
        low = p.minimum(p.maximum(_convert_clipped(low, sampled), int(info.min)), int(info.max))
        high = p.minimum(p.maximum(_convert_clipped(high, sampled), int(info.min)), int(info.max) + 1)
    limit = int(ml_dtypes.iinfo(sampled).max)
    # `high` may be one more than the dtype holds.
    if ml_dtypes.iinfo(high.dtype).max > limit:
        beyond = p.greater(high, limit)
    else:
        beyond = broadcast_to(scalar(False, dtypes.bool_), high.shape)
    beyond = parameter("randint", "maxval", beyond, shape, dtypes.bool_)
    low = parameter("randint", "minval", _convert_clipped(low, sampled), shape, sampled)
    high = parameter("randint", "maxval", _convert_clipped(high, sampled), shape, sampled)
    return convert(_randint(key, low, high, beyond, partitionable), dtype)


def _randint(key: Node, low: Node, high: Node, beyond: Node, partitionable: bool) -> Node:
    # Twice as many random bits as a result has, modulo the number of possible results.
    dtype, shape = low.dtype, low.shape
    width = dtype.itemsize * 8
    upper, lower = (threefry.bits(k, width, shape, partitionable) for k in threefry.split_list(key, 2, partitionable))
    empty = p.less_equal(high, low)
    span = p.select(empty, 1, convert(p.subtract(high, low), lower.dtype))
    # When all values of the dtype are possible the span wraps to 0, and a remainder by 0 is the dividend.
    span = p.select(p.bit_and(beyond, p.greater(high, low)), p.add(span, 1), span)
    # 2**width modulo the span, without overflow.
    factor = p.remainder(broadcast_to(scalar(2 ** (width // 2), span.dtype), shape), span)
    factor = p.remainder(p.multiply(factor, factor), span)
    offset = p.add(p.multiply(p.remainder(upper, span), factor), p.remainder(lower, span))
    return p.add(low, convert(p.remainder(offset, span), dtype))


@definition
def bernoulli(key: Node, probability: Node, shape: Shape | None, partitionable: bool) -> Node:
    """True with ``probability``."""
    check_key("bernoulli", key)
    check_real("bernoulli", probability.dtype)
    shape = sample_shape("bernoulli", shape, probability)
    threshold = parameter("bernoulli", "p", probability, shape, probability.dtype)
    return p.less(unit(key, shape, probability.dtype, partitionable), threshold)


# ---- Distributions by transforming uniform numbers


def normal_real(keys: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """Standard normal, from each of ``keys``: the distribution function inverted at a number in (-1, 1)."""
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype))
    return p.multiply(p.erf_inv(between(unit(keys, shape, dtype, partitionable), low, 1)), math.sqrt(2))


@definition
def normal(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """Standard normal; complex: of variance 1, half of it in each part."""
    check_key("normal", key)
    if dtype in dtypes.COMPLEX:
        real = dtypes.real_of(dtype)
        parts = (normal_real(k, shape, real, partitionable) for k in threefry.split_list(key, 2, partitionable))
        return p.divide(p.make_complex(*parts), math.sqrt(2))
    check_real("normal", dtype)
    return normal_real(key, shape, dtype, partitionable)


@definition
def truncated_normal(
    key: Node, lower: Node, upper: Node, shape: Shape | None, dtype: DType, partitionable: bool
) -> Node:
    """Standard normal, given that it is between ``lower`` and ``upper``."""
    check_key("truncated_normal", key)
    check_real("truncated_normal", dtype)
    shape = sample_shape("truncated_normal", shape, lower, upper)
    lower = parameter("truncated_normal", "lower", lower, shape, dtype)
    upper = parameter("truncated_normal", "upper", upper, shape, dtype)
    ends = (p.erf(p.divide(end, math.sqrt(2))) for end in (lower, upper))
    value = p.multiply(p.erf_inv(between(unit(key, shape, dtype, partitionable), *ends)), math.sqrt(2))
    # Rounding must not leave the open interval.
    value = p.maximum(value, p.next_after(lower, math.inf))
    return p.minimum(value, p.next_after(upper, -math.inf))


def exponential_unit(keys: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """Exponential of mean 1, from each of ``keys``; the logarithm is of (0, 1]."""
    return p.negative(p.log1p(p.negative(unit(keys, shape, dtype, partitionable))))


def _gumbel(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    positive = between(unit(key, shape, dtype, partitionable), float(ml_dtypes.finfo(dtype).tiny), 1)
    return p.negative(p.log(p.negative(p.log(positive))))


def _laplace(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    low = -1 + float(ml_dtypes.finfo(dtype).epsneg)
    u = between(unit(key, shape, dtype, partitionable), low, 1)
    return p.multiply(p.sign(u), p.log1p(p.negative(p.absolute(u))))


def _logistic(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    u = between(unit(key, shape, dtype, partitionable), float(ml_dtypes.finfo(dtype).tiny), 1)
    return p.subtract(p.log(u), p.log1p(p.negative(u)))


def _standard(name: str, rule: Callable[[Node, Shape, DType, bool], Node]) -> Definition[Node]:
    # A distribution without parameters.
    def body(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
        check_key(name, key)
        check_real(name, dtype)
        return rule(key, shape, dtype, partitionable)

    return Definition(name, body)


exponential = _standard("exponential", exponential_unit)
gumbel = _standard("gumbel", _gumbel)
laplace = _standard("laplace", _laplace)
logistic = _standard("logistic", _logistic)


# ---- Choices


@definition
def categorical(key: Node, logits: Node, axis: int, shape: Shape | None, replace: bool, partitionable: bool) -> Node:
    """Positions along ``axis``, drawn in proportion to ``exp(logits)``: where logits plus Gumbel noise are greatest."""
    check_key("categorical", key)
    check_real("categorical", logits.dtype)
    axis = normalize_axis("categorical", axis, logits.ndim)
    batch = logits.shape[:axis] + logits.shape[axis + 1 :]
    shape = batch if shape is None else shape
    if broadcast_shapes("categorical", batch, shape) != shape:
        raise ValueError(
            f"categorical: logits of shape {logits.shape} without axis {axis} do not broadcast to shape {shape}"
        )
    prefix = shape[: len(shape) - len(batch)]
    if not replace:
        return _categorical_without_replacement(key, logits, axis, shape, prefix, partitionable)
    noisy = list(shape[len(prefix) :])
    noisy.insert(axis, logits.shape[axis])
    full = (*prefix, *noisy)
    noise = _gumbel(key, full, logits.dtype, partitionable)
    positions: Node = statistical.argmax(p.add(noise, broadcast_to(logits, full)), len(prefix) + axis, False)
    return positions


def _categorical_without_replacement(
    key: Node, logits: Node, axis: int, shape: Shape, prefix: Shape, partitionable: bool
) -> Node:
    count = math.prod(prefix)
    if count > logits.shape[axis]:
        raise ValueError(
            f"categorical: {count} samples of {logits.shape[axis]} categories without replacement; "
            "take fewer, or pass replace=True"
        )
    noisy = p.add(logits, _gumbel(key, logits.shape, logits.dtype, partitionable))
    others = tuple(a for a in range(logits.ndim) if a != axis)
    positions = results(TOP_K(p.transpose(noisy, (*others, axis)), k=count))[1]
    last = positions.ndim - 1
    positions = p.reshape(p.transpose(positions, (last, *range(last))), shape)
    return convert(positions, config.current().integral)


def _shuffled(key: Node, x: Node, axis: int, partitionable: bool) -> Node:
    # Sorted by random numbers, as often as makes equal numbers in every round improbable.
    rounds = math.ceil(3 * math.log(max(1, x.size)) / math.log(2**32 - 1))
    for _ in range(rounds):
        key, subkey = threefry.split_list(key, 2, partitionable)
        order = threefry.bits(subkey, 32, x.shape, partitionable)
        _, x = sort_together((order, x), axis, stable=True)
    return x


def _permuted(key: Node, x: Node | int, axis: int, independent: bool, partitionable: bool) -> Node:
    if isinstance(x, int):
        return _shuffled(key, p.iota((x,), config.current().integral), 0, partitionable)
    if independent or x.ndim == 1:
        return _shuffled(key, x, axis, partitionable)
    order = _shuffled(key, p.iota((x.shape[axis],), config.current().integral), 0, partitionable)
    return take(x, order, axis)


@definition
def permutation(
    key: Node, x: Node | None, count: int | None, axis: int, independent: bool, partitionable: bool
) -> Node:
    """``x``, or 0..count-1, in random order along ``axis``; ``independent``: each line in its own."""
    check_key("permutation", key)
    if x is None:
        assert count is not None
        return _permuted(key, count, 0, independent, partitionable)
    return _permuted(key, x, normalize_axis("permutation", axis, x.ndim), independent, partitionable)


@definition
def choice(
    key: Node,
    x: Node | None,
    weights: Node | None,
    count: int | None,
    shape: Shape,
    replace: bool,
    axis: int,
    partitionable: bool,
) -> Node:
    """Elements of ``x``, or of 0..count-1, along ``axis``, equally likely or in proportion to ``weights``."""
    check_key("choice", key)
    if x is not None:
        axis = normalize_axis("choice", axis, x.ndim)
        count = x.shape[axis]
    assert count is not None
    draws = math.prod(shape)
    integral = config.current().integral
    result = shape if x is None else (*x.shape[:axis], *shape, *x.shape[axis + 1 :])
    if draws == 0:
        return broadcast_to(scalar(0, integral if x is None else x.dtype), result)
    if count == 0:
        raise ValueError("choice: there is nothing to choose from; `a` must not be empty")
    if not replace and draws > count:
        raise ValueError(f"choice: {draws} draws of {count} without replacement; draw fewer, or pass replace=True")
    if weights is None and not replace:
        permuted = _permuted(key, count if x is None else x, axis, False, partitionable)
        return p.reshape(p.slice_axis(permuted, 0 if x is None else axis, 0, draws), result)
    if weights is None:
        bounds = (scalar(0, dtypes.int64), scalar(count, dtypes.int64))
        positions = randint(key, *bounds, shape, integral, partitionable)
    else:
        positions = _weighted(key, weights, count, shape, replace, partitionable)
    return positions if x is None else p.reshape(take(x, positions, axis), result)


def _weighted(key: Node, weights: Node, count: int, shape: Shape, replace: bool, partitionable: bool) -> Node:
    weights = convert(weights, dtypes.real_for(weights.dtype))
    check_real("choice", weights.dtype)
    if weights.shape != (count,):
        raise ValueError(f"choice: p has shape {weights.shape}; it takes one probability per element, shape ({count},)")
    integral = config.current().integral
    if not replace:
        noise = _gumbel(key, (count,), weights.dtype, partitionable)
        positions = results(TOP_K(p.add(noise, p.log(weights)), k=math.prod(shape)))[1]
        return p.reshape(convert(positions, integral), shape)
    sums = cumulative.cumulative_sum(weights, 0, None, False)
    total = broadcast_to(p.take_index(sums, 0, count - 1), shape)
    sample = unit(key, shape, weights.dtype, partitionable)
    height = p.multiply(total, p.subtract(1, sample))
    return convert(searching.searchsorted(sums, height, None, "left"), integral)
