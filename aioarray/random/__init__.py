"""Random arrays, with explicit keys: the same key gives the same bits as JAX's threefry generator.

A key is made of a seed, and every function takes one. The same key gives the same values again: for others, ``split``
it into new ones or ``fold_in`` a number.

>>> key = aio.random.key(0)
>>> aio.random.normal(key, (2, 2)).shape
(2, 2)

The layout in which bits are drawn from a key is that of ``jax_threefry_partitionable=False``. What JAX draws by default
today comes from ``key(seed, partitionable=True)``; a key remembers it, and so do the keys made of it.
"""

from ._continuous import (
    beta,
    dirichlet,
    exponential,
    gamma,
    gumbel,
    laplace,
    loggamma,
    logistic,
    multivariate_normal,
    normal,
    truncated_normal,
    uniform,
)
from ._discrete import bernoulli, bits, categorical, choice, permutation, poisson, randint
from ._keys import Key, PRNGKey, fold_in, key, key_data, split, wrap_key_data
from ._transformed import cauchy, chisquare, f, lognormal, maxwell, pareto, rayleigh, t, triangular, weibull_min

__all__ = [
    "Key",
    "PRNGKey",
    "bernoulli",
    "beta",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multivariate_normal",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "weibull_min",
    "wrap_key_data",
]
