"""The public element-wise functions: NumPy's answers, Python numbers, inside jit, refusals at the call."""

from __future__ import annotations

import asyncio
import builtins
import inspect
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aioarray as aio
from aioarray._functions import (
    arithmetic,
    bitwise,
    comparison,
    exponential,
    floating_point,
    hyperbolic,
    logical,
    rounding,
    trigonometric,
)
from aioarray._functions import complex as complex_parts

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

CHAPTERS = [
    arithmetic, bitwise, comparison, complex_parts, exponential, floating_point, hyperbolic, logical, rounding,
    trigonometric,
]  # fmt: skip
# Taken at arguments where the function is defined, of the dtypes it takes.
ABOVE_ONE = np.array([[1.25, 2.0, 3.5], [1.0, 7.75, 1.5]], "float32")
WITHIN_ONE = np.array([[-0.75, 0.0, 0.5], [0.25, -0.125, 0.875]], "float32")
INTEGERS = np.array([[6, -4, 7], [1, 12, -5]], "int32")
AMOUNTS = np.array([[1, 2, 3], [4, 5, 2]], "int32")

UNARY = {
    "abs": INTEGERS, "acos": WITHIN_ONE, "acosh": ABOVE_ONE, "asin": WITHIN_ONE, "asinh": ABOVE_ONE, "atan": ABOVE_ONE,
    "atanh": WITHIN_ONE, "bitwise_count": INTEGERS, "bitwise_invert": INTEGERS, "cbrt": ABOVE_ONE, "ceil": WITHIN_ONE,
    "conj": WITHIN_ONE, "cos": ABOVE_ONE, "cosh": ABOVE_ONE, "deg2rad": ABOVE_ONE, "exp": ABOVE_ONE, "exp2": ABOVE_ONE,
    "expm1": ABOVE_ONE, "floor": WITHIN_ONE, "imag": WITHIN_ONE, "iscomplex": WITHIN_ONE, "isreal": WITHIN_ONE,
    "rint": ABOVE_ONE, "isfinite": ABOVE_ONE, "isinf": ABOVE_ONE,
    "isnan": ABOVE_ONE, "isneginf": ABOVE_ONE, "isposinf": ABOVE_ONE, "log": ABOVE_ONE, "log10": ABOVE_ONE,
    "log1p": ABOVE_ONE, "log2": ABOVE_ONE, "logical_not": INTEGERS, "negative": INTEGERS, "positive": INTEGERS,
    "rad2deg": ABOVE_ONE, "real": WITHIN_ONE, "reciprocal": ABOVE_ONE, "round": ABOVE_ONE, "sign": INTEGERS,
    "signbit": WITHIN_ONE, "sin": ABOVE_ONE, "sinc": WITHIN_ONE, "sinh": ABOVE_ONE, "sqrt": ABOVE_ONE,
    "square": INTEGERS, "tan": WITHIN_ONE, "tanh": ABOVE_ONE, "trunc": WITHIN_ONE,
}  # fmt: skip
BINARY = {
    "add": (INTEGERS, AMOUNTS), "atan2": (WITHIN_ONE, ABOVE_ONE), "bitwise_and": (INTEGERS, AMOUNTS),
    "bitwise_left_shift": (INTEGERS, AMOUNTS), "bitwise_or": (INTEGERS, AMOUNTS),
    "bitwise_right_shift": (INTEGERS, AMOUNTS), "bitwise_xor": (INTEGERS, AMOUNTS), "copysign": (ABOVE_ONE, WITHIN_ONE),
    "divide": (WITHIN_ONE, ABOVE_ONE), "equal": (INTEGERS, AMOUNTS), "float_power": (ABOVE_ONE, WITHIN_ONE),
    "floor_divide": (INTEGERS, AMOUNTS), "fmax": (WITHIN_ONE, ABOVE_ONE), "fmin": (WITHIN_ONE, ABOVE_ONE),
    "fmod": (INTEGERS, AMOUNTS), "gcd": (INTEGERS, AMOUNTS), "greater": (INTEGERS, AMOUNTS),
    "greater_equal": (INTEGERS, AMOUNTS), "heaviside": (WITHIN_ONE, ABOVE_ONE), "hypot": (WITHIN_ONE, ABOVE_ONE),
    "isclose": (WITHIN_ONE, ABOVE_ONE), "lcm": (INTEGERS, AMOUNTS), "less": (INTEGERS, AMOUNTS),
    "less_equal": (INTEGERS, AMOUNTS), "logaddexp": (WITHIN_ONE, ABOVE_ONE), "logaddexp2": (WITHIN_ONE, ABOVE_ONE),
    "logical_and": (INTEGERS, AMOUNTS), "logical_or": (INTEGERS, AMOUNTS), "logical_xor": (INTEGERS, AMOUNTS),
    "maximum": (INTEGERS, AMOUNTS), "minimum": (INTEGERS, AMOUNTS), "multiply": (INTEGERS, AMOUNTS),
    "nextafter": (WITHIN_ONE, ABOVE_ONE), "not_equal": (INTEGERS, AMOUNTS), "pow": (AMOUNTS, AMOUNTS),
    "remainder": (INTEGERS, AMOUNTS), "subtract": (INTEGERS, AMOUNTS),
}  # fmt: skip
OTHERS = {"angle", "clip", "degrees", "divmod", "nan_to_num", "radians"}


