"""Random counts: of trials until one succeeds, and of trials that succeed.

Binomial numbers are computed in float64: in float32 the count of 10**8 trials would be a multiple of eight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ml_dtypes

from .._base import dtypes
from .._graph import Node, definition
from . import _elementary, statistical, threefry
from . import _primitives as p
from ._loops import while_loop
from ._rules import broadcast_shapes, broadcast_to, check_dtype, convert, full_like, scalar
from .random import SAMPLED, Shape, check_key, parameter, sample_shape, unit

if TYPE_CHECKING:
    from .._base.dtypes import DType

_WIDE = dtypes.float64


def _check_dtype(function: str, dtype: DType) -> None:
    if dtype not in SAMPLED and (dtype not in dtypes.INTEGRAL or dtype.name.endswith("int4")):
        raise TypeError(
            f"{function}: dtype {dtype.name} is not allowed; it takes integer dtypes of 8 to 64 bits and real "
            "floating-point ones"
        )


def _check_parameters(function: str, *parameters: Node) -> None:
    for x in parameters:
        check_dtype(function, x, dtypes.REAL)


def _any(condition: Node) -> Node:
    result: Node = statistical.any(condition, None, False)
    return result


def _in_dtype(counts: Node, dtype: DType) -> Node:
    """Counts in float64 as ``dtype``: of integers -1 where there is none, and the greatest where that is less."""
    if dtype in dtypes.REAL_FLOATING:
        return convert(counts, dtype)
    greatest = int(dtypes.iinfo(dtype).max)
    counts = p.select(_elementary.is_nan(counts), -1, counts)
    beyond = p.greater_equal(counts, float(greatest))
    return p.select(beyond, greatest, convert(p.select(beyond, 0, counts), dtype))


@definition
def geometric(key: Node, probability: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """The distribution function inverted at a uniform number."""
    check_key("geometric", key)
    _check_dtype("geometric", dtype)
    check_dtype("geometric", probability, dtypes.REAL)
    shape = sample_shape("geometric", shape, probability)
    # Narrow dtypes have too few uniform numbers: 128 in bfloat16.
    real = dtypes.promote(dtypes.real_for(probability.dtype), dtypes.float32)
    probability = parameter("geometric", "p", probability, shape, real)
    u = unit(key, shape, probability.dtype, partitionable)
    # Zero stands for what is below the least of the other numbers, of which half of that is the middle.
    u = p.maximum(u, float(ml_dtypes.finfo(probability.dtype).eps) / 2)
    failures = p.floor(p.divide(p.log(u), p.log1p(p.negative(probability))))
    valid = p.bit_and(p.greater_equal(probability, 0), p.less_equal(probability, 1))
    return _in_dtype(p.select(valid, p.add(convert(failures, _WIDE), 1), math.nan), dtype)


# ---- Binomial

# From here on by rejection; below by waiting for successes, of which there are about as many as the mean.
_LARGE_MEAN = 10


@definition
def binomial(
    key: Node, trials: Node, probability: Node, shape: Shape | None, dtype: DType, partitionable: bool
) -> Node:
    """How many of ``trials`` succeed."""
    check_key("binomial", key)
    _check_dtype("binomial", dtype)
    _check_parameters("binomial", trials, probability)
    shape = sample_shape("binomial", shape, trials, probability)
    trials = parameter("binomial", "n", trials, shape, _WIDE)
    probability = parameter("binomial", "p", probability, shape, _WIDE)
    return _in_dtype(_binomial(key, p.floor(trials), probability, partitionable), dtype)


def _binomial(key: Node, trials: Node, probability: Node, partitionable: bool) -> Node:
    """In float64; NaN where a parameter makes no sense."""
    likely = p.greater(probability, 0.5)
    rare = p.select(likely, p.subtract(1, probability), probability)
    known = p.bit_and(p.greater_equal(rare, 0), p.bit_and(p.greater_equal(trials, 0), p.less(trials, math.inf)))
    large = p.bit_and(known, p.greater_equal(p.multiply(trials, rare), _LARGE_MEAN))
    small = p.bit_and(known, p.invert(large))
    # Each algorithm runs over all elements; those of the other one get parameters that are quick.
    waited = _by_waiting(key, p.select(small, trials, 0), p.select(small, rare, 0), partitionable)
    accepted = _by_rejection(key, p.select(large, trials, 1e4), p.select(large, rare, 0.5), partitionable)
    count = p.select(large, accepted, waited)
    count = p.select(likely, p.subtract(trials, count), count)
    return p.select(known, count, math.nan)


def _by_waiting(key: Node, trials: Node, probability: Node, partitionable: bool) -> Node:
    # Devroye, "Non-uniform random variate generation", 1986, section X.4.3, first waiting time algorithm.
    def going(waited: Node, count: Node, key: Node, trials: Node, log_failure: Node) -> Node:
        return _any(p.less_equal(waited, trials))

    def body(waited: Node, count: Node, key: Node, trials: Node, log_failure: Node) -> tuple[Node, ...]:
        key, subkey = threefry.split_list(key, 2, partitionable)
        u = p.subtract(1, unit(subkey, trials.shape, _WIDE, partitionable))
        # One trial at least, also where the logarithm is 0.
        wait = p.add(p.floor(p.divide(p.log(u), log_failure)), 1)
        waited = p.add(waited, wait)
        return waited, p.select(p.less_equal(waited, trials), p.add(count, 1), count), key, trials, log_failure

    zero = full_like(trials, 0)
    # Without chance of success the wait is infinite, also where the logarithm is 0 / 0.
    log_failure = p.log1p(p.negative(probability))
    never = p.equal(probability, 0)
    trials = p.select(never, -1, trials)
    return while_loop(going, body, (zero, zero, key, trials, log_failure))[1]


def _by_rejection(key: Node, trials: Node, probability: Node, partitionable: bool) -> Node:
    # Hörmann, "The generation of binomial random variates", 1993: algorithm BTRS.
    failure = p.subtract(1, probability)
    deviation = p.sqrt(p.multiply(p.multiply(trials, probability), failure))
    b = p.add(1.15, p.multiply(2.53, deviation))
    a = p.add(p.add(-0.0873, p.multiply(0.0248, b)), p.multiply(0.01, probability))
    c = p.add(p.multiply(trials, probability), 0.5)
    v_r = p.subtract(0.92, p.divide(4.2, b))
    alpha = p.multiply(p.add(2.83, p.divide(5.1, b)), deviation)
    odds = p.divide(probability, failure)
    mode = p.floor(p.multiply(p.add(trials, 1), probability))
    others = p.add(p.subtract(trials, mode), 1)
    at_mode = p.add(
        p.multiply(p.add(mode, 0.5), p.log(p.divide(p.add(mode, 1), p.multiply(odds, others)))),
        p.add(_stirling_rest(mode), _stirling_rest(p.subtract(trials, mode))),
    )
    constants = (trials, odds, others, at_mode, a, b, c, v_r, alpha)

    def going(value: Node, done: Node, *rest: Node) -> Node:
        return _any(p.invert(done))

    def body(value: Node, done: Node, key: Node, *constants: Node) -> tuple[Node, ...]:
        trials, odds, others, at_mode, a, b, c, v_r, alpha = constants
        key, key_u, key_v = threefry.split_list(key, 3, partitionable)
        u = p.subtract(unit(key_u, trials.shape, _WIDE, partitionable), 0.5)
        v = p.subtract(1, unit(key_v, trials.shape, _WIDE, partitionable))
        u_s = p.subtract(0.5, p.absolute(u))
        k = p.floor(p.add(p.multiply(p.add(p.divide(p.multiply(2, a), u_s), b), u), c))
        quick = p.bit_and(p.greater_equal(u_s, 0.07), p.less_equal(v, v_r))
        inside = p.bit_and(p.greater_equal(k, 0), p.less_equal(k, trials))
        k = p.minimum(p.maximum(k, 0), trials)
        remaining = p.add(p.subtract(trials, k), 1)
        height = p.log(p.divide(p.multiply(v, alpha), p.add(p.divide(a, p.multiply(u_s, u_s)), b)))
        limit = p.add(
            p.add(at_mode, p.multiply(p.add(trials, 1), p.log(p.divide(others, remaining)))),
            p.multiply(p.add(k, 0.5), p.log(p.divide(p.multiply(odds, remaining), p.add(k, 1)))),
        )
        limit = p.subtract(limit, p.add(_stirling_rest(k), _stirling_rest(p.subtract(trials, k))))
        accept = p.bit_and(inside, p.bit_or(quick, p.less_equal(height, limit)))
        accept = p.bit_and(accept, p.invert(done))
        return p.select(accept, k, value), p.bit_or(done, accept), key, *constants

    done = broadcast_to(scalar(False, dtypes.bool_), trials.shape)
    return while_loop(going, body, (full_like(trials, 0), done, key, *constants))[0]


# Stieltjes' continued fraction of the rest of Stirling's formula.
_STIRLING = (1 / 12, 1 / 30, 53 / 210, 195 / 371, 22999 / 22737, 29944523 / 19733142, 109535241009 / 48264275462)


def _stirling_rest(k: Node) -> Node:
    """``log(k!)`` less Stirling's formula; off by 1e-6 at 0 and 1e-8 at 1, which matter little to means from 10 on."""
    x = p.add(k, 1)
    rest = x
    for term in reversed(_STIRLING[1:]):
        rest = p.add(x, p.divide(term, rest))
    return p.divide(_STIRLING[0], rest)


