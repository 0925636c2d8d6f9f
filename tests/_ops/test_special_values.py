"""Zeros, infinities and NaN: the special cases of the array API standard, and where it leaves them open, NumPy's."""

from __future__ import annotations

from math import inf, nan, pi

import numpy as np
import pytest

from aioarray._ops import arithmetic
from tests._ops.computed import on_special
from tests._ops.definitions import elementwise
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same, pairs, special

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

REALS = ["float16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]

# Results that are exact in NumPy and here: equal to the bit.
EXACT = [
    "abs", "ceil", "conj", "floor", "imag", "isfinite", "isinf", "isnan", "negative", "positive", "real", "reciprocal",
    "sign", "signbit", "sqrt", "square", "trunc",
]  # fmt: skip
# Results that are rounded: zeros, infinities and NaN in the same places, the rest close.
ROUNDED = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "log",
    "log10", "log1p", "log2", "rad2deg", "sin", "sinh", "tan", "tanh",
]  # fmt: skip


def assert_alike(got: np.ndarray, wanted: np.ndarray, *arguments: np.ndarray, signs_beside_nan: bool = True) -> None:
    """Zeros (with their signs), infinities and NaN in the same places; the rest close.

    Where one part of a complex number is NaN, the sign of the other is often left open.
    """
    if got.dtype.kind == "c":
        for part, other in (("real", "imag"), ("imag", "real")):
            mine, truth = getattr(got, part).copy(), getattr(wanted, part).copy()
            open_sign = np.isnan(getattr(wanted, other))
            mine, truth = np.where(open_sign, np.abs(mine), mine), np.where(open_sign, np.abs(truth), truth)
            assert_alike(mine, truth, *arguments)
        return
    assert got.dtype == wanted.dtype
    tolerance = 8 * np.finfo(got.dtype).eps
    close = np.isclose(got, wanted, rtol=float(tolerance), atol=0, equal_nan=True)
    signs = (np.signbit(got) == np.signbit(wanted)) | np.isnan(wanted)
    different = np.flatnonzero(~(close & signs))
    report = [(tuple(a[i] for a in arguments), got[i], wanted[i]) for i in different[:5]]
    assert not report, f"{different.size} differ, the first (arguments, got, wanted): {report}"


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", EXACT)
def test_exact_functions_of_real_numbers(name: str, dtype: str) -> None:
    x, got = on_special(name, dtype)
    assert_same(got, getattr(np, name)(x), x)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_functions_of_real_numbers(name: str, dtype: str) -> None:
    x, got = on_special(name, dtype)
    assert_alike(got, getattr(np, name)(x), x)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "copysign",
        "divide",
        "floor_divide",
        "fmax",
        "fmin",
        "fmod",
        "multiply",
        "nextafter",
        "remainder",
        "subtract",
    ],
)
def test_exact_functions_of_two_real_numbers(name: str, dtype: str) -> None:
    x, y = pairs(special(dtype))
    if name == "nextafter" and dtype == "float16":
        x, y = x[x != y], y[x != y]  # some NumPy gives the first of two zeros, the standard the second
    got, wanted = evaluate(getattr(elementwise, name), x, y), getattr(np, name)(x, y)
    if name in ("fmax", "fmin"):
        got, wanted = got + 0, wanted + 0  # which of two zeros is left open
    assert_same(got, wanted, x, y)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", ["atan2", "float_power", "hypot", "logaddexp", "logaddexp2", "pow"])
def test_rounded_functions_of_two_real_numbers(name: str, dtype: str) -> None:
    x, y = pairs(special(dtype))
    wanted = getattr(np, name)(x, y)
    wanted = wanted if name == "float_power" else wanted.astype(dtype)
    assert_alike(evaluate(getattr(elementwise, name), x, y), wanted, x, y)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 3, 8])
def test_powers_by_multiplication_have_the_special_values_of_powers(exponent: int, dtype: str) -> None:
    x = special(dtype)
    assert_alike(evaluate(arithmetic.integer_power, x, static=(exponent,)), np.power(x, exponent), x)


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_propagate_nan(name: str, dtype: str) -> None:
    x, y = pairs(special(dtype))
    assert_same(evaluate(getattr(elementwise, name), x, y) + 0, getattr(np, name)(x, y) + 0, x, y)


