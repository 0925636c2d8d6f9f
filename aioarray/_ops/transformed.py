"""Distributions made of uniform, normal, exponential and gamma numbers by a formula, JAX's value for value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ml_dtypes

from .._base import config, dtypes
from .._graph import Node, definition
from . import _elementary, statistical, threefry
from . import _primitives as p
from ._rules import BROADCAST, convert
from .random import Shape, between, check_key, check_real, exponential_unit, normal_real, parameter, sample_shape, unit
from .rejection import gamma_of

if TYPE_CHECKING:
    from .._base.dtypes import DType


def _prepared(
    function: str, key: Node, shape: Shape | None, dtype: DType, **parameters: Node
) -> tuple[Shape, list[Node]]:
    check_key(function, key)
    check_real(function, dtype)
    shape = sample_shape(function, shape, *parameters.values())
    return shape, [parameter(function, name, x, shape, dtype) for name, x in parameters.items()]


@definition
def cauchy(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """The tangent of an angle, each equally likely."""
    _prepared("cauchy", key, shape, dtype)
    u = between(unit(key, shape, dtype, partitionable), float(ml_dtypes.finfo(dtype).eps), 1)
    return _elementary.tangent(p.multiply(p.subtract(u, 0.5), math.pi))


@definition
def maxwell(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """The length of a vector of three normal numbers."""
    _prepared("maxwell", key, shape, dtype)
    x = normal_real(key, (*shape, 3), dtype, partitionable)
    return p.sqrt(statistical.sum(p.multiply(x, x), len(shape), None, False))


@definition
def rayleigh(key: Node, scale: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """The length of a vector of two normal numbers, times ``scale``."""
    shape, (scale,) = _prepared("rayleigh", key, shape, dtype, scale=scale)
    u = unit(key, shape, dtype, partitionable)
    return p.multiply(scale, p.sqrt(p.multiply(p.log(u), -2)))


@definition
def lognormal(key: Node, sigma: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """The exponential function of ``sigma`` times a normal number."""
    shape, (sigma,) = _prepared("lognormal", key, shape, dtype, sigma=sigma)
    return p.exp(p.multiply(normal_real(key, shape, dtype, partitionable), sigma))


@definition
def pareto(key: Node, b: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """The exponential function of an exponential number over ``b``."""
    shape, (b,) = _prepared("pareto", key, shape, dtype, b=b)
    return p.exp(p.divide(exponential_unit(key, shape, dtype, partitionable), b))


@definition
def weibull_min(
    key: Node, scale: Node, concentration: Node, shape: Shape | None, dtype: DType, partitionable: bool
) -> Node:
    """A power of an exponential number, times ``scale``."""
    shape, (scale, concentration) = _prepared(
        "weibull_min", key, shape, dtype, scale=scale, concentration=concentration
    )
    e = exponential_unit(key, shape, dtype, partitionable)
    return p.multiply(p.power(e, p.divide(1, concentration)), scale)


@definition
def triangular(
    key: Node, left: Node, mode: Node, right: Node, shape: Shape | None, dtype: DType, partitionable: bool
) -> Node:
    """The distribution function, a parabola on each side of ``mode``, inverted at a uniform number."""
    shape, (left, mode, right) = _prepared("triangular", key, shape, dtype, left=left, mode=mode, right=right)
    u = unit(key, shape, dtype, partitionable)
    width, rise, fall = p.subtract(right, left), p.subtract(mode, left), p.subtract(right, mode)
    below = p.add(left, p.sqrt(p.multiply(p.multiply(u, width), rise)))
    above = p.subtract(right, p.sqrt(p.multiply(p.multiply(p.subtract(1, u), width), fall)))
    return p.select(p.less(u, p.divide(rise, width)), below, above)


@definition
def chisquare(key: Node, df: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Twice a gamma number of shape parameter ``df / 2``."""
    shape, (df,) = _prepared("chisquare", key, shape, dtype, df=df)
    return _chisquare(key, df, partitionable)


def _chisquare(key: Node, df: Node, partitionable: bool) -> Node:
    return p.multiply(p.exp(gamma_of(key, p.divide(df, 2), True, partitionable)), 2)


