"""Random bits, integers, truth values, counts and choices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from .._array import ArrayLike, call
from .._base import config
from .._base.dtypes import float64
from .._dispatch.arguments import DTypeLike, axis_of, dtype_of, shape_of
from .._ops import counts, random, rejection, transformed
from ._arguments import ShapeLike, bound, integral_dtype, optional_shape, parameter
from ._keys import KeyLike, opened

if TYPE_CHECKING:
    from .._array import Array


def bits(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Unsigned integers of random bits: ``dtype`` is uint8, uint16, uint32 (the default) or uint64.

    Equal to ``jax.random.bits``.

    >>> aio.random.bits(aio.random.key(0), (2,))
    Array([ 928981903, 3453687069], dtype=uint32)
    """
    words, layout = opened("bits", key)
    unsigned = dtype_of("uint32" if dtype is None else dtype)
    return call(random.bits, (words,), shape_of("bits", shape), unsigned, layout)


def randint(
    key: KeyLike, shape: ShapeLike, minval: ArrayLike, maxval: ArrayLike, dtype: DTypeLike | None = None
) -> Array:
    """Integers in ``[minval, maxval)``, or ``minval`` where that is empty; the bounds broadcast to ``shape``.

    ``maxval`` may be one more than ``dtype`` (int32 by default) holds. Equal to ``jax.random.randint``.

    >>> aio.random.randint(aio.random.key(0), (5,), 0, 10).dtype
    dtype('int32')
    """
    words, layout = opened("randint", key)
    arrays = (words, bound("randint", "minval", minval), bound("randint", "maxval", maxval))
    static = (shape_of("randint", shape), integral_dtype(dtype), layout)
    return call(random.randint, arrays, *static)


def bernoulli(key: KeyLike, p: ArrayLike = 0.5, shape: ShapeLike | None = None) -> Array:
    """True with probability ``p``; ``shape`` is by default that of ``p``. Equal to ``jax.random.bernoulli``.

    >>> aio.random.bernoulli(aio.random.key(0), 0.5, (3,)).dtype
    dtype('bool')
    """
    words, layout = opened("bernoulli", key)
    arrays = (words, parameter(p, config.current().real))
    return call(random.bernoulli, arrays, optional_shape("bernoulli", shape), layout)


