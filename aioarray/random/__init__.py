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
    orthogonal,
    truncated_normal,
    uniform,
)
from ._discrete import (
    bernoulli,
    binomial,
    bits,
    categorical,
    choice,
    geometric,
    multinomial,
    permutation,
    poisson,
    rademacher,
    randint,
)
from ._keys import Key, PRNGKey, fold_in, key, key_data, split, wrap_key_data
from ._transformed import (
    ball,
    cauchy,
    chisquare,
    double_sided_maxwell,
    f,
    generalized_normal,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    t,
    triangular,
    wald,
    weibull_min,
)

__all__ = [
    "Key",
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
