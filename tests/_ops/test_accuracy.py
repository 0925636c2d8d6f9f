"""How many units in the last place the elementary functions may be off.

The bounds hold for every jaxlib that is allowed; where only the oldest needs one, a comment says so. Arguments are of
all magnitudes, also those of sin and cos. Numbers below the smallest normal one count as zero (devices flush them).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from aioarray._ops import arithmetic
from tests._ops.computed import on_spread
from tests._ops.definitions import elementwise
from tests._ops.evaluate import evaluate
from tests._ops.numbers import LONGDOUBLE_IS_WIDER, WIDER, every, spread, ulps

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

WIDE = pytest.mark.skipif(not LONGDOUBLE_IS_WIDER, reason="long double has no more digits than float64 here")


def _sinc(x: Any) -> Any:
    # NumPy's own multiplies a large argument by pi.
    pi = x.dtype.type("3.14159265358979323846")
    whole = np.round(x)
    wave = np.sin(pi * (x - whole)) * np.where(whole % 2 == 0, 1, -1)
    return np.where(x == 0, 1, wave / (pi * x))


# name -> (the function in more digits, bound for float32, bound for float64)
REAL: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "acos": (np.acos, 4.5, 4.5),
    "acosh": (np.acosh, 3, 3),
    "asin": (np.asin, 4.5, 4.5),
    "asinh": (np.asinh, 3.5, 2.5),
    "atan": (np.atan, 4, 4),
    "atanh": (np.atanh, 3.5, 2.5),
    "cbrt": (np.cbrt, 1, 3.5),
    "cos": (np.cos, 1, 1),
    "cosh": (np.cosh, 2.5, 3.5),
    "exp": (np.exp, 6, 2),  # float32 with jaxlib 0.10; otherwise 1
    "exp2": (np.exp2, 1, 1),
    "expm1": (np.expm1, 6, 4),  # with jaxlib 0.10; otherwise 1
    "log": (np.log, 1.5, 1),
    "log10": (np.log10, 3, 3),
    "log1p": (np.log1p, 3, 1.5),
    "log2": (np.log2, 2.5, 2),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), 2.5, 2.5),
    "reciprocal": (np.reciprocal, 0.5, 0.5),
    "sin": (np.sin, 1, 1),
    "sinc": (_sinc, 3, 3),
    "sinh": (np.sinh, 2.5, 3.5),
    "sqrt": (np.sqrt, 0.5, 0.5),
    "tan": (np.tan, 1.5, 1),
    "tanh": (np.tanh, 5, 7),
}

BINARY: dict[str, tuple[Callable[[Any, Any], Any], float, float]] = {
    "atan2": (np.atan2, 1.5, 1),
    "divide": (np.divide, 0.5, 0.5),
    "fmod": (np.fmod, 0, 0),
    "hypot": (np.hypot, 2, 2),
    "pow": (lambda x, y: np.power(np.abs(x), y), 1, 1),
}


def _log1p(z: Any) -> Any:
    # NumPy's own adds 1 first.
    x, y = z.real, z.imag
    return np.where(np.abs(z) < 0.5, 0.5 * np.log1p(2 * x + x * x + y * y), np.log(np.abs(1 + z))) + 1j * np.atan2(
        y, 1 + x
    )


def _expm1(z: Any) -> Any:
    x, y = z.real, z.imag
    return np.expm1(x) * np.cos(y) - 2 * np.sin(y / 2) ** 2 + 1j * np.exp(z).imag


# name -> (the function in more digits, bound for the distance as a vector, bound for each part or None)
COMPLEX: dict[str, tuple[Callable[[Any], Any], float, float | None]] = {
    "acos": (np.acos, 4, 6),
    "acosh": (np.acosh, 4, 6),
    "asin": (np.asin, 4, 6),
    "asinh": (np.asinh, 4, 6),
    "atan": (np.atan, 4, 6),
    "atanh": (np.atanh, 4, 6),
    "cos": (np.cos, 4, 5),
    "cosh": (np.cosh, 4, 5),
    "exp": (np.exp, 6, 6),
    "expm1": (_expm1, 6, None),
    "log": (np.log, 3, 4),
    "log10": (np.log10, 4, 5),
    "log1p": (_log1p, 3, None),
    "log2": (np.log2, 4, 5),
    "reciprocal": (np.reciprocal, 3, None),
    "sign": (lambda z: z / np.hypot(z.real, z.imag), 3, 4),
    "sin": (np.sin, 4, 5),
    "sinh": (np.sinh, 4, 5),
    "sqrt": (np.sqrt, 3, 4),
    "tan": (np.tan, 5, 8),
    "tanh": (np.tanh, 5, 8),
}


def worst(errors: np.ndarray, *arguments: np.ndarray) -> tuple[float, Any]:
    position = int(np.argmax(errors))
    return float(errors[position]), tuple(a[position] for a in arguments)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=WIDE)])
@pytest.mark.parametrize("name", REAL)
def test_real_functions_are_accurate(name: str, dtype: str) -> None:
    function, bound32, bound64 = REAL[name]
    x, got = on_spread(name, dtype)
    error, at = worst(ulps(got, function(x.astype(WIDER[x.dtype]))), x)
    assert error <= (bound32 if dtype == "float32" else bound64), at


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=WIDE)])
@pytest.mark.parametrize("name", BINARY)
def test_real_functions_of_two_numbers_are_accurate(name: str, dtype: str) -> None:
    function, bound32, bound64 = BINARY[name]
    x = spread(dtype, 1)
    y = np.random.default_rng(2).permutation(spread(dtype, 3))
    base = np.abs(x) if name == "pow" else x
    got = evaluate(getattr(elementwise, name), base, y)
    wide = WIDER[x.dtype]
    error, at = worst(ulps(got, function(base.astype(wide), y.astype(wide))), base, y)
    assert error <= (bound32 if dtype == "float32" else bound64), at


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=WIDE)])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_exponentials_are_accurate(name: str, dtype: str) -> None:
    """Measured in the last place of the larger argument: the sum itself may cancel."""
    x = spread(dtype, 1)
    y = np.random.default_rng(2).permutation(spread(dtype, 3))
    wide = WIDER[x.dtype]
    wanted = getattr(np, name)(x.astype(wide), y.astype(wide))
    got = evaluate(getattr(elementwise, name), x, y)
    unit = np.spacing(np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(got)))
    error, at = worst(np.abs(got - wanted) / unit, x, y)
    assert error <= 3, at


@pytest.mark.parametrize("dtype", ["complex64", pytest.param("complex128", marks=WIDE)])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_are_accurate(name: str, dtype: str) -> None:
    function, vector_bound, part_bound = COMPLEX[name]
    z, got = on_spread(name, dtype)
    wanted = function(z.astype(WIDER[z.dtype]))
    real, imaginary = ulps(got.real, wanted.real), ulps(got.imag, wanted.imag)
    if part_bound is not None:
        error, at = worst(np.maximum(real, imaginary), z)
        assert error <= part_bound, at
    size = np.hypot(wanted.real, wanted.imag)
    limits = np.finfo(got.real.dtype)
    # Vectors longer than the largest number, or with a part that vanished, are judged by their parts.
    measurable = (size < limits.max) & (size > 8 * limits.tiny / limits.eps)
    unit = np.spacing(np.where(measurable, size, 1).astype(got.real.dtype))
    distance = np.hypot(got.real - wanted.real, got.imag - wanted.imag) / unit
    error, at = worst(np.where(measurable, distance, 0), z)
    assert error <= vector_bound, at


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=WIDE)])
@pytest.mark.parametrize("exponent", arithmetic.POWERS_BY_MULTIPLICATION)
def test_powers_by_multiplication_are_accurate(exponent: int, dtype: str) -> None:
    x = spread(dtype, 1)
    got = evaluate(arithmetic.integer_power, x, static=(exponent,))
    error, at = worst(ulps(got, np.power(x.astype(WIDER[x.dtype]), exponent)), x)
    assert error <= 5, at


@pytest.mark.parametrize("dtype", ["complex64", pytest.param("complex128", marks=WIDE)])
def test_complex_powers_are_accurate(dtype: str) -> None:
    generator = np.random.default_rng(7)
    angle, size = generator.uniform(-math.pi, math.pi, 3000), np.exp(generator.uniform(-5, 5, 3000))
    z = (size * np.exp(1j * angle)).astype(dtype)
    w = (generator.uniform(-4, 4, 3000) + 1j * generator.uniform(-4, 4, 3000)).astype(dtype)
    w[:1000].imag = 0
    w[:500].real = np.round(w[:500].real)
    wide = WIDER[z.dtype]
    wanted = np.power(z.astype(wide), w.astype(wide))
    got = evaluate(elementwise.pow, z, w)
    unit = np.spacing(np.abs(wanted).astype(got.real.dtype))
    error, at = worst(np.abs(got - wanted) / unit, z, w)
    assert error <= 40, at


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_ten_and_two_have_exact_logarithms(dtype: str) -> None:
    largest = 37 if dtype == "float32" else 307
    exponents = np.arange(-largest, largest + 1)
    tens = np.array([float(f"1e{k}") for k in exponents], dtype)
    assert np.array_equal(evaluate(elementwise.log10, tens), exponents)
    twos = np.exp2(np.arange(-126, 128)).astype(dtype)
    assert np.array_equal(evaluate(elementwise.log2, twos), np.arange(-126, 128))


NARROW = [
    np.dtype("float16"),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2),
    np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    np.dtype(ml_dtypes.float8_e4m3fnuz),
    np.dtype(ml_dtypes.float8_e5m2fnuz),
]


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", [*REAL, "erf"])
def test_narrow_dtypes_are_at_most_one_step_from_the_rounded_result(name: str, dtype: np.dtype) -> None:
    """For every number there is."""
    exact = REAL[name][0] if name in REAL else np.vectorize(math.erf, otypes=["float64"])
    x = every(dtype)
    tiny = float(ml_dtypes.finfo(dtype).tiny)
    # What bfloat16 has below its smallest normal number, float32 has there too.
    flushed_below = tiny if dtype == ml_dtypes.bfloat16 else 0
    x = x[~(np.abs(x.astype(np.float64)) < flushed_below) | (x == 0)]
    got = evaluate(getattr(elementwise, name), x)
    wanted = exact(x.astype(np.float64)).astype(dtype)
    assert got.dtype == dtype
    assert np.array_equal(np.isnan(got), np.isnan(wanted)), name
    number = ~np.isnan(wanted)
    steps = np.abs(_order(got[number]) - _order(wanted[number]))
    flushed = (np.abs(wanted[number].astype(np.float64)) <= flushed_below) & (got[number] == 0)
    error, at = worst(np.where(flushed, 0, steps), x[number])
    assert error <= 1, at


def _order(x: np.ndarray) -> np.ndarray:
    """Integers that count the numbers from 0 to ``x``."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
    return np.where(bits < 0, -(bits & (2 ** (8 * x.dtype.itemsize - 1) - 1)), bits)
