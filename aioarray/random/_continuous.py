"""Distributions of real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, SupportsIndex

from .._array import ArrayLike, call
from .._dispatch.arguments import DTypeLike, dtype_of, integer_of, shape_of
from .._ops import multivariate, random, rejection
from ._arguments import ShapeLike, optional_shape, parameter, real_dtype
from ._keys import KeyLike, opened

if TYPE_CHECKING:
    from .._array import Array
    from .._graph import Definition, Node


def uniform(
    key: KeyLike,
    shape: ShapeLike = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
) -> Array:
    """Real numbers in ``[minval, maxval)``, each equally likely; the bounds broadcast to ``shape``.

    ``dtype`` is float64, float32 (the default), float16 or bfloat16. Equal to ``jax.random.uniform``.

    >>> aio.random.uniform(aio.random.key(0), (2,), minval=-1.0)
    Array([-0.5674093 ,  0.60824823], dtype=float32)
    """
    bits, layout = opened("uniform", key)
    lengths, real = shape_of("uniform", shape), real_dtype(dtype)
    if type(minval) in (int, float) and type(maxval) in (int, float) and minval == 0 and maxval == 1:
        return call(random.uniform_unit, (bits,), lengths, real, layout)
    bounds = (parameter(minval, real), parameter(maxval, real))
    return call(random.uniform, (bits, *bounds), lengths, real, layout)


def standard(definition: Definition[Node], key: KeyLike, shape: ShapeLike, dtype: DTypeLike | None) -> Array:
    # A distribution without parameters.
    name = definition.name
    bits, layout = opened(name, key)
    return call(definition, (bits,), shape_of(name, shape), real_dtype(dtype), layout)


def normal(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Normal numbers of mean 0 and variance 1; for a complex ``dtype`` each part has variance 1/2.

    Equal to ``jax.random.normal``.

    >>> aio.random.normal(aio.random.key(0), (2, 3)).shape
    (2, 3)
    """
    return standard(random.normal, key, shape, dtype)


