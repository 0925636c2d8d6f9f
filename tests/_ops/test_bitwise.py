"""Bits, divisors and multiples of integers."""

from __future__ import annotations

import numpy as np
import pytest

from aioarray._ops import arithmetic, bitwise
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same, pairs

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def numbers(dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.array([0, 1, 2, 3, 4, 6, 12, 35, 60, 97, limits.max, limits.min + 1], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_and_multiples(name: str, dtype: str) -> None:
    x, y = pairs(numbers(dtype)[:10] if name == "lcm" else numbers(dtype))
    if np.iinfo(dtype).min < 0:
        x, y = np.concatenate([x, -x]), np.concatenate([y, y])
    assert_same(evaluate(getattr(bitwise, name), x, y), getattr(np, name)(x, y), x, y)


def test_the_longest_euclidean_division_ends() -> None:
    # Neighbours in Fibonacci's sequence need the most steps.
    a, b = 1, 1
    while a + b < 2**63:
        a, b = a + b, a
    assert evaluate(bitwise.gcd, np.array(a), np.array(b)) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_counts_of_bits(dtype: str) -> None:
    x = numbers(dtype)
    assert_same(evaluate(bitwise.bitwise_count, x), np.bitwise_count(x), x)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_inverted_bits(dtype: str) -> None:
    x = np.array([True, False]) if dtype == "bool" else numbers(dtype)
    assert_same(evaluate(bitwise.bitwise_invert, x), ~x, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shifts_by_the_width_and_more_leave_only_the_sign(dtype: str) -> None:
    width = np.iinfo(dtype).bits
    x, amount = pairs(
        np.array([1, 5, np.iinfo(dtype).max, np.iinfo(dtype).min, width - 1, width, width + 1, 100], dtype)
    )
    assert_same(evaluate(bitwise.bitwise_left_shift, x, amount), np.left_shift(x, amount), x, amount)
    assert_same(evaluate(bitwise.bitwise_right_shift, x, amount), np.right_shift(x, amount), x, amount)


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_wrap_around(dtype: str) -> None:
    x = np.array([0, 1, 2, 3, 5, 7, 11], dtype)
    for exponent in range(8):
        y = np.full_like(x, exponent)
        assert_same(evaluate(arithmetic.pow, x, y), np.power(x, y), x, y)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_powers_by_multiplication_are_powers(dtype: str) -> None:
    x = np.array([0, 1, 2, 3, 5, 7, 11]).astype(dtype)
    wide = x.astype("int32") if dtype == "bool" else x
    for exponent in (0, 1, 2, 5, 8):
        assert_same(evaluate(arithmetic.integer_power, x, static=(exponent,)), wide**exponent, x)
    with pytest.raises(ValueError, match=r"pow: dtype .* to the power -1; integers have no negative"):
        evaluate(arithmetic.integer_power, x[1:3], static=(-1,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_beyond_63_wrap_around(dtype: str) -> None:
    top = int(np.iinfo(dtype).max)
    x = np.array([0, 1, 2, 3, 5, 7, 11, top], dtype)
    if np.dtype(dtype).kind == "i":
        x = np.append(x, np.array([-1, -2, -3], dtype))
    modulus = 1 << (8 * x.dtype.itemsize)
    for exponent in [e for e in (63, 64, 65, 100, 127, 128, 1000, 2**31 - 1, top) if e <= top]:
        y = np.full_like(x, exponent)
        right = np.asarray([pow(int(v), exponent, modulus) for v in x.tolist()], np.uint64).astype(dtype)
        assert_same(evaluate(arithmetic.pow, x, y), right, x, y)
        assert_same(evaluate(arithmetic.pow, x, np.asarray(exponent, dtype)), right, x, y)


def test_integers_to_negative_powers_are_rounded_towards_zero() -> None:
    x = np.array([1, -1, -1, 2, -3, 10], "int32")
    y = np.array([-3, -3, -2, -1, -2, -1], "int32")
    assert_same(evaluate(arithmetic.pow, x, y), np.array([1, -1, 1, 0, 0, 0], "int32"))
