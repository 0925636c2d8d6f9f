"""Distributions made of uniform, normal, exponential and gamma numbers by a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from .._array import call
from .._dispatch.arguments import integer_of
from .._ops import transformed
from ._arguments import optional_shape, parameter, real_dtype
from ._continuous import of_parameters, standard
from ._keys import opened

if TYPE_CHECKING:
    from .._array import Array, ArrayLike
    from .._dispatch.arguments import DTypeLike
    from ._arguments import ShapeLike
    from ._keys import KeyLike


def cauchy(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Cauchy numbers of location 0 and scale 1.

    Equal to ``jax.random.cauchy``.

    >>> aio.random.cauchy(aio.random.key(0), (3,)).shape
    (3,)
    """
    return standard(transformed.cauchy, key, shape, dtype)


def chisquare(key: KeyLike, df: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Chi-square numbers of ``df`` degrees of freedom, which are positive.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.chisquare``.

    >>> bool(aio.all(aio.random.chisquare(aio.random.key(0), 3.0, (100,)) >= 0))
    True
    """
    return of_parameters(transformed.chisquare, key, (df,), shape, dtype)


def f(
    key: KeyLike, dfnum: ArrayLike, dfden: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of the F distribution with ``dfnum`` and ``dfden`` degrees of freedom, which are positive.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.f``.

    >>> bool(aio.all(aio.random.f(aio.random.key(0), 3.0, 5.0, (100,)) >= 0))
    True
    """
    return of_parameters(
        transformed.f,
        key,
        (dfnum, dfden),
        shape,
        dtype,
    )


def lognormal(
    key: KeyLike, sigma: ArrayLike = 1.0, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """Numbers whose logarithm is normal, of mean 0 and standard deviation ``sigma``.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.lognormal``.

    >>> bool(aio.all(aio.random.lognormal(aio.random.key(0), 0.5, (100,)) >= 0))
    True
    """
    return of_parameters(transformed.lognormal, key, (sigma,), shape, dtype)


def maxwell(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Maxwell numbers of scale 1: lengths of vectors of three normal numbers.

    Equal to ``jax.random.maxwell``.

    >>> bool(aio.all(aio.random.maxwell(aio.random.key(0), (100,)) >= 0))
    True
    """
    return standard(transformed.maxwell, key, shape, dtype)


def pareto(key: KeyLike, b: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Pareto numbers, from 1 on, of shape parameter ``b``, which is positive.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.pareto``.

    >>> bool(aio.all(aio.random.pareto(aio.random.key(0), 3.0, (100,)) >= 1))
    True
    """
    return of_parameters(transformed.pareto, key, (b,), shape, dtype)


def rayleigh(key: KeyLike, scale: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Rayleigh numbers of scale ``scale``, which is positive.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.rayleigh``.

    >>> bool(aio.all(aio.random.rayleigh(aio.random.key(0), 2.0, (100,)) >= 0))
    True
    """
    return of_parameters(transformed.rayleigh, key, (scale,), shape, dtype)


def t(key: KeyLike, df: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Numbers of Student's t distribution with ``df`` degrees of freedom, which are positive.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.t``.

    >>> aio.random.t(aio.random.key(0), 3.0, (3,)).shape
    (3,)
    """
    return of_parameters(transformed.t, key, (df,), shape, dtype)


def triangular(
    key: KeyLike,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Numbers from ``left`` to ``right``, whose density is a triangle with its peak at ``mode``.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.triangular``.

    >>> bool(aio.all(aio.random.triangular(aio.random.key(0), 0.0, 1.0, 3.0, (100,)) >= 0))
    True
    """
    return of_parameters(
        transformed.triangular,
        key,
        (left, mode, right),
        shape,
        dtype,
    )


def weibull_min(
    key: KeyLike,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Weibull numbers of ``scale`` and of the shape parameter ``concentration``, both positive.

    Parameters broadcast; ``shape`` is by default theirs. Equal to ``jax.random.weibull_min``.

    >>> bool(aio.all(aio.random.weibull_min(aio.random.key(0), 2.0, 1.5, (100,)) >= 0))
    True
    """
    return of_parameters(
        transformed.weibull_min,
        key,
        (scale, concentration),
        shape,
        dtype,
    )


def wald(key: KeyLike, mean: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Numbers of the inverse Gaussian distribution of ``mean``, which is positive, and scale 1.

    ``shape`` is by default that of ``mean``. Equal to ``jax.random.wald``, and accurate for a large ``mean``, where
    that loses digits.

    >>> bool(aio.all(aio.random.wald(aio.random.key(0), 2.0, (100,)) > 0))
    True
    """
    return of_parameters(transformed.wald, key, (mean,), shape, dtype)


def double_sided_maxwell(
    key: KeyLike, loc: ArrayLike, scale: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """``loc`` plus ``scale`` times Maxwell numbers of either sign.

    Parameters broadcast; ``shape`` is by default theirs. Of numbers ``loc`` and ``scale`` equal to
    ``jax.random.double_sided_maxwell``.

    >>> aio.random.double_sided_maxwell(aio.random.key(0), 0.0, 1.0, (3,)).shape
    (3,)
    """
    return of_parameters(transformed.double_sided_maxwell, key, (loc, scale), shape, dtype)


def generalized_normal(
    key: KeyLike, p: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """Numbers whose density is in proportion to ``exp(-abs(x)**p)``, for a finite ``p`` above 0.

    ``shape`` is by default that of ``p``. Equal to ``jax.random.generalized_normal``.

    >>> aio.random.generalized_normal(aio.random.key(0), 1.5, (3,)).shape
    (3,)
    """
    return of_parameters(transformed.generalized_normal, key, (p,), shape, dtype)


def ball(
    key: KeyLike, d: SupportsIndex, p: ArrayLike = 2, shape: ShapeLike | None = None, dtype: DTypeLike | None = None
) -> Array:
    """Points of the ball of radius 1 in ``d`` dimensions, each equally likely; the norm is that of ``p``.

    The result has shape ``(*shape, d)``; ``shape`` is by default that of ``p``, which is finite and positive.
    ``ValueError`` for no dimensions. Equal to ``jax.random.ball``.

    >>> x = aio.random.ball(aio.random.key(0), 3, shape=(100,))
    >>> bool(aio.all(aio.linalg.vector_norm(x, axis=-1) <= 1))
    True
    """
    words, layout = opened("ball", key)
    real = real_dtype(dtype)
    static = (integer_of("ball", "d", d), optional_shape("ball", shape), real, layout)
    return call(transformed.ball, (words, parameter(p, real)), *static)
