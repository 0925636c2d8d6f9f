"""The public random functions: keys, layouts, arguments, and one launch for each call."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import random

if TYPE_CHECKING:
    from collections.abc import Callable

# Every function that draws, with arguments it takes.
DRAWS: dict[str, Callable[[Any], Any]] = {
    "bernoulli": lambda key: random.bernoulli(key, 0.3, (4,)),
    "beta": lambda key: random.beta(key, 2.0, 3.0, (4,)),
    "bits": lambda key: random.bits(key, (4,)),
    "categorical": lambda key: random.categorical(key, np.zeros(3, np.float32), shape=(4,)),
    "choice": lambda key: random.choice(key, 10, (4,)),
    "dirichlet": lambda key: random.dirichlet(key, np.ones(3, np.float32), (4,)),
    "exponential": lambda key: random.exponential(key, (4,)),
    "fold_in": lambda key: random.key_data(random.fold_in(key, 3)),
    "gamma": lambda key: random.gamma(key, 2.0, (4,)),
    "gumbel": lambda key: random.gumbel(key, (4,)),
    "laplace": lambda key: random.laplace(key, (4,)),
    "loggamma": lambda key: random.loggamma(key, 2.0, (4,)),
    "logistic": lambda key: random.logistic(key, (4,)),
    "multivariate_normal": lambda key: random.multivariate_normal(
        key, np.zeros(2, np.float32), np.eye(2, dtype=np.float32), (4,)
    ),
    "normal": lambda key: random.normal(key, (4,)),
    "permutation": lambda key: random.permutation(key, 4),
    "poisson": lambda key: random.poisson(key, 3.0, (4,)),
    "randint": lambda key: random.randint(key, (4,), 0, 10),
    "split": lambda key: random.key_data(random.split(key, 4)),
    "truncated_normal": lambda key: random.truncated_normal(key, -1.0, 2.0, (4,)),
    "cauchy": lambda key: random.cauchy(key, (4,)),
    "chisquare": lambda key: random.chisquare(key, 3.0, (4,)),
    "f": lambda key: random.f(key, 3.0, 5.0, (4,)),
    "lognormal": lambda key: random.lognormal(key, 0.5, (4,)),
    "maxwell": lambda key: random.maxwell(key, (4,)),
    "pareto": lambda key: random.pareto(key, 3.0, (4,)),
    "rayleigh": lambda key: random.rayleigh(key, 2.0, (4,)),
    "t": lambda key: random.t(key, 3.0, (4,)),
    "triangular": lambda key: random.triangular(key, -1.0, 0.5, 2.0, (4,)),
    "weibull_min": lambda key: random.weibull_min(key, 2.0, 1.5, (4,)),
    "uniform": lambda key: random.uniform(key, (4,)),
    "ball": lambda key: random.ball(key, 2, shape=(4,)),
    "binomial": lambda key: random.binomial(key, 1000, 0.3, (4,)),
    "double_sided_maxwell": lambda key: random.double_sided_maxwell(key, 0.5, 2.0, (4,)),
    "generalized_normal": lambda key: random.generalized_normal(key, 1.5, (4,)),
    "geometric": lambda key: random.geometric(key, 0.01, (4,)),
    "multinomial": lambda key: random.multinomial(key, 1000, np.ones(3, np.float32), (4,)),
    "orthogonal": lambda key: random.orthogonal(key, 3, (4,)),
    "rademacher": lambda key: random.rademacher(key, (4,)),
    "wald": lambda key: random.wald(key, 1.5, (4,)),
}
NOT_DRAWS = {"Key", "PRNGKey", "key", "key_data", "wrap_key_data"}


def test_the_table_is_complete() -> None:
    assert set(DRAWS) == set(random.__all__) - NOT_DRAWS


@pytest.mark.parametrize("name", list(DRAWS))
def test_one_launch_same_value_and_a_layout_of_its_own(name: str) -> None:
    key = random.key(7)
    before = aio.stats()["enqueued"]
    first = DRAWS[name](key)
    assert aio.stats()["enqueued"] - before == 1
    assert first.shape[0] == (2 if name == "fold_in" else 4)
    np.testing.assert_array_equal(np.asarray(first), np.asarray(DRAWS[name](key)))
    np.testing.assert_array_equal(np.asarray(first), np.asarray(DRAWS[name](random.PRNGKey(7))))
    other = np.asarray(DRAWS[name](random.key(7, partitionable=True)))
    if name == "fold_in":  # one hash, in which the layouts do not differ
        np.testing.assert_array_equal(np.asarray(first), other)
    elif name not in ("bernoulli", "permutation", "rademacher"):  # these have few values, which may agree by chance
        assert not np.array_equal(np.asarray(first), other)


@pytest.mark.parametrize(
    "name", ["normal", "randint", "gamma", "split", "binomial", "multinomial", "wald", "orthogonal"]
)
def test_draws_the_same_inside_jit(name: str) -> None:
    key = random.key(7, partitionable=True)
    compiled = aio.jit(DRAWS[name])
    np.testing.assert_allclose(np.asarray(compiled(key)), np.asarray(DRAWS[name](key)), rtol=3e-6)


def test_values_of_the_two_layouts() -> None:
    x = random.uniform(random.key(0), (1000, 1000))
    np.testing.assert_allclose(np.asarray(aio.dot(x, x) + 3.0)[0, :3], [258.0197, 249.6486, 257.1337], rtol=1e-5)
    np.testing.assert_allclose(np.asarray(aio.dot(x, x) + 3.0)[999, -3:], [241.5985, 248.6260, 243.2235], rtol=1e-5)
    x = random.uniform(random.key(0, partitionable=True), (1000, 1000))
    np.testing.assert_allclose(np.asarray(aio.dot(x, x) + 3.0)[0, :3], [245.3776, 262.6708, 256.5243], rtol=1e-5)


# From jax.random 0.10.2, float32, of key(7) and shape (3,), with the parameters below.
FROM_JAX: dict[str, tuple[tuple[float, ...], list[float]]] = {
    "cauchy": ((), [0.6088750958442688, 12.513639450073242, -0.7129808664321899]),
    "rayleigh": ((2.0,), [1.776269793510437, 0.4535268545150757, 3.0913283824920654]),
    "maxwell": ((), [2.070286750793457, 0.7144703269004822, 1.4999796152114868]),
    "lognormal": ((0.5,), [1.253096342086792, 2.655745506286621, 0.7725027203559875]),
    "pareto": ((3.0,), [1.4531176090240479, 3.402658462524414, 1.127777099609375]),
    "weibull_min": (
        (2.0, 1.5),
        [2.1584150791168213, 4.761716365814209, 1.0135159492492676],
    ),
    "triangular": (
        (-1.0, 0.5, 2.0),
        [0.7889692783355713, 1.662029504776001, 0.16738855838775635],
    ),
    "chisquare": ((3.0,), [3.022066593170166, 1.0437909364700317, 1.1556823253631592]),
    "t": ((3.0,), [2.3151819705963135, 0.14994874596595764, -0.5002365112304688]),
    "f": (
        (3.0, 5.0),
        [0.48384320735931396, 1.1076066493988037, 1.6477009057998657],
    ),
    "wald": ((1.5,), [0.41869986057281494, 1.783737063407898, 0.7993422746658325]),
    "generalized_normal": ((1.5,), [-0.11314882338047028, -0.786064863204956, 0.05867381393909454]),
    "double_sided_maxwell": ((0.5, 2.0), [-1.9771909713745117, -4.670105457305908, 3.2603445053100586]),
}


@pytest.mark.parametrize("name", FROM_JAX)
def test_values_of_jax(name: str) -> None:
    parameters, expected = FROM_JAX[name]
    key = random.key(7, partitionable=True)
    x = getattr(random, name)(key, *parameters, (3,))
    assert x.dtype == aio.float32
    np.testing.assert_allclose(np.asarray(x), expected, rtol=2e-6)
    if parameters:
        arrays = [np.full(3, value, np.float32) for value in parameters]
        np.testing.assert_allclose(np.asarray(getattr(random, name)(key, *arrays)), expected, rtol=2e-6)
    assert getattr(random, name)(key, *parameters, shape=(2, 2), dtype="float64").dtype == aio.float64
    with pytest.raises(TypeError, match=f"^{name}: dtype int32 is not allowed"):
        getattr(random, name)(key, *parameters, (3,), "int32")


# ---- Keys


def test_seeds() -> None:
    assert np.asarray(random.PRNGKey(-1)).tolist() == [0, 2**32 - 1]
    assert np.asarray(random.PRNGKey(np.int64(2**40 + 7))).tolist() == [0, 7]
    assert np.asarray(random.key_data(random.key(aio.asarray(-2)))).tolist() == [0, 2**32 - 2]
    with pytest.raises(TypeError, match=r"seed 1\.5 is no integer"):
        random.key(1.5)  # type: ignore[arg-type]
    with pytest.raises(OverflowError, match="64 bits"):
        random.key(2**63)
    with pytest.raises(ValueError, match="impl 'rbg' is not known"):
        random.key(0, impl="rbg")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="takes one integer"):
        random.key(aio.zeros(2, dtype="int32"))


@pytest.mark.parametrize("partitionable", [False, True])
def test_keys_remember_their_layout(partitionable: bool) -> None:
    key = random.key(0, partitionable=partitionable)
    keys = random.split(key, (3, 2))
    assert keys.shape == (3, 2)
    assert (len(keys), keys.ndim) == (3, 2)
    for made in (keys, keys[0], keys[0, 1], keys[..., 0], next(iter(keys)), random.fold_in(key, 1), copy.deepcopy(key)):
        assert made.partitionable is partitionable
    assert pickle.loads(pickle.dumps(key)).partitionable is partitionable
    assert repr(key) == f"Key(shape=(), partitionable={partitionable})"


def test_keys_are_sequences_of_keys() -> None:
    keys = random.split(random.key(0), 3)
    before = aio.stats()["enqueued"]
    rows = list(keys)
    assert aio.stats()["enqueued"] - before == 1
    assert [key.shape for key in rows] == [()] * 3
    for i, row in enumerate(rows):
        np.testing.assert_array_equal(np.asarray(row.data), np.asarray(keys[i].data))
        np.testing.assert_array_equal(np.asarray(row.data), np.asarray(keys.data)[i])
    grid = random.split(random.key(0), (3, 2))
    np.testing.assert_array_equal(np.asarray(grid[..., 1].data), np.asarray(grid.data)[:, 1])
    np.testing.assert_array_equal(np.asarray(grid[:, 1].data), np.asarray(grid.data)[:, 1])
    assert list(random.split(random.key(0), 0)) == []


def test_one_key_is_no_sequence() -> None:
    key = random.key(0)
    with pytest.raises(TypeError, match="len"):
        len(key)
    with pytest.raises(TypeError, match="split it"):
        iter(key)
    with pytest.raises(IndexError, match="1 indices"):
        key[0]
    with pytest.raises(IndexError, match="2 indices"):
        random.split(key)[0, 0]


def test_key_data_and_back() -> None:
    key = random.key(5, partitionable=True)
    again = random.wrap_key_data(random.key_data(key), partitionable=True)
    np.testing.assert_array_equal(np.asarray(random.uniform(again)), np.asarray(random.uniform(key)))
    with pytest.raises(ValueError, match="uint32 of shape"):
        random.wrap_key_data(aio.zeros(2))
    with pytest.raises(ValueError, match="impl"):
        random.wrap_key_data(random.key_data(key), impl="rbg")  # type: ignore[arg-type]


def test_bare_keys_make_bare_keys() -> None:
    bare = random.PRNGKey(3)
    assert isinstance(random.split(bare), aio.Array)
    assert isinstance(random.fold_in(bare, 1), aio.Array)
    np.testing.assert_array_equal(
        np.asarray(random.split(bare)), np.asarray(random.split(random.wrap_key_data(bare)).data)
    )
    np.testing.assert_array_equal(
        np.asarray(random.normal(np.array([0, 3], np.uint32))), np.asarray(random.normal(bare))
    )


def test_a_key_can_be_awaited_and_is_a_tree() -> None:
    async def run() -> None:
        keys = random.split(random.key(0), 4)
        assert await keys is keys
        assert keys.data.is_ready()
        again = await aio.ready({"keys": random.split(random.key(0), 4)})
        assert isinstance(again["keys"], random.Key)

    asyncio.run(run())


def test_a_key_as_result_of_jit() -> None:
    @aio.jit
    def step(key: random.Key) -> tuple[random.Key, aio.Array]:
        key, subkey = random.split(key)
        return key, random.normal(subkey, (3,))

    key = random.key(0, partitionable=True)
    new, value = step(key)
    assert isinstance(new, random.Key)
    assert new.partitionable
    expected_key, subkey = random.split(key)
    np.testing.assert_array_equal(np.asarray(new.data), np.asarray(expected_key.data))
    np.testing.assert_array_equal(np.asarray(value), np.asarray(random.normal(subkey, (3,))))


@pytest.mark.parametrize("name", list(DRAWS))
def test_what_is_no_key(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}: 0 is no key; make one with random.key\(seed\)"):
        DRAWS[name](0)
    with pytest.raises(ValueError, match=rf"{name}: one key has shape \(2,\), not \(4, 2\)"):
        DRAWS[name](random.split(random.key(0), 4))


# ---- Arguments


def test_shapes_are_lengths_or_sequences() -> None:
    key = random.key(0)
    assert random.uniform(key, 3).shape == (3,)
    assert random.uniform(key, [2, 3]).shape == (2, 3)
    assert random.uniform(key).shape == ()
    with pytest.raises(TypeError, match="uniform: shape"):
        random.uniform(key, (1.5,))  # type: ignore[arg-type]


def test_default_dtypes() -> None:
    key = random.key(0)
    assert random.uniform(key, (2,)).dtype == np.float32
    with aio.default_dtypes(real="float64", integral="int64"):
        assert random.uniform(key, (2,)).dtype == np.float64
        assert random.gamma(key, 2.0).dtype == np.float64
        assert random.randint(key, (2,), 0, 5).dtype == np.int64
        assert random.permutation(key, 3).dtype == np.int64


def test_python_numbers_keep_their_digits_in_float64() -> None:
    low = np.asarray(random.uniform(random.key(0), (), "float64", 0.1, 0.1))
    assert low == 0.1


def test_randint_bounds() -> None:
    key = random.key(0)
    wide = random.randint(key, (100,), -(2**62), 2**62, "int64")
    assert int(abs(np.asarray(wide)).max()) > 2**60
    unsigned = random.randint(key, (100,), 2**63, 2**64 - 1, "uint64")
    assert int(np.asarray(unsigned).min()) >= 2**63
    bounds = np.array([1, 5, 9])
    np.testing.assert_array_equal(np.asarray(random.randint(key, (3,), bounds, bounds + 1)), bounds)
    with pytest.raises(TypeError, match=r"minval=0\.5 is no integer"):
        random.randint(key, (3,), 0.5, 2)
    with pytest.raises(OverflowError):
        random.randint(key, (3,), 0, 2**64)


def test_fold_in_numbers() -> None:
    key = random.key(0)
    data = random.key_data(random.fold_in(key, 3))
    np.testing.assert_array_equal(np.asarray(random.key_data(random.fold_in(key, aio.asarray(3)))), np.asarray(data))
    with pytest.raises(OverflowError, match="32 bits"):
        random.fold_in(key, -1)
    with pytest.raises(TypeError, match="no integer"):
        random.fold_in(key, 0.5)  # type: ignore[arg-type]


def test_choice_and_permutation_take_arrays_or_numbers() -> None:
    key = random.key(0)
    x = np.arange(12).reshape(3, 4)
    assert random.permutation(key, x, axis=1).shape == (3, 4)
    assert random.choice(key, x, (5,), axis=1).shape == (3, 5)
    assert random.choice(key, [10, 20, 30], (2,), p=[0.0, 1.0, 0.0]).tolist() == [20, 20]
    with pytest.raises(TypeError, match="array without axes"):
        random.permutation(key, aio.asarray(3))
    with pytest.raises(TypeError, match="neither an integer nor an array"):
        random.choice(key, 2.5)


def test_parameters_that_are_pending() -> None:
    x = random.uniform(random.key(0), (300, 300)) @ random.uniform(random.key(1), (300, 300))
    value = random.bernoulli(random.key(2), x / 1000.0)
    assert value.shape == (300, 300)
    assert 0 < int(np.asarray(value).sum()) < 90000