@definition
def t(key: Node, df: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """A normal number over the root of a chi-square number that is divided by ``df``."""
    shape, (df,) = _prepared("t", key, shape, dtype, df=df)
    normal_key, gamma_key = threefry.split_list(key, 2, partitionable)
    half = p.divide(df, 2)
    g = gamma_of(gamma_key, half, False, partitionable)
    return p.multiply(normal_real(normal_key, shape, dtype, partitionable), p.sqrt(p.divide(half, g)))


@definition
def f(key: Node, dfnum: Node, dfden: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """The ratio of two chi-square numbers, each divided by its degrees of freedom."""
    shape, (dfnum, dfden) = _prepared("f", key, shape, dtype, dfnum=dfnum, dfden=dfden)
    key_den, key_num = threefry.split_list(key, 2, partitionable)
    numerator = p.divide(_chisquare(key_num, dfnum, partitionable), dfnum)
    return p.divide(numerator, p.divide(_chisquare(key_den, dfden, partitionable), dfden))


@definition
def wald(key: Node, mean: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Inverse Gaussian of ``mean`` and shape parameter 1 (Michael, Schucany and Haas, 1976).

    The lesser root of their equation, or the greater one. Both are written without the difference of large numbers.
    """
    shape, (mean,) = _prepared("wald", key, shape, dtype, mean=mean)
    normal_key, uniform_key = threefry.split_list(key, 2, partitionable)
    v = normal_real(normal_key, shape, dtype, partitionable)
    z = unit(uniform_key, shape, dtype, partitionable)
    a = p.multiply(mean, p.multiply(v, v))
    half = p.multiply(p.add(p.add(2, a), p.multiply(p.sqrt(a), p.sqrt(p.add(a, 4)))), 0.5)
    return p.select(p.less_equal(z, p.divide(half, p.add(half, 1))), p.divide(mean, half), p.multiply(mean, half))


def _signs(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """1 and -1, each equally likely."""
    plus = p.less(unit(key, shape, config.current().real, partitionable), 0.5)
    return p.subtract(p.multiply(convert(plus, dtype), 2), 1)


@definition
def rademacher(key: Node, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """1 and -1, each equally likely."""
    check_key("rademacher", key)
    if dtype not in dtypes.SIGNED | dtypes.FLOATING:
        raise TypeError(f"rademacher: dtype {dtype.name} does not hold -1; use a signed or floating-point one")
    return _signs(key, shape, dtype, partitionable)


@definition
def double_sided_maxwell(
    key: Node, loc: Node, scale: Node, shape: Shape | None, dtype: DType, partitionable: bool
) -> Node:
    """``loc`` plus ``scale`` times a Maxwell number of either sign."""
    shape, (loc, scale) = _prepared("double_sided_maxwell", key, shape, dtype, loc=loc, scale=scale)
    maxwell_key, sign_key = threefry.split_list(key, 2, partitionable)
    sign = _signs(sign_key, shape, dtype, partitionable)
    length: Node = maxwell(maxwell_key, shape, dtype, partitionable)
    return p.add(p.multiply(p.multiply(sign, length), scale), loc)


@definition
def generalized_normal(key: Node, power: Node, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """A power of a gamma number, of either sign."""
    shape, (power,) = _prepared("generalized_normal", key, shape, dtype, p=power)
    return _generalized_normal(key, power, partitionable)[0]


def _generalized_normal(key: Node, power: Node, partitionable: bool) -> tuple[Node, Node]:
    """Generalized normal numbers, and the absolute values of these to their ``power``.

    By logarithms, since gamma numbers of a small shape parameter underflow.
    """
    gamma_key, sign_key = threefry.split_list(key, 2, partitionable)
    logs = gamma_of(gamma_key, p.divide(1, power), True, partitionable)
    sign = _signs(sign_key, power.shape, power.dtype, partitionable)
    return p.multiply(sign, p.exp(p.divide(logs, power))), p.exp(logs)


@definition
def ball(key: Node, power: Node, dimensions: int, shape: Shape | None, dtype: DType, partitionable: bool) -> Node:
    """Points of the unit ball of a norm (Barthe, Guedon, Mendelson and Naor, 2005): numbers of the density
    ``exp(-abs(x)**power)``, over a norm to which an exponential number is added.
    """
    shape, (power,) = _prepared("ball", key, shape, dtype, p=power)
    if dimensions < 1:
        raise ValueError(f"ball: d={dimensions}; it takes at least one dimension")
    axes = tuple(range(len(shape)))
    full = (*shape, dimensions)
    normal_key, exponential_key = threefry.split_list(key, 2, partitionable)
    x, powers = _generalized_normal(normal_key, BROADCAST(power, shape=full, dimensions=axes), partitionable)
    total = statistical.sum(powers, len(shape), None, False)
    total = p.add(total, exponential_unit(exponential_key, shape, dtype, partitionable))
    return p.divide(x, BROADCAST(p.power(total, p.divide(1, power)), shape=full, dimensions=axes))