def poisson(key: KeyLike, lam: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Poisson numbers of mean ``lam``, as integers; ``shape`` is by default that of ``lam``. -1 where that is NaN.

    Equal to ``jax.random.poisson``; for means from 10 on, a choice that hangs on the last bit of a logarithm of the
    gamma function may differ between versions of JAX.

    >>> aio.random.poisson(aio.random.key(0), 3.0, (5,)).shape
    (5,)
    """
    words, layout = opened("poisson", key)
    arrays = (words, parameter(lam, config.current().real))
    static = (optional_shape("poisson", shape), integral_dtype(dtype), layout)
    return call(rejection.poisson, arrays, *static)


def geometric(key: KeyLike, p: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """How many trials, each of which succeeds with probability ``p``, the first success takes: from 1 on.

    ``shape`` is by default that of ``p``. ``dtype`` is int32 by default; real ones are allowed too. -1, or NaN, where
    ``p`` is not from 0 to 1; the greatest number of ``dtype`` where it is 0. Equal to ``jax.random.geometric``, but for
    draws that JAX makes of a uniform number 0: there it is infinite.

    >>> aio.random.geometric(aio.random.key(0), 0.2, (5,)).dtype
    dtype('int32')
    """
    words, layout = opened("geometric", key)
    static = (optional_shape("geometric", shape), integral_dtype(dtype), layout)
    return call(counts.geometric, (words, parameter(p, config.current().real)), *static)


def binomial(
    key: KeyLike, n: ArrayLike, p: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """How many of ``n`` trials succeed, each with probability ``p``; exact up to 2**53 trials.

    Parameters broadcast; ``shape`` is by default theirs. ``dtype`` is int32 by default; real ones are allowed too. -1,
    or NaN, where ``p`` is not from 0 to 1 or ``n`` is negative.

    >>> x = aio.random.binomial(aio.random.key(0), 10, 0.3, (100,))
    >>> bool(aio.all((x >= 0) & (x <= 10)))
    True
    """
    words, layout = opened("binomial", key)
    static = (optional_shape("binomial", shape), integral_dtype(dtype), layout)
    return call(counts.binomial, (words, parameter(n, float64), parameter(p, float64)), *static)


def multinomial(
    key: KeyLike, n: ArrayLike, p: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """How many of ``n`` trials fall to each of N categories, with probabilities in proportion to ``p`` ``(..., N)``.

    The result has shape ``(*shape, N)``; ``shape`` is by default what those of ``n`` and ``p.shape[:-1]`` broadcast to.
    ``dtype`` as for ``binomial``. -1, or NaN, where ``n`` or an element of ``p`` is negative, or all of ``p`` are 0.

    >>> x = aio.random.multinomial(aio.random.key(0), 100, aio.asarray([0.2, 0.3, 0.5]), (5,))
    >>> x.shape, aio.sum(x, axis=-1)
    ((5, 3), Array([100, 100, 100, 100, 100], dtype=int32))
    """
    words, layout = opened("multinomial", key)
    static = (optional_shape("multinomial", shape), integral_dtype(dtype), layout)
    return call(counts.multinomial, (words, parameter(n, float64), p), *static)


def rademacher(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """1 and -1, each equally likely, as integers by default. Equal to ``jax.random.rademacher``.

    >>> aio.random.rademacher(aio.random.key(0), (3,)).dtype
    dtype('int32')
    """
    words, layout = opened("rademacher", key)
    return call(transformed.rademacher, (words,), shape_of("rademacher", shape), integral_dtype(dtype), layout)


def categorical(
    key: KeyLike,
    logits: ArrayLike,
    axis: SupportsIndex = -1,
    shape: ShapeLike | None = None,
    *,
    replace: bool = True,
) -> Array:
    """Positions along ``axis``, drawn with probabilities in proportion to ``exp(logits)``.

    ``shape`` is by default that of ``logits`` without the axis, to which these broadcast. ``replace=False`` draws no
    position twice along the axes of ``shape`` that the logits do not have. Equal to ``jax.random.categorical``.

    >>> logits = aio.log(aio.asarray([0.1, 0.2, 0.7]))
    >>> aio.random.categorical(aio.random.key(0), logits, shape=(5,)).shape
    (5,)
    """
    words, layout = opened("categorical", key)
    static = (axis_of("categorical", axis), optional_shape("categorical", shape), bool(replace), layout)
    return call(random.categorical, (words, logits), *static)


def _range_length(function: str, name: str, x: Any) -> int | None:
    """The number that stands for ``range(number)``, or None for an array."""
    if hasattr(x, "shape") or isinstance(x, (list, tuple)):
        if not getattr(x, "shape", True):
            raise TypeError(
                f"{function}: {name} is an array without axes; pass a Python integer, or an array with axes"
            )
        return None
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError(f"{function}: {name}={x!r} is neither an integer nor an array") from None


def permutation(key: KeyLike, x: int | ArrayLike, axis: SupportsIndex = 0, independent: bool = False) -> Array:
    """``x`` in random order along ``axis``; an integer stands for the numbers below it.

    ``independent`` orders each line along the axis for itself. Equal to ``jax.random.permutation``.

    >>> aio.sort(aio.random.permutation(aio.random.key(0), 5))
    Array([0, 1, 2, 3, 4], dtype=int32)
    """
    words, layout = opened("permutation", key)
    count = _range_length("permutation", "x", x)
    static = (count, axis_of("permutation", axis), bool(independent), layout)
    arrays = (words, x if count is None else None)
    return call(random.permutation, arrays, *static)


def choice(
    key: KeyLike,
    a: int | ArrayLike,
    shape: ShapeLike = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: SupportsIndex = 0,
) -> Array:
    """Elements of ``a`` along ``axis``; an integer stands for the numbers below it.

    ``p`` gives each a probability, ``replace=False`` draws none twice. ``shape`` takes the place of the axis.
    Equal to ``jax.random.choice``.

    >>> aio.random.choice(aio.random.key(0), 10, (5,), replace=False).shape
    (5,)
    """
    words, layout = opened("choice", key)
    count = _range_length("choice", "a", a)
    arrays = (words, a if count is None else None, p)
    static = (count, shape_of("choice", shape), bool(replace), axis_of("choice", axis), layout)
    return call(random.choice, arrays, *static)