def numpy_function(name: str) -> Callable[..., Any]:
    return getattr(np, name)  # type: ignore[no-any-return]


def test_every_function_is_public_and_tested() -> None:
    chapters = {name: chapter for chapter in CHAPTERS for name in chapter.__all__}
    # Three of comparison's give one answer for all elements.
    assert set(chapters) - {"allclose", "array_equal", "array_equiv"} == {*UNARY, *BINARY, *OTHERS}
    for name, chapter in chapters.items():
        assert getattr(aio, name) is getattr(chapter, name)
        assert name in aio.__all__


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name: str) -> None:
    x = UNARY[name]
    got = getattr(aio, name)(aio.asarray(x))
    wanted = numpy_function(name)(x)
    assert isinstance(got, aio.Array)
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    assert_allclose(np.asarray(got), wanted, rtol=1e-6)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name: str) -> None:
    x, y = BINARY[name]
    function, truth = getattr(aio, name), numpy_function(name)
    wanted = truth(x, y)
    got = function(aio.asarray(x), aio.asarray(y))
    assert got.shape == wanted.shape
    assert_allclose(np.asarray(got), wanted, rtol=1e-6)
    # A row, a column, a Python number on either side.
    assert_allclose(np.asarray(function(aio.asarray(x), aio.asarray(y[0]))), truth(x, y[0]), rtol=1e-6)
    assert_allclose(np.asarray(function(aio.asarray(x[:, :1]), aio.asarray(y))), truth(x[:, :1], y), rtol=1e-6)
    number = y[0, 0].item()
    assert_allclose(np.asarray(function(aio.asarray(x), number)), truth(x, number), rtol=1e-6)
    assert_allclose(np.asarray(function(number, aio.asarray(y))), truth(number, y), rtol=1e-6)


def test_a_python_number_keeps_the_dtype_of_the_array() -> None:
    assert aio.add(aio.asarray([1, 2], dtype="int8"), 1).dtype == aio.int8
    assert aio.multiply(2.0, aio.asarray([1.0], dtype="bfloat16")).dtype == aio.bfloat16
    assert_array_equal(np.asarray(aio.add(aio.asarray([1.0], dtype="float64"), 0.1)), [1.1])
    assert aio.add(1, 2.5).dtype == aio.float32


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float32", "complex64"])
def test_powers_to_python_integers(dtype: str) -> None:
    x = np.array([1, 0, 1, 1]).astype(dtype) * np.array([1, 2, 3, 1]).astype(dtype)
    for exponent in (0, 2, 3, 11):
        got = aio.pow(aio.asarray(x), exponent)
        assert got.dtype == ("int32" if dtype == "bool" else dtype)
        assert_allclose(np.asarray(got), x.astype(got.dtype) ** exponent, rtol=1e-6)


