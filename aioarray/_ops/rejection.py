"""Random distributions that are drawn by trying until a sample is accepted.

Each element of gamma and beta has a key of its own, so its number of tries leaves the others alone: the loops run until
the last element is done, and those done before keep what they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._base import dtypes
from .._graph import Node, definition
from . import _primitives as p
from . import statistical, threefry
from ._loops import while_loop
from ._rules import BROADCAST, broadcast_to, convert, full_like, scalar
from .random import Shape, check_key, check_real, exponential_unit, normal_real, parameter, sample_shape, unit

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _any(condition: Node) -> Node:
    result: Node = statistical.any(condition, None, False)
    return result


def _select_keys(condition: Node, x: Node, y: Node) -> Node:
    return p.select(BROADCAST(condition, shape=x.shape, dimensions=(0,)), x, y)


def _one(node: Node) -> Node:
    return full_like(node, 1)


# ---- Gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", TOMS 26(3), 2000


def gamma_of(key: Node, alpha: Node, log_space: bool, partitionable: bool) -> Node:
    # For alpha < 1 a sample of alpha + 1 is scaled down: by U**(1/alpha), in log space by log(U)/alpha.
    shape, dtype = alpha.shape, alpha.dtype
    alpha = p.reshape(alpha, (alpha.size,))
    keys = threefry.split(key, alpha.shape, partitionable)
    large = p.greater_equal(alpha, 1)
    shifted = p.select(large, alpha, p.add(alpha, 1))
    third = float(np.array(1 / 3, dtype))
    d = p.subtract(shifted, third)
    c = p.divide(third, p.sqrt(d))
    keys, boost_keys = threefry.split_list(keys, 2, partitionable)
    v = _accepted(keys, d, c, partitionable)
    if log_space:
        logs = p.negative(exponential_unit(boost_keys, (), dtype, partitionable))
        no_boost = p.bit_or(large, p.equal(logs, 0))
        boost = p.select(no_boost, 0, p.multiply(logs, p.divide(1, alpha)))
        return p.reshape(p.add(p.add(p.log(d), p.log(v)), boost), shape)
    uniform = p.subtract(1, unit(boost_keys, (), dtype, partitionable))
    boost = p.select(large, 1, p.power(uniform, p.divide(1, alpha)))
    return p.reshape(p.multiply(p.multiply(d, v), boost), shape)


def _accepted(keys: Node, d: Node, c: Node, partitionable: bool) -> Node:
    # The cubes V = (1 + c X)**3 that are accepted, X normal, given the elements' keys.
    def rejected(x2: Node, v: Node, u: Node, d: Node) -> Node:
        squeezed = p.greater_equal(u, p.subtract(1, p.multiply(0.0331, p.multiply(x2, x2))))
        bound = p.add(p.multiply(x2, 0.5), p.multiply(d, p.add(p.subtract(1, v), p.log(v))))
        return p.bit_and(squeezed, p.greater_equal(p.log(u), bound))

    def going(keys: Node, x2: Node, v: Node, u: Node, d: Node, c: Node) -> Node:
        return _any(rejected(x2, v, u, d))

    def body(keys: Node, x2: Node, v: Node, u: Node, d: Node, c: Node) -> tuple[Node, ...]:
        again = rejected(x2, v, u, d)
        new_keys, normal_keys, uniform_keys = threefry.split_list(keys, 3, partitionable)
        # Elements that are done count as positive, so that they cause no further tries.
        start = p.select(again, full_like(v, -1), _one(v))
        x, root = _positive(normal_keys, start, c, partitionable)
        cube = p.multiply(p.multiply(root, root), root)
        new_u = unit(uniform_keys, (), v.dtype, partitionable)
        return (
            _select_keys(again, new_keys, keys),
            p.select(again, p.multiply(x, x), x2),
            p.select(again, cube, v),
            p.select(again, new_u, u),
            d,
            c,
        )

    # Begins with values that are rejected.
    initial = (keys, full_like(d, 0), _one(d), full_like(d, 2), d, c)
    return while_loop(going, body, initial)[2]


def _positive(keys: Node, start: Node, c: Node, partitionable: bool) -> tuple[Node, Node]:
    # X normal and 1 + c X, drawn until that is positive; `start` says by its sign which elements are wanted.
    def going(keys: Node, x: Node, root: Node, c: Node) -> Node:
        return _any(p.less_equal(root, 0))

    def body(keys: Node, x: Node, root: Node, c: Node) -> tuple[Node, ...]:
        again = p.less_equal(root, 0)
        new_keys, subkeys = threefry.split_list(keys, 2, partitionable)
        new_x = normal_real(subkeys, (), x.dtype, partitionable)
        new_root = p.add(1, p.multiply(new_x, c))
        return (
            _select_keys(again, new_keys, keys),
            p.select(again, new_x, x),
            p.select(again, new_root, root),
            c,
        )

    _, x, root, _ = while_loop(going, body, (keys, full_like(start, 0), start, c))
    return x, root


@definition
def gamma(key: Node, a: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Gamma of shape parameter ``a`` and scale 1."""
    check_key("gamma", key)
    check_real("gamma", dtype)
    shape = sample_shape("gamma", shape, a)
    return gamma_of(key, parameter("gamma", "a", a, shape, dtype), False, partitionable)