@pytest.mark.parametrize("dtype", [*REALS, *COMPLEXES])
@pytest.mark.parametrize("name", ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"])
def test_comparisons(name: str, dtype: str) -> None:
    x, y = pairs(special(dtype)[::5] if dtype in COMPLEXES else special(dtype))
    assert_same(evaluate(getattr(elementwise, name), x, y), getattr(np, name)(x, y), x, y)


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize(
    "name", ["abs", "conj", "imag", "isfinite", "isinf", "isnan", "negative", "positive", "real", "sign"]
)
def test_exact_functions_of_complex_numbers(name: str, dtype: str) -> None:
    z, got = on_special(name, dtype)
    wanted = getattr(np, name)(z)
    if name in ("abs", "sign"):
        assert_alike(got, wanted, z)
    else:
        assert_same(got, wanted, z)


class open_sign(float):
    """A value whose sign the standard leaves open."""


P = 0.5  # a positive finite number; its sine and cosine are positive
SPECIAL_CASES: dict[str, list[tuple[float, float, float, float]]] = {
    # a, b -> real and imaginary part of the function of a + bj
    "acos": [
        (0.0, 0.0, pi / 2, -0.0), (-0.0, 0.0, pi / 2, -0.0), (0.0, nan, pi / 2, nan), (-0.0, nan, pi / 2, nan),
        (P, inf, pi / 2, -inf), (-P, inf, pi / 2, -inf), (0.0, inf, pi / 2, -inf), (P, nan, nan, nan),
        (-inf, P, pi, -inf), (inf, P, 0.0, -inf), (-inf, inf, 3 * pi / 4, -inf), (inf, inf, pi / 4, -inf),
        (inf, nan, nan, open_sign(inf)), (-inf, nan, nan, open_sign(inf)), (nan, P, nan, nan), (nan, 0.0, nan, nan),
        (nan, inf, nan, -inf), (nan, nan, nan, nan),
    ],
    "acosh": [
        (0.0, 0.0, 0.0, pi / 2), (-0.0, 0.0, 0.0, pi / 2), (P, inf, inf, pi / 2), (-P, inf, inf, pi / 2),
        (P, nan, nan, nan), (0.0, nan, nan, open_sign(pi / 2)), (-inf, P, inf, pi), (inf, P, inf, 0.0),
        (-inf, inf, inf, 3 * pi / 4), (inf, inf, inf, pi / 4), (inf, nan, inf, nan), (-inf, nan, inf, nan),
        (nan, P, nan, nan), (nan, inf, inf, nan), (nan, nan, nan, nan),
    ],
    "asinh": [
        (0.0, 0.0, 0.0, 0.0), (P, inf, inf, pi / 2), (P, nan, nan, nan), (0.0, nan, nan, nan), (inf, P, inf, 0.0),
        (inf, inf, inf, pi / 4), (inf, nan, inf, nan), (nan, 0.0, nan, 0.0), (nan, P, nan, nan),
        (nan, inf, open_sign(inf), nan), (nan, nan, nan, nan),
    ],
    "atanh": [
        (0.0, 0.0, 0.0, 0.0), (0.0, nan, 0.0, nan), (1.0, 0.0, inf, 0.0), (P, inf, 0.0, pi / 2),
        (0.0, inf, 0.0, pi / 2),
        (P, nan, nan, nan), (inf, P, 0.0, pi / 2), (inf, inf, 0.0, pi / 2), (inf, nan, 0.0, nan), (nan, P, nan, nan),
        (nan, inf, open_sign(0.0), pi / 2), (nan, nan, nan, nan),
    ],
    "cosh": [
        (0.0, 0.0, 1.0, 0.0), (0.0, inf, nan, open_sign(0.0)), (0.0, nan, nan, open_sign(0.0)), (P, inf, nan, nan),
        (P, nan, nan, nan), (inf, 0.0, inf, 0.0), (inf, P, inf, inf), (inf, 2.0, -inf, inf),
        (inf, inf, open_sign(inf), nan),
        (inf, nan, inf, nan), (nan, 0.0, nan, open_sign(0.0)), (nan, -0.0, nan, open_sign(0.0)), (nan, P, nan, nan),
        (nan, nan, nan, nan),
    ],
    "exp": [
        (0.0, 0.0, 1.0, 0.0), (-0.0, 0.0, 1.0, 0.0), (P, inf, nan, nan), (P, nan, nan, nan), (inf, 0.0, inf, 0.0),
        (-inf, P, 0.0, 0.0), (-inf, 2.0, -0.0, 0.0), (inf, P, inf, inf), (inf, 2.0, -inf, inf),
        (-inf, inf, open_sign(0.0), open_sign(0.0)), (inf, inf, open_sign(inf), nan),
        (-inf, nan, open_sign(0.0), open_sign(0.0)), (inf, nan, open_sign(inf), nan), (nan, 0.0, nan, 0.0),
        (nan, P, nan, nan), (nan, nan, nan, nan),
    ],
    "expm1": [
        (0.0, 0.0, 0.0, 0.0), (-0.0, 0.0, 0.0, 0.0), (P, inf, nan, nan), (P, nan, nan, nan), (inf, 0.0, inf, 0.0),
        (-inf, P, -1.0, 0.0),
        (-inf, -2.0, -1.0, -0.0), (inf, P, inf, inf), (inf, 2.0, -inf, inf), (-inf, inf, -1.0, open_sign(0.0)),
        (inf, inf, open_sign(inf), nan), (-inf, nan, -1.0, open_sign(0.0)), (inf, nan, open_sign(inf), nan),
        (nan, 0.0, nan, 0.0), (nan, P, nan, nan), (nan, nan, nan, nan),
    ],
    "log": [
        (-0.0, 0.0, -inf, pi), (0.0, 0.0, -inf, 0.0), (P, inf, inf, pi / 2), (P, nan, nan, nan), (-inf, P, inf, pi),
        (inf, P, inf, 0.0), (-inf, inf, inf, 3 * pi / 4), (inf, inf, inf, pi / 4), (inf, nan, inf, nan),
        (-inf, nan, inf, nan), (nan, P, nan, nan), (nan, inf, inf, nan), (nan, nan, nan, nan),
    ],
    "log1p": [
        (-1.0, 0.0, -inf, 0.0), (P, inf, inf, pi / 2), (P, nan, nan, nan), (-inf, P, inf, pi), (inf, P, inf, 0.0),
        (-inf, inf, inf, 3 * pi / 4), (inf, inf, inf, pi / 4), (inf, nan, inf, nan), (-inf, nan, inf, nan),
        (nan, P, nan, nan), (nan, inf, inf, nan), (nan, nan, nan, nan),
    ],
    "sign": [
        (0.0, 0.0, 0.0, 0.0), (nan, P, nan, nan), (P, nan, nan, nan), (nan, nan, nan, nan),
        (2.5, -2.5, 0.5**0.5, -(0.5**0.5)),
    ],
    "sinh": [
        (0.0, 0.0, 0.0, 0.0), (0.0, inf, open_sign(0.0), nan), (0.0, nan, open_sign(0.0), nan), (P, inf, nan, nan),
        (P, nan, nan, nan), (inf, 0.0, inf, 0.0), (inf, P, inf, inf), (inf, 2.0, -inf, inf),
        (inf, inf, open_sign(inf), nan), (inf, nan, open_sign(inf), nan), (nan, 0.0, nan, 0.0), (nan, P, nan, nan),
        (nan, nan, nan, nan),
    ],
    "sqrt": [
        (0.0, 0.0, 0.0, 0.0), (-0.0, 0.0, 0.0, 0.0), (P, inf, inf, inf), (-inf, inf, inf, inf), (nan, inf, inf, inf),
        (P, nan, nan, nan), (-inf, P, 0.0, inf), (inf, P, inf, 0.0), (-inf, nan, nan, open_sign(inf)),
        (inf, nan, inf, nan), (nan, P, nan, nan), (nan, nan, nan, nan),
    ],
    "tanh": [
        (0.0, 0.0, 0.0, 0.0), (P, inf, nan, nan), (1e30, inf, nan, nan), (1e30, nan, nan, nan),
        (0.0, inf, 0.0, nan), (P, nan, nan, nan), (0.0, nan, 0.0, nan),
        (inf, P, 1.0, 0.0), (inf, 2.0, 1.0, 0.0), (inf, inf, 1.0, open_sign(0.0)), (inf, nan, 1.0, open_sign(0.0)),
        (nan, 0.0, nan, 0.0), (nan, P, nan, nan), (nan, nan, nan, nan),
    ],
}  # fmt: skip


def _key(z: complex) -> tuple[str, str]:
    return repr(float(z.real)), repr(float(z.imag))  # tells the zeros apart, and NaN equals itself


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("name", SPECIAL_CASES)
def test_special_cases_of_the_standard(name: str, dtype: str) -> None:
    cases = SPECIAL_CASES[name]
    z, got = on_special(name, dtype)
    results = {_key(argument): result for argument, result in zip(z, got, strict=True)}
    for a, b, real, imaginary in cases:
        value = results[_key(np.dtype(dtype).type(complex(a, b)))]
        for part, wanted in ((value.real, real), (value.imag, imaginary)):
            message = f"{name}({a}, {b}) gave {value}, wanted {real}, {imaginary}"
            np.testing.assert_allclose(abs(part), abs(wanted), rtol=1e-6, err_msg=message)
            if not isinstance(wanted, open_sign) and not np.isnan(wanted):
                assert np.signbit(part) == np.signbit(wanted), message


# f(-z) = -f(z), and those with f(-z) = f(z).
ODD = ["asin", "asinh", "atan", "atanh", "sin", "sinh", "tan", "tanh"]
EVEN = ["cos", "cosh"]
SYMMETRIC = sorted({*SPECIAL_CASES, *ODD, *EVEN, "log10", "log2"} - {"sign"})


def _unsigned_beside_nan(results: np.ndarray, arguments: np.ndarray) -> np.ndarray:
    """``results`` with positive parts where the argument has a NaN, whose own sign is no matter."""
    z = results.copy()
    unknown = np.isnan(arguments)
    z.real[unknown], z.imag[unknown] = np.abs(z.real[unknown]), np.abs(z.imag[unknown])
    return z


def _positions(of: np.ndarray, among: np.ndarray) -> np.ndarray:
    index = {_key(z): position for position, z in enumerate(among)}
    return np.array([index[_key(z)] for z in of])


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("name", SYMMETRIC)
def test_conjugates_have_conjugate_results(name: str, dtype: str) -> None:
    z, got = on_special(name, dtype)
    mirrored = _positions(z.conj(), z)
    assert_same(_unsigned_beside_nan(got[mirrored], z), _unsigned_beside_nan(got.conj(), z), z)


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("name", ODD)
def test_odd_functions(name: str, dtype: str) -> None:
    z, got = on_special(name, dtype)
    opposite = _positions(-z, z)
    assert_same(_unsigned_beside_nan(got[opposite], z), _unsigned_beside_nan(-got, z), z)


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("name", [name for name in SYMMETRIC if name not in ("expm1", "tan", "tanh")])
def test_complex_functions_agree_with_numpy(name: str, dtype: str) -> None:
    """Also on both sides of the branch cuts. (NumPy's expm1 is not the standard's, nor is its tanh at infinity.)"""
    z, got = on_special(name, dtype)
    chosen = (~np.isfinite(z.real) | (np.abs(z.real) < 1e3)) & (~np.isfinite(z.imag) | (np.abs(z.imag) < 1e3))
    if name == "exp":
        chosen &= np.isfinite(z.imag) | np.isfinite(z.real)  # signs of zeros that are left open
    z, got = z[chosen], got[chosen]
    assert_alike(got, getattr(np, name)(z), z)


@pytest.mark.parametrize(("name", "turned"), [("asin", "asinh"), ("atan", "atanh"), ("sin", "sinh"), ("tan", "tanh")])
def test_circular_functions_are_turned_hyperbolic_ones(name: str, turned: str) -> None:
    z, got = on_special(name, "complex128")
    _, hyperbolic = on_special(turned, "complex128")
    hyperbolic = hyperbolic[_positions(_turned(z, 1), z)]
    assert_same(_unsigned_beside_nan(got, z), _unsigned_beside_nan(_turned(hyperbolic, -1), z), z)


def _turned(z: np.ndarray, sign: int) -> np.ndarray:
    """``z`` times ``1j`` or ``-1j``, without arithmetic."""
    result = np.empty_like(z)
    result.real, result.imag = -sign * z.imag, sign * z.real
    return result


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_small_integer_powers_of_complex_numbers_are_products(dtype: str) -> None:
    z = np.array([1j, -1j, 1 + 1j, 2, 0.5 - 0.25j, -3], dtype)
    assert_same(evaluate(elementwise.pow, z, np.full(6, 2, dtype)), z * z)
    assert_same(evaluate(elementwise.pow, z, np.full(6, 1, dtype)), z)
    assert_same(evaluate(elementwise.pow, z, np.full(6, 0, dtype)), np.ones(6, dtype))
    assert_same(evaluate(elementwise.pow, z, np.full(6, 3, dtype)), z * (z * z))
    np.testing.assert_allclose(evaluate(elementwise.pow, z, np.full(6, -5, dtype)), z**-5, rtol=1e-5)


def test_powers_of_complex_zero() -> None:
    z = np.zeros(4, "complex128")
    w = np.array([0, 2, 1 + 1j, -1], "complex128")
    got = evaluate(elementwise.pow, z, w)
    assert np.array_equal(got[:3], [1, 0, 0])
    assert np.isnan(got[3])


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_moduli_neither_overflow_nor_vanish(dtype: str) -> None:
    limits = np.finfo(dtype)
    large, small = limits.max / 2, limits.tiny * 4
    z = np.array([complex(large, large), complex(small, small), complex(3 * small, -4 * small)], dtype)
    got = evaluate(elementwise.abs, z)
    np.testing.assert_allclose(got, [np.sqrt(2) * large, np.sqrt(2) * small, 5 * small], rtol=1e-6)
    np.testing.assert_allclose(evaluate(elementwise.sign, z), [(1 + 1j) / np.sqrt(2)] * 2 + [0.6 - 0.8j], rtol=1e-6)
    x = np.array([large, small], got.dtype)
    np.testing.assert_allclose(evaluate(elementwise.hypot, x, x), np.sqrt(2) * x, rtol=1e-6)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_whole_lengths_are_exact(dtype: str) -> None:
    sides = np.array([[3, 4, 5], [5, 12, 13], [8, 15, 17], [20, 21, 29]], np.zeros(0, dtype).real.dtype)
    for scale in (1.0, 2.0**60, 2.0**-60, 2.0**100, 2.0**-100):
        a, b, c = scale * sides.T
        z = np.empty(4, dtype)
        z.real, z.imag = a, -b
        assert_same(evaluate(elementwise.abs, z), c, z)
        assert_same(evaluate(elementwise.hypot, b, a), c, a, b)


@pytest.mark.parametrize("dtype", REALS)
def test_subnormal_numbers_survive_where_nothing_is_computed(dtype: str) -> None:
    smallest = np.nextafter(np.zeros((), dtype), np.ones((), dtype))
    x = np.array([smallest, -smallest, 3 * smallest, -3 * smallest, 0.0, -0.0], dtype)
    for name in ("abs", "isfinite", "negative", "positive", "signbit"):
        assert_same(evaluate(getattr(elementwise, name), x), getattr(np, name)(x), x)
    y = np.ones_like(x)
    assert_same(evaluate(elementwise.copysign, x, -y), np.copysign(x, -y), x)
    assert_same(evaluate(elementwise.where, x > 0, x, y), np.where(x > 0, x, y), x)
    assert_same(evaluate(elementwise.nextafter, x, y), np.nextafter(x, y), x)
    assert_same(evaluate(elementwise.nextafter, x, -y), np.nextafter(x, -y), x)
    towards_zero = evaluate(elementwise.nextafter, x[:4], np.zeros_like(x[:4]))
    assert_same(towards_zero, np.nextafter(x[:4], np.zeros_like(x[:4])), x)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize(
    "name",
    [
        "add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "divmod",
        "equal",
        "floor_divide", "fmax", "fmod", "greater", "less_equal", "maximum", "minimum", "multiply", "remainder",
        "subtract",
    ],
)  # fmt: skip
def test_integers_of_every_sign_and_size(name: str, dtype: str) -> None:
    """By zero, beyond the range, shifted out: as NumPy."""
    limits = np.iinfo(dtype)
    x, y = pairs(np.array([0, 1, 2, 3, 7, 9, limits.max, limits.max - 1, limits.min, limits.min + 1], dtype))
    if limits.min < 0:
        x, y = np.concatenate([x, -x, x]), np.concatenate([y, y, -y])
    got, wanted = evaluate(getattr(elementwise, name), x, y), getattr(np, name)(x, y)
    if name == "divmod":
        assert_same(got[0], wanted[0], x, y)
        assert_same(got[1], wanted[1], x, y)
    else:
        assert_same(got, wanted, x, y)