def test_divmod_gives_both_results() -> None:
    quotient, rest = aio.divmod(aio.asarray(INTEGERS), 4)
    assert_array_equal(np.asarray(quotient), INTEGERS // 4)
    assert_array_equal(np.asarray(rest), INTEGERS % 4)


def test_clip_takes_bounds_of_every_kind() -> None:
    x = aio.asarray(INTEGERS)
    assert aio.clip(x).tolist() == INTEGERS.tolist()
    assert aio.clip(x, 0).tolist() == INTEGERS.clip(0).tolist()
    assert aio.clip(x, max=3).tolist() == INTEGERS.clip(max=3).tolist()
    assert aio.clip(x, aio.asarray([0, 1, 2]), 5).tolist() == INTEGERS.clip([0, 1, 2], 5).tolist()


def test_clip_is_not_bounded_by_numbers_its_dtype_does_not_hold() -> None:
    x = aio.asarray([0, 100, 255], dtype="uint8")
    assert aio.clip(x, -1, 300).tolist() == [0, 100, 255]
    assert aio.clip(x, -(10**30), 99).tolist() == [0, 99, 99]
    assert aio.clip(x, -1).dtype == aio.uint8


def test_where_chooses() -> None:
    condition = aio.asarray([True, False, True])
    assert aio.where(condition, aio.asarray([1, 2, 3]), 0).tolist() == [1, 0, 3]
    assert aio.where(condition, 1.5, aio.asarray([1, 2, 3])).dtype == aio.float32
    assert aio.where(True, 1, 2).tolist() == 1


@pytest.mark.parametrize(
    "numbers", [(0.0, -0.0), (complex(0.0, 1), complex(-0.0, 1)), (complex(1, 0.0), complex(1, -0.0))]
)
def test_python_numbers_that_are_equal_keep_the_signs_of_their_zeros(numbers: tuple[complex, complex]) -> None:
    x = np.array([complex(-0.0, -0.0)], "complex128")
    for number in (*numbers, *numbers):
        for function in (lambda xp, x, number: x + number, lambda xp, x, number: xp.where(xp.asarray(True), number, x)):
            result = np.asarray(function(aio, aio.asarray(x), number))
            wanted = function(np, x, number)
            assert_array_equal(np.signbit([result.real, result.imag]), np.signbit([wanted.real, wanted.imag]))


def test_nan_to_num_takes_numbers_and_arrays() -> None:
    x = aio.asarray([1.0, float("nan"), float("inf"), float("-inf")], dtype="float64")
    largest = np.finfo("float64").max
    assert aio.nan_to_num(x).tolist() == [1, 0, largest, -largest]
    assert aio.nan_to_num(x, nan=0.1, posinf=2, neginf=-3).tolist() == [1, 0.1, 2, -3]
    assert aio.nan_to_num(x, nan=aio.asarray([7, 8, 9, 10]), posinf=0.5, neginf=0.5).tolist() == [1, 8, 0.5, 0.5]
    zero = np.asarray(aio.nan_to_num(x, nan=-0.0, posinf=0, neginf=0))
    assert np.signbit(zero[1])
    assert not np.signbit(np.asarray(aio.nan_to_num(x, nan=0.0, posinf=0, neginf=0))[1])


def test_isclose_takes_tolerances() -> None:
    x = aio.asarray([1.0, 1.01, float("nan")])
    assert aio.isclose(x, 1.0).tolist() == [True, False, False]
    assert aio.isclose(x, x, equal_nan=True).tolist() == [True, True, True]
    assert aio.isclose(x, 1.0, rtol=0.1).tolist() == [True, True, False]
    assert aio.isclose(x, 1.0, rtol=0, atol=0.1).tolist() == [True, True, False]


def test_round_takes_decimals() -> None:
    x = aio.asarray([3.14159, 271.828])
    assert_array_equal(np.asarray(aio.round(x, 2)), np.array([3.14, 271.83], "float32"))
    assert_array_equal(np.asarray(aio.round(x, decimals=-1)), np.array([0, 270], "float32"))
    with pytest.raises(TypeError):
        aio.round(x, 1.5)  # type: ignore[arg-type]


def test_angle_in_degrees_and_radians() -> None:
    z = aio.asarray([1j, -1 + 0j])
    assert aio.angle(z, deg=True).tolist() == [90, 180]
    assert_allclose(np.asarray(aio.angle(z)), [np.pi / 2, np.pi], rtol=1e-6)


def test_degrees_and_radians_are_other_names() -> None:
    assert aio.degrees is aio.rad2deg
    assert aio.radians is aio.deg2rad


@pytest.mark.parametrize("name", ["sin", "clip", "divmod", "where", "round", "log10", "gcd"])
def test_inside_jit(name: str) -> None:
    function = getattr(aio, name)
    x = {"gcd": aio.asarray(INTEGERS)}.get(name, aio.asarray(ABOVE_ONE))
    more: tuple[Any, ...] = {"clip": (1.5, 3.0), "divmod": (2,), "gcd": (4,), "round": (1,)}.get(name, ())
    arguments = (x > 2, x, 0) if name == "where" else (x, *more)

    def called(*arrays: aio.Array) -> Any:
        return function(*arrays, *[a for a in arguments if not isinstance(a, aio.Array)])

    outside = function(*arguments)
    inside = aio.jit(called)(*[a for a in arguments if isinstance(a, aio.Array)])
    for a, b in zip(*[r if isinstance(r, tuple) else (r,) for r in (inside, outside)], strict=True):
        assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: aio.add(aio.ones((2, 3)), aio.ones(2)), r"^add: shapes \(2, 3\) and \(2,\) cannot be broadcast"),
        (
            lambda: aio.where(aio.ones(2) > 0, aio.ones(3), 1),
            r"^where: shapes \(2,\) and \(3,\) and \(\) cannot be broadcast",
        ),
        (lambda: aio.clip(aio.ones(2), aio.ones(3)), r"^clip: shapes \(2,\) and \(3,\) cannot be broadcast"),
        (lambda: aio.isclose(aio.ones(2), aio.ones(3)), r"^isclose: shapes \(2,\) and \(3,\) cannot be broadcast"),
    ],
)
def test_shapes_are_refused_at_the_call(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: aio.floor(aio.asarray([1j])),
            r"^floor: dtype complex64 is not allowed; it takes real numeric dtypes$",
        ),
        (lambda: aio.atan2(aio.asarray([1j]), 1.0), r"^atan2: dtype complex64 is not allowed; it takes real floating"),
        (lambda: aio.bitwise_and(aio.ones(2), 1), r"^bitwise_and: dtype float32 is not allowed; it takes integer or"),
        (lambda: aio.negative(aio.asarray([True])), r"^negative: dtype bool is not allowed; it takes numeric dtypes$"),
        (lambda: aio.subtract(aio.asarray([True]), True), r"^subtract: dtype bool is not allowed"),
        (lambda: aio.gcd(aio.ones(2), 1), r"^gcd: dtype float32 is not allowed; it takes integer dtypes$"),
        (lambda: aio.round(aio.asarray([True])), r"^round: dtype bool is not allowed; it takes numeric dtypes$"),
    ],
)
def test_dtypes_are_refused_at_the_call(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_each_function_is_one_launch() -> None:
    x = aio.asarray(ABOVE_ONE)
    condition = x > 2
    functions = [
        lambda: aio.sinh(x),
        lambda: aio.clip(x, 1, 2),
        lambda: aio.divmod(x, 2),
        lambda: aio.where(condition, x, 0),
    ]
    for function in functions:
        aio.block_until_ready(function())  # compiles
    before = aio.stats()["enqueued"]
    aio.block_until_ready([function() for function in functions])
    assert aio.stats()["enqueued"] - before == len(functions)


def test_arrays_come_first_and_only_by_position() -> None:
    """As in the standard."""
    for name in [*UNARY, *BINARY, *OTHERS]:
        parameters = list(inspect.signature(getattr(aio, name)).parameters.values())
        arrays = [p for p in parameters if p.name in ("x", "x1", "x2", "condition")]
        assert arrays
        assert builtins.all(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in arrays)


def test_results_are_awaitable_at_once() -> None:
    async def main() -> list[float]:
        x = aio.asarray([0.0, 1.0])
        y = aio.exp(aio.negative(x) * 2)
        await y
        return y.tolist()  # type: ignore[no-any-return]

    assert_allclose(asyncio.run(main()), [1, np.exp(-2)], rtol=1e-6)


@pytest.mark.parametrize("number", [128, -129, 2**70, -(2**70)])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_integers_beyond_the_dtype_can_be_compared_with(name: str, number: int) -> None:
    x = np.array([-128, 0, 127], np.int8)
    compare = getattr(operator, name)
    assert_array_equal(np.asarray(compare(aio.asarray(x), number)), compare(x, number))
    assert_array_equal(np.asarray(compare(number, aio.asarray(x))), compare(number, x))
    assert_array_equal(np.asarray(aio.jit(lambda x: compare(x, number))(aio.asarray(x))), compare(x, number))


def test_integers_beyond_the_dtype_divide() -> None:
    x = aio.asarray(np.array([0, 128, 255], np.uint8))
    assert (x / 256).tolist() == [0, 0.5, 255 / 256]
    assert aio.divide(x, 512)[1].item() == 0.25
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        x + 256
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        aio.floor_divide(x, 256)


def test_the_greatest_divisor_of_the_least_integer_is_positive() -> None:
    x = np.array([-128, -128, -128, 0, -1], np.int8)
    y = np.array([-1, 127, -128, -128, -128], np.int8)
    assert_array_equal(np.asarray(aio.gcd(aio.asarray(x), aio.asarray(y))), np.gcd(x, y))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "floor_divide", "remainder"])