@definition
def loggamma(key: Node, a: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """The logarithm of gamma, accurate where that would underflow."""
    check_key("loggamma", key)
    check_real("loggamma", dtype)
    shape = sample_shape("loggamma", shape, a)
    return gamma_of(key, parameter("loggamma", "a", a, shape, dtype), True, partitionable)


@definition
def beta(key: Node, a: Node, b: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Beta: ``A / (A + B)`` of gamma A and B, from their logarithms so that small ones keep their digits."""
    check_key("beta", key)
    check_real("beta", dtype)
    shape = sample_shape("beta", shape, a, b)
    key_a, key_b = threefry.split_list(key, 2, partitionable)
    log_a = gamma_of(key_a, parameter("beta", "a", a, shape, dtype), True, partitionable)
    log_b = gamma_of(key_b, parameter("beta", "b", b, shape, dtype), True, partitionable)
    greater = p.maximum(log_a, log_b)
    scaled_a, scaled_b = p.exp(p.subtract(log_a, greater)), p.exp(p.subtract(log_b, greater))
    return p.divide(scaled_a, p.add(scaled_a, scaled_b))


@definition
def dirichlet(key: Node, alpha: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Dirichlet: gamma variables of ``alpha`` along the last axis, divided by their sum, from their logarithms."""
    check_key("dirichlet", key)
    check_real("dirichlet", dtype)
    if alpha.ndim < 1:
        raise ValueError("dirichlet: alpha has no dimensions; it takes at least one")
    shape = alpha.shape[:-1] if shape is None else shape
    alpha = parameter("dirichlet", "alpha", alpha, (*shape, alpha.shape[-1]), dtype)
    logs = gamma_of(key, alpha, True, partitionable)
    last = alpha.ndim - 1
    top = BROADCAST(statistical.max(logs, last, True), shape=alpha.shape, dimensions=tuple(range(alpha.ndim)))
    scaled = p.exp(p.subtract(logs, top))
    total = statistical.sum(scaled, last, None, True)
    return p.divide(scaled, broadcast_to(total, alpha.shape))


# ---- Poisson

# From here on by rejection; below by multiplying uniform numbers, which takes about as many of them as the mean.
_LARGE_MEAN = 10


@definition
def poisson(key: Node, mean: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Poisson of mean ``mean``, as integers."""
    check_key("poisson", key)
    if dtype not in dtypes.INTEGRAL or dtype.name.endswith("int4"):
        raise TypeError(f"poisson: dtype {dtype.name} is not allowed; it takes integer dtypes of 8 to 64 bits")
    shape = sample_shape("poisson", shape, mean)
    mean = parameter("poisson", "lam", mean, shape, dtypes.float32)
    small = p.bit_or(p.not_equal(mean, mean), p.less(mean, _LARGE_MEAN))
    # Each algorithm runs over all elements; those of the other one get a mean that is quick.
    counted = _poisson_product(key, p.select(small, mean, 0), dtype, partitionable)
    accepted = _poisson_rejection(key, p.select(small, 1e5, mean), dtype, partitionable)
    return p.select(p.equal(mean, 0), 0, p.select(small, counted, accepted))


def _try(tries: Node) -> Node:
    return p.add(tries, 1)


def _poisson_product(key: Node, mean: Node, dtype: DType, partitionable: bool) -> Node:
    # Knuth, TAOCP volume 2, section 3.4.1: how many uniform numbers until their product is below exp(-mean).
    def going(tries: Node, count: Node, key: Node, log_product: Node, mean: Node) -> Node:
        above = p.greater(log_product, p.negative(mean))
        return p.bit_and(_any(above), p.less(tries, np.iinfo(dtype).max))

    def body(tries: Node, count: Node, key: Node, log_product: Node, mean: Node) -> tuple[Node, ...]:
        key, subkey = threefry.split_list(key, 2, partitionable)
        above = p.greater(log_product, p.negative(mean))
        uniform = unit(subkey, mean.shape, mean.dtype, partitionable)
        count = p.select(above, p.add(count, 1), count)
        return _try(tries), count, key, p.add(log_product, p.log(uniform)), mean

    zero = broadcast_to(scalar(0, dtype), mean.shape)
    initial = (scalar(0, dtypes.uint64), zero, key, full_like(mean, 0), mean)
    return p.subtract(while_loop(going, body, initial)[1], 1)


def _poisson_rejection(key: Node, mean: Node, dtype: DType, partitionable: bool) -> Node:
    # Hörmann, "The transformed rejection method for generating Poisson random variables", 1993: algorithm PTRS.
    b = p.add(0.931, p.multiply(2.53, p.sqrt(mean)))
    a = p.add(-0.059, p.multiply(0.02483, b))
    inverse_alpha = p.add(1.1239, p.divide(1.1328, p.subtract(b, 3.4)))
    v_r = p.subtract(0.9277, p.divide(3.6224, p.subtract(b, 2)))
    constants = (mean, p.log(mean), b, a, inverse_alpha, v_r)

    def body(tries: Node, value: Node, done: Node, key: Node, *constants: Node) -> tuple[Node, ...]:
        mean, log_mean, b, a, inverse_alpha, v_r = constants
        key, key_u, key_v = threefry.split_list(key, 3, partitionable)
        u = p.subtract(unit(key_u, mean.shape, mean.dtype, partitionable), 0.5)
        v = unit(key_v, mean.shape, mean.dtype, partitionable)
        u_s = p.subtract(0.5, p.absolute(u))
        k = p.add(p.multiply(p.add(p.divide(p.multiply(2, a), u_s), b), u), mean)
        k = p.floor(p.add(k, 0.43))
        divisor = p.add(p.divide(a, p.multiply(u_s, u_s)), b)
        s = p.log(p.divide(p.multiply(v, inverse_alpha), divisor))
        t = p.subtract(p.add(p.negative(mean), p.multiply(k, log_mean)), p.lgamma(p.add(k, 1)))
        quick = p.bit_and(p.greater_equal(u_s, 0.07), p.less_equal(v, v_r))
        outside = p.bit_or(p.less(k, 0), p.bit_and(p.less(u_s, 0.013), p.greater(v, u_s)))
        accept = p.bit_or(quick, p.bit_and(p.invert(outside), p.less_equal(s, t)))
        return _try(tries), p.select(accept, k, value), p.bit_or(done, accept), key, *constants

    def going(tries: Node, value: Node, done: Node, *others: Node) -> Node:
        return p.bit_and(_any(p.invert(done)), p.less(tries, np.iinfo(dtype).max))

    not_done = broadcast_to(scalar(False, dtypes.bool_), mean.shape)
    initial = (scalar(0, dtypes.uint64), full_like(mean, -1), not_done, key, *constants)
    return convert(while_loop(going, body, initial)[1], dtype)
