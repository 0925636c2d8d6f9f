"""Dtypes, shapes, broadcasting, Python scalars and messages: what all elementwise functions have in common."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_array_equal

from aioarray._base import config
from aioarray._graph import array_spec, input_node
from tests._ops.definitions import elementwise
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
FLOAT8 = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"]

# Function -> the kinds of dtypes it takes (b bool, i integer, f real, c complex).
TAKES = {
    "abs": "bifc", "add": "bifc", "bitwise_and": "bi", "bitwise_count": "i", "bitwise_invert": "bi",
    "bitwise_left_shift": "i",
    "bitwise_or": "bi", "bitwise_right_shift": "i", "bitwise_xor": "bi", "ceil": "if", "conj": "ifc",
    "divmod": "if", "equal": "bifc", "fmax": "bifc", "fmin": "bifc", "fmod": "if", "gcd": "i", "lcm": "i",
    "floor": "if", "floor_divide": "if",
    "greater": "bifc", "greater_equal": "bifc", "imag": "ifc", "isfinite": "bifc", "isinf": "bifc", "isnan": "bifc",
    "less": "bifc", "less_equal": "bifc", "logical_and": "bifc", "logical_not": "bifc", "logical_or": "bifc",
    "logical_xor": "bifc", "maximum": "bifc", "minimum": "bifc", "multiply": "bifc", "negative": "ifc",
    "not_equal": "bifc", "positive": "ifc", "pow": "ifc", "real": "ifc", "remainder": "if", "sign": "ifc",
    "square": "ifc", "subtract": "ifc", "trunc": "if",
}  # fmt: skip
# Of integers and booleans, these give results in the default real dtype, in float64 of those of 64 bits.
TO_FLOATING = {
    "acos": "fc", "acosh": "fc", "asin": "fc", "asinh": "fc", "atan": "fc", "atan2": "f", "atanh": "fc", "cbrt": "f",
    "copysign": "f", "cos": "fc", "cosh": "fc", "deg2rad": "f", "digamma": "f", "divide": "fc", "erf": "f", "erfc": "f",
    "erfinv": "f", "exp": "fc", "exp2": "fc", "expm1": "fc", "float_power": "fc", "heaviside": "f", "hypot": "f",
    "lgamma": "f",
    "log": "fc", "log10": "fc", "log1p": "fc", "log2": "fc", "logaddexp": "f", "logaddexp2": "f", "logistic": "fc",
    "nextafter": "f", "rad2deg": "f", "reciprocal": "fc", "sin": "fc", "sinc": "fc", "sinh": "fc", "sqrt": "fc",
    "tan": "fc", "tanh": "fc",
}  # fmt: skip
BINARY = {
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "copysign",
    "divide", "divmod", "equal", "float_power", "floor_divide", "fmax", "fmin", "fmod", "gcd", "greater",
    "greater_equal", "heaviside", "hypot", "lcm", "less", "less_equal", "logaddexp", "logaddexp2", "logical_and",
    "logical_or", "logical_xor", "maximum",
    "minimum", "multiply", "nextafter", "not_equal", "pow", "remainder", "subtract",
}  # fmt: skip
TO_BOOLEAN = {
    "equal", "greater", "greater_equal", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal", "signbit",
}  # fmt: skip
TO_REAL = {"abs", "imag", "real"}
WITH_OTHER_ARGUMENTS = {"angle", "clip", "isclose", "nan_to_num", "round", "where"}
PREDICATES = {"isneginf": "bif", "isposinf": "bif", "signbit": "f"}


def kind(dtype: np.dtype) -> str:
    if dtype.kind in "iu" or "int4" in dtype.name:
        return "i"
    return "f" if dtype.kind == "V" else dtype.kind


def result(name: str, *dtypes: np.dtype) -> Any:
    nodes = [input_node(array_spec((2,), dtype)) for dtype in dtypes]
    return getattr(elementwise, name)(*nodes)


def test_the_tables_name_every_definition() -> None:
    assert {*TAKES, *TO_FLOATING, *WITH_OTHER_ARGUMENTS, *PREDICATES} == set(vars(elementwise))


ALL_DTYPES = [np.dtype(name) for name in ["bool", *INTEGERS, "int4", "uint4", *FLOATS, *FLOAT8, *COMPLEX]]


@pytest.mark.parametrize("name", sorted({*TAKES, *TO_FLOATING, *PREDICATES}))
def test_dtypes_of_results(name: str) -> None:
    taken = TAKES.get(name) or PREDICATES.get(name) or TO_FLOATING[name]
    for dtype in ALL_DTYPES:
        dtypes = [dtype] * (2 if name in BINARY else 1)
        converts = name in TO_FLOATING or name == "signbit"
        if kind(dtype) not in taken and not (converts and kind(dtype) in "bi"):
            with pytest.raises(TypeError, match=rf"^{name}: dtype {dtype.name} is not allowed; it takes .* dtypes$"):
                result(name, *dtypes)
            continue
        real = np.dtype("float64" if dtype.itemsize == 8 else "float32")
        wanted = real if converts and kind(dtype) in "bi" else dtype
        if name in TO_BOOLEAN:
            wanted = np.dtype("bool")
        elif name == "float_power":
            wanted = np.dtype("complex128" if dtype.kind == "c" else "float64")
        elif name == "bitwise_count":
            wanted = np.dtype("uint8")
        elif name in TO_REAL and dtype.kind == "c":
            wanted = np.zeros(0, dtype).real.dtype
        node = result(name, *dtypes)
        for each in node if isinstance(node, tuple) else (node,):
            assert each.dtype == wanted, (name, dtype)
            assert each.shape == (2,)


def test_integers_become_the_default_real_dtype() -> None:
    assert result("sin", np.dtype("int8")).dtype == np.float32
    with config.default_dtypes(real="float64"):
        assert result("sin", np.dtype("int8")).dtype == np.float64
        assert result("divide", np.dtype("int8"), np.dtype("uint8")).dtype == np.float64


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("int8", "uint8", "int16"),
        ("int32", "float32", "float64"),
        ("int8", "float16", "float16"),
        ("float32", "complex64", "complex64"),
        ("float64", "complex64", "complex128"),
        ("bool", "int8", "int8"),
        ("bfloat16", "float32", "float32"),
    ],
)
def test_two_dtypes_promote_as_in_numpy(first: str, second: str, wanted: str) -> None:
    assert result("add", np.dtype(first), np.dtype(second)).dtype == wanted
    assert result("multiply", np.dtype(second), np.dtype(first)).dtype == wanted


def test_dtypes_that_do_not_promote_are_named() -> None:
    with pytest.raises(TypeError, match=r"^add: dtypes float8_e4m3fn and float8_e5m2 do not promote"):
        result("add", np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2))


@pytest.mark.parametrize(
    ("array", "scalar", "wanted"),
    [
        ("int8", 3, "int8"),
        ("float16", 3, "float16"),
        ("float64", 3.5, "float64"),
        ("bfloat16", 3.5, "bfloat16"),
        ("int32", 3.5, "float32"),
        ("bool", 3, "int32"),
        ("float64", 1j, "complex128"),
        ("float32", 1j, "complex64"),
    ],
)
def test_python_scalars_take_part_with_their_kind(array: str, scalar: complex, wanted: str) -> None:
    x = np.ones(3, array)
    assert evaluate(elementwise.add, x, scalar).dtype == wanted
    assert evaluate(elementwise.add, scalar, x).dtype == wanted


SHAPES = [
    ((), ()),
    ((0,), (0,)),
    ((3,), ()),
    ((2, 1), (3,)),
    ((0, 3), (1,)),
    ((4, 1, 2), (1, 3, 1)),
    ((2, 0, 2), (1, 2)),
]


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_shapes_broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    x = np.arange(np.prod(first, dtype=int), dtype="float32").reshape(first)
    y = np.arange(np.prod(second, dtype=int), dtype="float32").reshape(second) + 1
    for name in ("add", "divide", "floor_divide", "hypot", "less"):
        got = evaluate(getattr(elementwise, name), x, y)
        wanted = getattr(np, name)(x, y)
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    assert evaluate(elementwise.sinh, x).shape == first
    assert evaluate(elementwise.where, x > 1, x, y).shape == np.broadcast_shapes(first, second)


def test_shapes_that_do_not_broadcast_are_named() -> None:
    x, y = input_node(array_spec((2, 3), np.dtype("float32"))), input_node(array_spec((2,), np.dtype("float32")))
    for name in sorted(
        BINARY - {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}
    ):
        with pytest.raises(ValueError, match=rf"^{name}: shapes \(2, 3\) and \(2,\) cannot be broadcast: axis -1"):
            getattr(elementwise, name)(x, y)


@pytest.mark.parametrize("dtype", FLOAT8)
def test_float8_is_computed_in_more_digits_and_rounded_once(dtype: str) -> None:
    x = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, -2, -1, -0.5], np.float32).astype(dtype)
    y = np.array([0.5, 2, 3, 1, 1, 2, -3, 3, 2, 0.25], np.float32).astype(dtype)
    wide_x, wide_y = x.astype(np.float32), y.astype(np.float32)
    for name in ("add", "divide", "floor_divide", "hypot", "maximum", "multiply", "remainder", "copysign"):
        got = evaluate(getattr(elementwise, name), x, y)
        assert got.dtype == x.dtype
        wanted = getattr(np, name)(wide_x, wide_y).astype(dtype)
        assert np.array_equal(got.view(np.uint8), wanted.view(np.uint8)), name
    assert np.array_equal(evaluate(elementwise.less, x, y), wide_x < wide_y)
    assert np.array_equal(
        evaluate(elementwise.sinh, x).astype(np.float32), np.sinh(wide_x).astype(dtype).astype(np.float32)
    )


def test_int4_wraps_around_at_its_own_width() -> None:
    x = np.arange(-8, 8).astype(ml_dtypes.int4)
    y = np.roll(np.arange(-8, 8), 3).astype(ml_dtypes.int4)
    wide_x, wide_y = x.astype(np.int64), y.astype(np.int64)
    for name in ("add", "multiply", "subtract", "bitwise_xor", "maximum"):
        wanted = ((getattr(np, name)(wide_x, wide_y) + 8) % 16 - 8).astype(ml_dtypes.int4)
        assert np.array_equal(evaluate(getattr(elementwise, name), x, y), wanted), name
    nonzero = wide_y != 0
    assert np.array_equal(
        evaluate(elementwise.remainder, x, y)[nonzero].astype(np.int64),
        (wide_x % np.where(nonzero, wide_y, 1))[nonzero],
    )


# ---- Whatever the numbers: as NumPy. One shape, so that a function is compiled once for all examples.

LENGTH = 16


def vectors(dtype: str) -> st.SearchStrategy[np.ndarray]:
    # Subnormal numbers count as zero on devices, as zero they have a test of their own.
    subnormal = {"allow_subnormal": False} if np.dtype(dtype).kind == "f" else {}
    return arrays.arrays(dtype, LENGTH, elements=arrays.from_dtype(np.dtype(dtype), **subnormal))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64"])
@given(data=st.data())
def test_integer_division_of_anything(dtype: str, data: st.DataObject) -> None:
    x, y = data.draw(vectors(dtype)), data.draw(vectors(dtype))
    quotient, rest = evaluate(elementwise.divmod, x, y)
    wanted_quotient, wanted_rest = np.divmod(x, y)
    assert_same(quotient, wanted_quotient, x, y)
    assert_same(rest, wanted_rest, x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(data=st.data())
def test_floating_division_of_anything(dtype: str, data: st.DataObject) -> None:
    x, y = data.draw(vectors(dtype)), data.draw(vectors(dtype))
    quotient, rest = evaluate(elementwise.divmod, x, y)
    wanted_quotient, wanted_rest = np.divmod(x, y)
    tiny = np.finfo(dtype).tiny
    # Where NumPy meets a subnormal number on the way, a device meets a zero.
    ordinary = ~((np.abs(np.fmod(x, y)) < tiny) & (np.fmod(x, y) != 0)) & ~(
        (np.abs(wanted_rest) < tiny) & (wanted_rest != 0)
    )
    ordinary &= ~((np.abs(x / y) < tiny) & (x != 0))
    assert_same(quotient[ordinary], wanted_quotient[ordinary], x[ordinary], y[ordinary])
    assert_same(rest[ordinary], wanted_rest[ordinary], x[ordinary], y[ordinary])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@given(data=st.data())
def test_neighbours_signs_and_classes_of_anything(dtype: str, data: st.DataObject) -> None:
    everything = arrays.arrays(dtype, LENGTH, elements=arrays.from_dtype(np.dtype(dtype)))
    x, y = data.draw(everything), data.draw(everything)
    assert_same(evaluate(elementwise.copysign, x, y), np.copysign(x, y), x, y)
    assert_same(evaluate(elementwise.signbit, x), np.signbit(x), x)
    assert_same(evaluate(elementwise.isfinite, x), np.isfinite(x), x)
    assert_same(evaluate(elementwise.isnan, x), np.isnan(x), x)
    different = x != y
    assert_same(
        evaluate(elementwise.nextafter, x, y)[different], np.nextafter(x, y)[different], x[different], y[different]
    )


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_products_of_bools_with_infinities_and_nan_are_those_of_zero_and_one() -> None:
    truth = np.array([False, True, False])
    numbers = np.array([np.inf, np.inf, np.nan], np.float32)
    assert_array_equal(evaluate(elementwise.multiply, truth, numbers), np.array([np.nan, np.inf, np.nan], np.float32))
    quotients = evaluate(elementwise.divide, truth[:, None], truth)
    assert_array_equal(quotients, np.array([[np.nan, 0, np.nan], [np.inf, 1, np.inf], [np.nan, 0, np.nan]], np.float32))