# ---- Multinomial


@definition
def multinomial(key: Node, trials: Node, weights: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """How many of ``trials`` fall to each category: halves of the categories share what both have, again and again."""
    name = "multinomial"
    check_key(name, key)
    _check_dtype(name, dtype)
    _check_parameters(name, trials, weights)
    if weights.ndim < 1 or weights.shape[-1] < 1:
        raise ValueError(f"{name}: p has shape {weights.shape}; it takes (..., N), with at least one category")
    batch = weights.shape[:-1]
    shape = broadcast_shapes(name, trials.shape, batch) if shape is None else shape
    if broadcast_shapes(name, batch, shape) != shape:
        raise ValueError(f"{name}: p of shape {weights.shape} without its last axis does not broadcast to {shape}")
    count = weights.shape[-1]
    trials = p.reshape(p.floor(parameter(name, "n", trials, shape, _WIDE)), (*shape, 1))
    depth = (count - 1).bit_length()
    shares, total = _shares(convert(weights, _WIDE), depth)
    valid = broadcast_to(p.greater(total, 0), trials.shape)
    counts = p.select(valid, trials, math.nan)
    if not depth:
        return _in_dtype(counts, dtype)
    half = 2 ** (depth - 1)
    counts = p.concatenate((counts, broadcast_to(scalar(0, _WIDE), (*shape, 2 * half - 1))), len(shape))

    # One loop, of which each turn divides all groups: a program for each size would take as long to compile as all.
    def going(level: Node, counts: Node, key: Node, shares: Node) -> Node:
        return p.less(level, depth)

    def body(level: Node, counts: Node, key: Node, shares: Node) -> tuple[Node, ...]:
        key, subkey = threefry.split_list(key, 2, partitionable)
        groups = p.slice_axis(counts, -1, 0, half)
        left = _binomial(subkey, groups, broadcast_to(p.take_index(shares, 0, 0), groups.shape), partitionable)
        counts = p.reshape(p.stack((left, p.subtract(groups, left)), len(shape) + 1), counts.shape)
        following = p.concatenate((p.slice_axis(shares, 0, 1, depth), p.slice_axis(shares, 0, 0, 1)))
        return p.add(level, 1), counts, key, following

    counts = while_loop(going, body, (scalar(0, dtypes.int32), counts, key, shares))[1]
    return _in_dtype(p.slice_axis(counts, len(shape), 0, count), dtype)


def _shares(weights: Node, depth: int) -> tuple[Node, Node]:
    """What the first half of each group has of its weight, in rows for groups of ever lesser size; the whole weight.

    Rows ``[depth, *batch, 2**(depth - 1)]``, of which row k begins with ``2**k`` groups. NaN where a weight is
    negative.
    """
    *batch, count = weights.shape
    if missing := 2**depth - count:
        weights = p.concatenate((weights, broadcast_to(scalar(0, _WIDE), (*batch, missing))), -1)
    groups = p.select(p.greater_equal(weights, 0), weights, math.nan)
    rows = []
    for level in reversed(range(depth)):
        pairs = p.reshape(groups, (*batch, 2**level, 2))
        first = p.take_index(pairs, -1, 0)
        groups = p.add(first, p.take_index(pairs, -1, 1))
        row = p.divide(first, p.select(p.equal(groups, 0), 1, groups))
        if missing := 2 ** (depth - 1) - 2**level:
            row = p.concatenate((row, broadcast_to(scalar(0, _WIDE), (*batch, missing))), -1)
        rows.append(row)
    return (p.stack(rows[::-1]) if rows else weights), groups
