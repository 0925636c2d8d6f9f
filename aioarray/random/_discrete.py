"""Random bits, integers, truth values and choices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from .._array import ArrayLike, call
from .._base import config
from .._dispatch.arguments import DTypeLike, axis_of, dtype_of, shape_of
from .._ops import random, rejection
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
