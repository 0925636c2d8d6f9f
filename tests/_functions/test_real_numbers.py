"""Integers where a real number is needed: float64 for those of 64 bits, the default real dtype for narrower ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

BIG = np.asarray([1_700_000_000_123, 1_700_000_000_999, 3, 2**53 - 1])

UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    name: (getattr(aio, name), getattr(np, name))
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh"),
        *("cbrt", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sqrt"),
        *("average", "corrcoef", "cov", "mean", "median", "nanmean", "nanvar", "std", "var"),
        *("gradient", "trapezoid"),
    )
} | {
    "x / 1000": (lambda x: x / 1000, lambda x: x / 1000),
    "3 / x": (lambda x: 3 / x, lambda x: 3 / x),
    "x / x": (lambda x: x / (x + 1), lambda x: x / (x + 1)),
    "x * 0.001": (lambda x: x * 0.001, lambda x: x * 0.001),
    "0.5 - x": (lambda x: 0.5 - x, lambda x: 0.5 - x),
    "x // 0.25": (lambda x: x // 0.25, lambda x: x // 0.25),
    "x % 0.3": (lambda x: x % 0.3, lambda x: x % 0.3),
    "x ** 0.5": (lambda x: x**0.5, lambda x: x**0.5),
    "where": (lambda x: aio.where(x > 5, x, 0.1), lambda x: np.where(x > 5, x, 0.1)),
    "clip": (lambda x: aio.clip(x, 0.5, 4e12), lambda x: np.clip(x, 0.5, 4e12)),
    "maximum": (lambda x: aio.maximum(x, 5.5), lambda x: np.maximum(x, 5.5)),
    "percentile": (lambda x: aio.percentile(x, 30), lambda x: np.percentile(x, 30)),
    "interp": (lambda x: aio.interp(x, x[2:], x[:2]), lambda x: np.interp(x, x[2:], x[:2])),
    "hypot": (lambda x: aio.hypot(x, 3), lambda x: np.hypot(x, 3)),
    "atan2": (lambda x: aio.atan2(x, 100), lambda x: np.arctan2(x, 100)),
    "logaddexp": (lambda x: aio.logaddexp(x, x), lambda x: np.logaddexp(x, x)),
    "norm": (lambda x: aio.linalg.vector_norm(x), lambda x: np.linalg.norm(x.astype(float))),
    "solve": (
        lambda x: aio.linalg.solve(x.reshape(2, 2), x[:2]),
        lambda x: np.linalg.solve(x.reshape(2, 2).astype(float), x[:2].astype(float)),
    ),
    "weighted": (lambda x: aio.average(x, weights=x), lambda x: np.average(x, weights=x)),
    "angle": (lambda x: aio.angle(x), lambda x: np.angle(x)),
    "edges": (
        lambda x: aio.histogram_bin_edges(x, 4, (0, 2**53)),
        lambda x: np.histogram_bin_edges(x, 4, (0, 2**53)),
    ),
}


def expected(case: Any, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(case(x))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_64_bits_become_float64(name: str, dtype: str) -> None:
    ours, theirs = UNARY[name]
    host = BIG.astype(dtype)
    right = expected(theirs, host.astype("int64"))  # NumPy wraps differences of unsigned numbers around
    for compiled in (ours, aio.jit(ours)):
        result = compiled(aio.asarray(host))
        assert result.dtype == np.float64
        np.testing.assert_allclose(np.asarray(result), right, rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "bool"])
def test_narrower_integers_become_the_default(name: str, dtype: str) -> None:
    ours, _ = UNARY[name]
    x = aio.asarray(np.asarray([0, 1, 1, 0]).astype(dtype))
    if dtype == "bool" and name in ("x / x", "gradient", "trapezoid"):
        return  # NumPy and the standard have no differences of booleans
    assert ours(x).dtype == aio.jit(ours)(x).dtype == np.float32
    with aio.default_dtypes(real="float64"):
        assert ours(x).dtype == aio.jit(ours)(x).dtype == np.float64


def test_complex_numbers_beside_integers() -> None:
    x = aio.asarray(BIG)
    for function in (lambda x: x + 1j, lambda x: 1j * x, lambda x: aio.where(x > 5, x, 1j)):
        assert function(x).dtype == aio.jit(function)(x).dtype == np.complex128
        assert function(aio.asarray([1, 2])).dtype == np.complex64
    np.testing.assert_array_equal(np.asarray(x + 1j), BIG + 1j)
    assert aio.fft.fft(x).dtype == np.complex128
    np.testing.assert_allclose(np.asarray(aio.fft.rfft(x)), np.fft.rfft(BIG), rtol=1e-14)


def test_numbers_given_to_jitted_functions_keep_their_digits() -> None:
    x = aio.asarray(BIG)
    np.testing.assert_array_equal(np.asarray(aio.jit(lambda x, s: x * s)(x, 0.001)), BIG * 0.001)
    np.testing.assert_array_equal(np.asarray(aio.jit(lambda x, n: x / n)(x, 1000)), BIG / 1000)
    assert aio.jit(lambda n: n / 4)(3).dtype == np.float32
    assert aio.divide(3, 4).dtype == np.float32


def test_bounds_and_layers() -> None:
    end = aio.asarray(np.int64(1_700_000_000_123))
    np.testing.assert_array_equal(np.asarray(aio.linspace(0, end, 4)), np.linspace(0, 1_700_000_000_123, 4))
    assert aio.nn.softmax(aio.asarray(BIG)).dtype == np.float64
    assert aio.nn.gelu(aio.asarray([1, 2])).dtype == np.float32
    choice = aio.random.choice(aio.random.key(0), 4, (9,), p=aio.asarray(BIG))
    assert set(choice.tolist()) <= {0, 1, 3}


@pytest.mark.parametrize(
    ("dtype", "real", "complex"),
    [
        ("bool", "float32", "complex64"),
        ("int16", "float32", "complex64"),
        ("uint32", "float32", "complex64"),
        ("int64", "float64", "complex128"),
        ("uint64", "float64", "complex128"),
        ("bfloat16", "bfloat16", "complex64"),
        ("float32", "float32", "complex64"),
        ("float64", "float64", "complex128"),
        ("complex64", "complex64", "complex64"),
    ],
)
def test_the_table(dtype: str, real: str, complex: str) -> None:
    assert aio.result_type(dtype, 1.0) == np.dtype(aio.zeros(1, real).dtype)
    assert aio.result_type(dtype, 1j) == np.dtype(complex)
    assert (aio.zeros(1, dtype) * 1.0).dtype == aio.zeros(1, real).dtype
