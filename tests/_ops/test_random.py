"""Random definitions: the generator against its published vectors, and everything against JAX's values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aioarray._graph import Definition, Node, array_spec, input_node
from aioarray._ops import random, rejection, threefry
from tests._ops.evaluate import evaluate

F32, I32, U32 = np.dtype("float32"), np.dtype("int32"), np.dtype("uint32")
KEY = np.array([0, 42], U32)
LAYOUTS = pytest.mark.parametrize("partitionable", [False, True], ids=["original", "partitionable"])
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4], F32)


def hash_of(key: Node, x0: Node, x1: Node) -> tuple[Node, Node]:
    words = threefry.key_words(key)
    return threefry.threefry2x32(words, x0, x1)


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        # The known-answer tests of the authors' Random123 library, threefry2x32 with 20 rounds.
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_known_answers(key: tuple[int, int], counter: tuple[int, int], expected: tuple[int, int]) -> None:
    words = evaluate(Definition("hash", hash_of), np.array(key, U32), *np.array(counter, U32))
    assert tuple(int(word) for word in words) == expected


@pytest.mark.parametrize(
    ("seed", "low"),
    [(0, 0), (7, 7), (-1, 2**32 - 1), (2**31, 2**31), (2**40 + 7, 7), (-(2**40) - 3, 2**32 - 3), (True, 1)],
)
def test_seed_words(seed: int, low: int) -> None:
    assert threefry.seed_words(seed) == (0, low)


def draw(name: str, partitionable: bool, key: np.ndarray = KEY) -> Any:
    """The case ``name`` of EXPECTED."""

    def run(definition: Definition, *arrays: Any, static: tuple[Any, ...]) -> Any:
        return evaluate(definition, key, *arrays, static=(*static, partitionable))

    three, five = (3,), (5,)
    match name:
        case "split":
            return run(random.split, static=((2,),))
        case "fold_in":
            return evaluate(random.fold_in, key, 3)
        case "bits8" | "bits16" | "bits32":
            return run(random.bits, static=(three, np.dtype("uint" + name[4:])))
        case "uniform" | "uniform_f16":
            dtype = np.dtype("float16") if name.endswith("f16") else F32
            return run(random.uniform_unit, static=(three, dtype))
        case "normal" | "exponential" | "gumbel" | "laplace" | "logistic":
            return run(getattr(random, name), static=(three, F32))
        case "truncated_normal":
            return run(random.truncated_normal, -1.0, 2.0, static=(three, F32))
        case "randint":
            return run(random.randint, np.int64(-5), np.int64(1000), static=(three, I32))
        case "randint_u8":
            return run(random.randint, np.int64(0), np.int64(256), static=(three, np.dtype("uint8")))
        case "bernoulli":
            return run(random.bernoulli, 0.3, static=(five,))
        case "categorical":
            return run(random.categorical, np.linspace(-1, 1, 5, dtype=F32), static=(-1, five, True))
        case "permutation":
            return run(random.permutation, None, static=(5, 0, False))
        case "choice":
            return run(random.choice, None, None, static=(10, five, True, 0))
        case "choice_p":
            return run(random.choice, None, WEIGHTS, static=(4, five, True, 0))
        case "gamma":
            return run(rejection.gamma, np.array([0.3, 1, 2.5], F32), static=(None, F32))
        case "beta":
            return run(rejection.beta, np.array([0.3, 1, 2.5], F32), 2.0, static=(None, F32))
        case "poisson":
            return run(rejection.poisson, np.array([0.3, 5, 40], F32), static=(None, I32))
    raise AssertionError(name)


# What JAX (0.10.2 and 0.12.0.1) gives for jax.random.PRNGKey(42), jax_threefry_partitionable off and on.
EXPECTED: list[tuple[str, list[Any], list[Any]]] = [
    ("split", [[2465931498, 3679230171], [255383827, 267815257]], [[1832780943, 270669613], [64467757, 2916123636]]),
    ("fold_in", [3134548294, 894150801], [3134548294, 894150801]),
    ("bits8", [143, 4, 62], [162, 217, 249]),
    ("bits16", [45869, 983, 33780], [5026, 12505, 63993]),
    ("bits32", [2465931498, 430176367, 255383827], [2098992034, 2919706841, 2646866425]),
    ("uniform", [0.57414436, 0.10015821, 0.059461117], [0.48870957, 0.67979717, 0.6162715]),
    ("uniform_f16", [0.69921875, 0.014648438, 0.51464844], [0.076171875, 0.19042969, 0.97558594]),
    ("normal", [0.18693547, -1.2806505, -1.5593132], [-0.028304616, 0.46713185, 0.29570296]),
    ("exponential", [0.85365486, 0.10553633, 0.061302289], [0.67081749, 1.1388006, 0.95782]),
    ("gumbel", [0.58901346, -0.83334565, -1.0375992], [0.33409339, 0.95201945, 0.72553056]),
    ("laplace", [-0.16050775, 1.6078568, 2.1292851], [0.022839652, -0.44565356, -0.26467291]),
    ("logistic", [0.29878044, -2.1954679, -2.7611306], [-0.045169413, 0.7528398, 0.47375232]),
    ("truncated_normal", [0.3282713, -0.7042318, -0.81572115], [0.14770006, 0.56844491, 0.42102551]),
    ("randint", [810, 788, 62], [184, 514, 736]),
    ("randint_u8", [219, 122, 65], [196, 18, 183]),
    ("bernoulli", [False, False, True, True, True], [False, False, False, False, False]),
    ("categorical", [4, 0, 1, 4, 3], [4, 4, 2, 4, 3]),
    ("permutation", [2, 3, 0, 1, 4], [4, 2, 3, 0, 1]),
    ("choice", [2, 3, 7, 9, 4], [4, 4, 1, 9, 9]),
    ("choice_p", [1, 1, 3, 3, 3], [2, 2, 2, 2, 2]),
    ("gamma", [0.019097473, 1.5890586, 5.2734313], [0.43624744, 0.33158407, 4.1941113]),
    ("beta", [0.0071531716, 0.11400166, 0.47085977], [0.15331332, 0.084156655, 0.8057518]),
    ("poisson", [0, 5, 35], [0, 4, 33]),
]


@pytest.mark.parametrize(("name", "original", "partitionable"), EXPECTED, ids=[case[0] for case in EXPECTED])
def test_fixed_values(name: str, original: list[Any], partitionable: list[Any]) -> None:
    for layout, expected in ((False, original), (True, partitionable)):
        value = draw(name, layout)
        if value.dtype.kind == "f":
            # 8 digits were written down; rounding in the last bit may differ between processors.
            np.testing.assert_allclose(value, np.array(expected, value.dtype), rtol=3e-7)
        else:
            np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    ("partitionable", "first", "last"),
    [
        (False, [258.0197, 249.6486, 257.1337], [236.6795, 250.6894, 241.3685]),
        (True, [245.3776, 262.6708, 256.5243], [259.1660, 256.4464, 261.9349]),
    ],
)
def test_large_uniform(partitionable: bool, first: list[float], last: list[float]) -> None:
    x = evaluate(random.uniform_unit, np.zeros(2, U32), static=((1000, 1000), F32, partitionable)).astype(np.float64)
    row = x[0] @ x + 3
    np.testing.assert_allclose(row[:3], first, atol=1e-3)
    np.testing.assert_allclose(row[-3:], last, atol=1e-3)


@LAYOUTS
@pytest.mark.parametrize("shape", [(), (1,), (2,), (5,), (4, 3), (0,), (3, 0)])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_shapes(shape: tuple[int, ...], width: int, partitionable: bool) -> None:
    dtype = np.dtype(f"uint{width}")
    value = evaluate(random.bits, KEY, static=(shape, dtype, partitionable))
    assert value.shape == shape
    assert value.dtype == dtype


def test_partitionable_bits_do_not_depend_on_the_shape() -> None:
    few = evaluate(random.bits, KEY, static=((5,), U32, True))
    many = evaluate(random.bits, KEY, static=((4, 25), U32, True))
    np.testing.assert_array_equal(many.reshape(-1)[:5], few)


@LAYOUTS
def test_batched_keys_draw_as_each_alone(partitionable: bool) -> None:
    keys = evaluate(random.split, KEY, static=((3,), partitionable))

    def body(keys: Node) -> tuple[Node, ...]:
        return (
            threefry.bits(keys, 32, (4,), partitionable),
            threefry.bits(keys, 64, (), partitionable),
            threefry.split(keys, (2,), partitionable),
        )

    together = evaluate(Definition("together", body), keys)
    for i, key in enumerate(keys):
        alone = evaluate(Definition("alone", body), key)
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_array_equal(a[i], b)


@LAYOUTS
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_uniform_stays_in_range(dtype: str, partitionable: bool) -> None:
    target = np.dtype(getattr(ml_dtypes, dtype, dtype))
    unit = evaluate(random.uniform_unit, KEY, static=((2000,), target, partitionable))
    assert unit.dtype == target
    assert unit.min() >= 0
    assert unit.max() < 1
    stretched = evaluate(random.uniform, KEY, -2.0, 3.0, static=((2000,), target, partitionable))
    assert stretched.min() >= -2
    assert stretched.max() <= 3
    assert float(stretched.astype(np.float64).mean()) == pytest.approx(0.5, abs=0.15)


def test_randint_reaches_both_ends_and_nothing_else() -> None:
    value = evaluate(random.randint, KEY, np.int64(250), np.int64(256), static=((500,), np.dtype("uint8"), False))
    assert sorted(set(value.tolist())) == [250, 251, 252, 253, 254, 255]


def test_randint_of_an_empty_range_is_its_start() -> None:
    value = evaluate(random.randint, KEY, np.int64(9), np.int64(3), static=((4,), I32, False))
    assert value.tolist() == [9, 9, 9, 9]


def test_randint_takes_the_whole_range_of_its_dtype() -> None:
    value = evaluate(random.randint, KEY, np.int64(-(2**31)), np.int64(2**31), static=((1000,), I32, False))
    assert value.min() < -(2**30)
    assert value.max() > 2**30


@LAYOUTS
def test_permutation_keeps_the_elements(partitionable: bool) -> None:
    x = np.arange(24, dtype=F32).reshape(4, 6)
    rows = evaluate(random.permutation, KEY, x, static=(None, 0, False, partitionable))
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, x.tolist()))
    independent = evaluate(random.permutation, KEY, x, static=(None, 1, True, partitionable))
    np.testing.assert_array_equal(np.sort(independent, 1), x)
    assert not np.array_equal(independent, x)


def test_choice_without_replacement_repeats_nothing() -> None:
    value = evaluate(random.choice, KEY, None, None, static=(20, (4, 5), False, 0, False))
    assert sorted(value.reshape(-1).tolist()) == list(range(20))
    weighted = evaluate(random.choice, KEY, None, WEIGHTS, static=(4, (4,), False, 0, False))
    assert sorted(weighted.tolist()) == [0, 1, 2, 3]


def test_choice_of_an_array_takes_whole_slices() -> None:
    x = np.arange(12, dtype=I32).reshape(3, 4)
    value = evaluate(random.choice, KEY, x, None, static=(None, (2, 5), True, 1, False))
    assert value.shape == (3, 2, 5)
    np.testing.assert_array_equal(value[1] - value[0], np.full((2, 5), 4))


@pytest.mark.parametrize(
    ("name", "arrays", "static", "mean", "variance"),
    [
        ("gamma", (2.5,), ((20000,), F32), 2.5, 2.5),
        ("gamma", (0.2,), ((20000,), F32), 0.2, 0.2),
        ("beta", (2.0, 3.0), ((20000,), F32), 0.4, 0.04),
        ("poisson", (4.0,), ((20000,), I32), 4, 4),
        ("poisson", (60.0,), ((20000,), I32), 60, 60),
    ],
)
def test_moments(name: str, arrays: tuple[float, ...], static: tuple[Any, ...], mean: float, variance: float) -> None:
    value = evaluate(getattr(rejection, name), KEY, *arrays, static=(*static, False)).astype(np.float64)
    # Five standard errors of the mean.
    assert value.mean() == pytest.approx(mean, abs=5 * (variance / value.size) ** 0.5)
    assert value.var() == pytest.approx(variance, rel=0.1)


def test_poisson_special_means() -> None:
    value = evaluate(rejection.poisson, KEY, np.array([0, np.nan], F32), static=(None, I32, False))
    assert value.tolist() == [0, -1]


def test_dirichlet_sums_to_one() -> None:
    value = evaluate(rejection.dirichlet, KEY, np.array([0.01, 1, 5], F32), static=((7,), F32, False))
    assert value.shape == (7, 3)
    np.testing.assert_allclose(value.sum(-1), np.ones(7), rtol=1e-6)


def specs(*items: tuple[tuple[int, ...], str]) -> list[Node]:
    return [input_node(array_spec(shape, np.dtype(dtype))) for shape, dtype in items]


ONE_KEY = ((2,), "uint32")


@pytest.mark.parametrize(
    ("definition", "inputs", "static", "error", "message"),
    [
        (random.split, [((3, 2), "uint32")], ((2,), False), ValueError, "keys\\[i\\]"),
        (random.bits, [((2,), "int32")], ((2,), U32, False), TypeError, "dtype uint32, not int32"),
        (random.bits, [ONE_KEY], ((2,), I32, False), TypeError, "use uint8"),
        (random.normal, [ONE_KEY], ((2,), I32, False), TypeError, "normal: dtype int32"),
        (random.fold_in, [ONE_KEY, ((2,), "int32")], (), ValueError, "takes one integer"),
        (random.bernoulli, [ONE_KEY, ((2,), "int32")], (None, False), TypeError, "bernoulli: dtype int32"),
        (random.bernoulli, [ONE_KEY, ((2,), "float32")], ((3,), False), ValueError, "cannot be broadcast"),
        (
            random.uniform,
            [ONE_KEY, ((2, 1), "float32"), ((), "float32")],
            ((2,), F32, False),
            ValueError,
            "minval of shape",
        ),
        (random.randint, [ONE_KEY, ((), "float32"), ((), "int32")], ((2,), I32, False), TypeError, "randint"),
        (random.categorical, [ONE_KEY, ((3,), "float32")], (1, None, True, False), IndexError, "axis 1"),
        (
            random.categorical,
            [ONE_KEY, ((3,), "float32")],
            (-1, (4,), False, False),
            ValueError,
            "4 samples of 3",
        ),
        (rejection.poisson, [ONE_KEY, ((), "float32")], (None, F32, False), TypeError, "poisson"),
        (rejection.dirichlet, [ONE_KEY, ((), "float32")], (None, F32, False), ValueError, "at least one"),
    ],
)
def test_errors(
    definition: Definition,
    inputs: list[tuple[tuple[int, ...], str]],
    static: tuple[Any, ...],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        definition(*specs(*inputs), *static)


def test_choice_errors() -> None:
    (key,) = specs(ONE_KEY)
    (weights,) = specs(((3,), "float32"))
    with pytest.raises(ValueError, match="must not be empty"):
        random.choice(key, None, None, 0, (2,), True, 0, False)
    with pytest.raises(ValueError, match="5 draws of 3"):
        random.choice(key, None, None, 3, (5,), False, 0, False)
    with pytest.raises(ValueError, match="one probability per element"):
        random.choice(key, None, weights, 4, (2,), True, 0, False)
    assert random.choice(key, None, None, 0, (0,), True, 0, False).shape == (0,)


JAX_CALLS: dict[str, Any] = {
    "split": lambda r, k: r.split(k, 2),
    "fold_in": lambda r, k: r.fold_in(k, 3),
    "bits8": lambda r, k: r.bits(k, (3,), "uint8"),
    "bits16": lambda r, k: r.bits(k, (3,), "uint16"),
    "bits32": lambda r, k: r.bits(k, (3,), "uint32"),
    "uniform": lambda r, k: r.uniform(k, (3,)),
    "uniform_f16": lambda r, k: r.uniform(k, (3,), "float16"),
    "normal": lambda r, k: r.normal(k, (3,)),
    "exponential": lambda r, k: r.exponential(k, (3,)),
    "gumbel": lambda r, k: r.gumbel(k, (3,)),
    "laplace": lambda r, k: r.laplace(k, (3,)),
    "logistic": lambda r, k: r.logistic(k, (3,)),
    "truncated_normal": lambda r, k: r.truncated_normal(k, -1.0, 2.0, (3,)),
    "randint": lambda r, k: r.randint(k, (3,), -5, 1000),
    "randint_u8": lambda r, k: r.randint(k, (3,), 0, 256, "uint8"),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (5,)),
    "categorical": lambda r, k: r.categorical(k, np.linspace(-1, 1, 5, dtype=F32), shape=(5,)),
    "permutation": lambda r, k: r.permutation(k, 5),
    "choice": lambda r, k: r.choice(k, 10, (5,)),
    "choice_p": lambda r, k: r.choice(k, 4, (5,), p=WEIGHTS),
    "gamma": lambda r, k: r.gamma(k, np.array([0.3, 1, 2.5], F32)),
    "beta": lambda r, k: r.beta(k, np.array([0.3, 1, 2.5], F32), 2.0),
    "poisson": lambda r, k: r.poisson(k, np.array([0.3, 5, 40], F32)),
}


@LAYOUTS
@pytest.mark.parametrize("name", list(JAX_CALLS))
@pytest.mark.parametrize("seed", [1, -5])
def test_equals_installed_jax(name: str, seed: int, partitionable: bool) -> None:
    jax = pytest.importorskip("jax", reason="compares with jax where that is installed")
    before = jax.config.jax_threefry_partitionable
    jax.config.update("jax_threefry_partitionable", partitionable)
    try:
        expected = np.asarray(JAX_CALLS[name](jax.random, jax.random.PRNGKey(seed)))
    finally:
        jax.config.update("jax_threefry_partitionable", before)
    value = draw(name, partitionable, np.array(threefry.seed_words(seed), U32))
    if value.dtype.kind == "f":
        # The programs are fused differently, so a multiply-add may round once instead of twice.
        np.testing.assert_array_max_ulp(value, expected, maxulp=2)
    else:
        np.testing.assert_array_equal(value, expected)