def test_a_stretched_operand_gives_the_same_digits_as_a_whole_one(name: str, dtype: str) -> None:
    # XLA multiplies by the reciprocal where it sees that a divisor is a stretched number or row.
    values = np.random.default_rng(0).uniform(1, 50, (40, 25)).astype(dtype)
    x = aio.asarray(values)
    operation, expected = getattr(aio, name), getattr(np, name)
    for divisor in (7, 7.3, values[0], values[:, :1], values[3, 4], np.broadcast_to(values[5], values.shape)):
        wanted = expected(values, np.asarray(divisor, dtype))
        y = divisor if isinstance(divisor, int | float) else aio.asarray(divisor)
        assert_array_equal(np.asarray(operation(x, y)), wanted)
        assert_array_equal(np.asarray(aio.jit(lambda a, y=y: operation(a, y))(x)), wanted)
        number = expected(values[0, 0], np.asarray(divisor, dtype))
        assert_array_equal(np.asarray(operation(x[0, 0], y)), number)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_number_divided_inside_of_a_larger_product_is_rounded_once(dtype: str) -> None:
    values = np.random.default_rng(0).uniform(1, 50, 1000).astype(dtype)
    number = values[3]
    f = aio.jit(lambda x, y: x * (y / 37))
    wanted = values * (number / np.asarray(37, dtype))
    assert_array_equal(np.asarray(f(aio.asarray(values), aio.asarray(number))), wanted)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint32", "int32", "int64", "uint64"])