def exponential(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Exponential numbers of mean 1. Equal to ``jax.random.exponential``.

    >>> bool(aio.all(aio.random.exponential(aio.random.key(0), (100,)) >= 0))
    True
    """
    return standard(random.exponential, key, shape, dtype)


def gumbel(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Standard Gumbel numbers. Equal to ``jax.random.gumbel`` in its default mode.

    >>> aio.random.gumbel(aio.random.key(0), (3,)).dtype
    dtype('float32')
    """
    return standard(random.gumbel, key, shape, dtype)


def laplace(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Laplace numbers of mean 0 and scale 1. Equal to ``jax.random.laplace``.

    >>> aio.random.laplace(aio.random.key(0), (3,)).shape
    (3,)
    """
    return standard(random.laplace, key, shape, dtype)


def logistic(key: KeyLike, shape: ShapeLike = (), dtype: DTypeLike | None = None) -> Array:
    """Logistic numbers of mean 0 and scale 1. Equal to ``jax.random.logistic``.

    >>> aio.random.logistic(aio.random.key(0), (3,)).shape
    (3,)
    """
    return standard(random.logistic, key, shape, dtype)


def truncated_normal(
    key: KeyLike,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Normal numbers of mean 0 and variance 1, given that they are in the open interval ``(lower, upper)``.

    ``shape`` is by default what the bounds broadcast to. Equal to ``jax.random.truncated_normal``.

    >>> x = aio.random.truncated_normal(aio.random.key(0), -1.0, 2.0, (100,))
    >>> bool(aio.min(x) > -1), bool(aio.max(x) < 2)
    (True, True)
    """
    bits, layout = opened("truncated_normal", key)
    real = real_dtype(dtype)
    arrays = (bits, parameter(lower, real), parameter(upper, real))
    lengths = optional_shape("truncated_normal", shape)
    return call(random.truncated_normal, arrays, lengths, real, layout)


def of_parameters(
    definition: Definition[Node],
    key: KeyLike,
    parameters: tuple[ArrayLike, ...],
    shape: ShapeLike | None,
    dtype: DTypeLike | None,
) -> Array:
    name = definition.name
    bits, layout = opened(name, key)
    real = real_dtype(dtype)
    arrays = (bits, *(parameter(x, real) for x in parameters))
    return call(definition, arrays, optional_shape(name, shape), real, layout)


def gamma(key: KeyLike, a: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Gamma numbers of shape parameter ``a``, which is positive, and scale 1; ``shape`` is by default that of ``a``.

    Equal to ``jax.random.gamma``.

    >>> aio.random.gamma(aio.random.key(0), aio.asarray([0.5, 2.0]), (100, 2)).shape
    (100, 2)
    """
    return of_parameters(rejection.gamma, key, (a,), shape, dtype)


def loggamma(key: KeyLike, a: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Logarithms of gamma numbers, accurate for a small ``a`` whose gamma numbers would be 0.

    Equal to ``jax.random.loggamma``.

    >>> bool(aio.isfinite(aio.random.loggamma(aio.random.key(0), 1e-3)))
    True
    """
    return of_parameters(rejection.loggamma, key, (a,), shape, dtype)


def beta(
    key: KeyLike,
    a: ArrayLike,
    b: ArrayLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Beta numbers of parameters ``a`` and ``b``, which are positive and broadcast. Equal to ``jax.random.beta``.

    >>> x = aio.random.beta(aio.random.key(0), 2.0, 3.0, (100,))
    >>> bool(aio.all((x >= 0) & (x <= 1)))
    True
    """
    return of_parameters(rejection.beta, key, (a, b), shape, dtype)


def dirichlet(key: KeyLike, alpha: ArrayLike, shape: ShapeLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Vectors of positive numbers whose sum is 1, with parameters ``alpha`` of shape ``(..., N)``.

    The result has shape ``(*shape, N)``; ``shape`` is by default ``alpha.shape[:-1]``.
    Equal to ``jax.random.dirichlet``.

    >>> aio.random.dirichlet(aio.random.key(0), aio.ones(3), (5,)).shape
    (5, 3)
    """
    return of_parameters(rejection.dirichlet, key, (alpha,), shape, dtype)


def multivariate_normal(
    key: KeyLike,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: Literal["cholesky", "eigh", "svd"] = "cholesky",
) -> Array:
    """Normal vectors of ``mean`` ``(..., N)`` and covariance ``cov`` ``(..., N, N)``, in shape ``(*shape, N)``.

    ``method`` factors the covariance; "cholesky" needs it positive definite, and gives NaN otherwise. ``shape`` is by
    default what the leading axes broadcast to. Equal to ``jax.random.multivariate_normal``.

    >>> aio.random.multivariate_normal(aio.random.key(0), aio.zeros(2), aio.eye(2), (5,)).shape
    (5, 2)
    """
    bits, layout = opened("multivariate_normal", key)
    lengths = optional_shape("multivariate_normal", shape)
    static = (lengths, dtype_of(dtype), method, layout)
    return call(multivariate.multivariate_normal, (bits, mean, cov), *static)


def orthogonal(
    key: KeyLike,
    n: SupportsIndex,
    shape: ShapeLike = (),
    dtype: DTypeLike | None = None,
    m: SupportsIndex | None = None,
) -> Array:
    """Orthogonal (unitary, for a complex ``dtype``) matrices, each equally likely, in shape ``(*shape, n, n)``.

    With ``m``, of shape ``(n, m)`` with orthonormal rows or columns, whichever are fewer. ``ValueError`` for a negative
    length. Equal to ``jax.random.orthogonal``.

    >>> q = aio.random.orthogonal(aio.random.key(0), 3)
    >>> print(aio.allclose(q @ q.T, aio.eye(3), atol=1e-6))
    True
    """
    bits, layout = opened("orthogonal", key)
    rows = integer_of("orthogonal", "n", n)
    columns = rows if m is None else integer_of("orthogonal", "m", m)
    static = (shape_of("orthogonal", shape), real_dtype(dtype), layout)
    return call(multivariate.orthogonal, (bits,), rows, columns, *static)