def test_integer_powers_by_every_operator(dtype: str) -> None:
    x = aio.asarray(np.array([3, 2, 1], dtype))
    modulus = 1 << (8 * np.dtype(dtype).itemsize)

    def right(exponent: int) -> list[int]:
        return np.asarray([pow(v, exponent, modulus) for v in (3, 2, 1)], np.uint64).astype(dtype).tolist()  # type: ignore[no-any-return]

    for exponent in (9, 63, 64, 65, 127):
        y = aio.asarray(np.full(3, exponent, dtype))
        z = x.copy()
        z **= exponent
        assert z.tolist() == (x**exponent).tolist() == aio.pow(x, y).tolist() == right(exponent)
        assert aio.jit(lambda x, e=exponent: x**e)(x).tolist() == aio.jit(aio.pow)(x, y).tolist() == right(exponent)
        assert (3**y).tolist() == [right(exponent)[0]] * 3


@pytest.mark.parametrize("exponent", [-1, -4, -5, -70, np.int8(-1)], ids=repr)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64"])
def test_negative_numbers_are_no_exponents_of_integers(dtype: str, exponent: Any) -> None:
    x = aio.asarray(np.array([1, 1], dtype))
    for power in (lambda x: x**exponent, lambda x: aio.pow(x, exponent), lambda x: x.__ipow__(exponent)):
        for call in (power, aio.jit(power)):
            with pytest.raises(ValueError, match="integers have no negative integer powers"):
                call(x)
    assert (x ** float(exponent)).tolist() == [1.0, 1.0]


def test_float_power_is_computed_in_double_precision() -> None:
    assert aio.float_power(aio.asarray([10]), 12).tolist() == [1e12]
    assert aio.jit(aio.float_power)(aio.asarray([10.0]), 12).tolist() == [1e12]
    assert aio.float_power(aio.asarray([2j]), 2).dtype == np.complex128


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floor_division_agrees_with_the_remainder(dtype: str) -> None:
    values = np.array([-np.inf, -3.5, -1.0, -0.0, 0.0, 1.0, 3.5, np.inf, np.nan])
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        quotient, rest = np.divmod(x, y)
        truncated = np.fmod(x, y)
    ours = [aio.asarray(v, dtype=dtype) for v in (x, y)]
    for call in (lambda f: f, aio.jit):
        for got, right in (
            (call(lambda x, y: x // y)(*ours), quotient),
            (call(lambda x, y: x % y)(*ours), rest),
            (call(aio.divmod)(*ours)[0], quotient),
            (call(aio.divmod)(*ours)[1], rest),
            (call(aio.fmod)(*ours), truncated),
        ):
            host = np.asarray(got).astype(np.float64)
            np.testing.assert_array_equal(host, right)
            known = ~np.isnan(right)
            np.testing.assert_array_equal(np.signbit(host[known]), np.signbit(right[known]))
