"""Reductions against NumPy: axes, dtypes, NaN, empty axes, accuracy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aioarray._graph import Node, definition
from aioarray._ops import arithmetic, comparison, data_types, statistical
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 5)).astype(np.float32)
AXES = pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()], ids=str)
KEEPDIMS = pytest.mark.parametrize("keepdims", [False, True])


@AXES
@KEEPDIMS
@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_sums(name: str, axis: Any, keepdims: bool) -> None:
    got = evaluate(getattr(statistical, name), X, static=(axis, None, keepdims))
    expected = getattr(np, name)(X, axis=axis, keepdims=keepdims)
    assert got.shape == expected.shape
    assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@AXES
@KEEPDIMS
@pytest.mark.parametrize("name", ["max", "min", "any", "all", "count_nonzero"])
def test_exact_ones(name: str, axis: Any, keepdims: bool) -> None:
    x = X * (X > 0)
    got = evaluate(getattr(statistical, name), x, static=(axis, keepdims))
    assert_array_equal(got, getattr(np, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)], ids=str)
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("correction", [0.0, 1.0, 0.5])
def test_spread(name: str, axis: Any, correction: float) -> None:
    got = evaluate(getattr(statistical, name), X, static=(axis, correction, False))
    assert_allclose(got, getattr(np, name)(X, axis=axis, correction=correction), rtol=1e-5)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@KEEPDIMS
def test_positions(name: str, axis: int | None, keepdims: bool) -> None:
    x = np.round(X)  # with ties: the first one counts
    x[1, 2, 3] = np.nan
    x[1, 3, 0] = np.nan
    got = evaluate(getattr(statistical, name), x, static=(axis, keepdims))
    assert got.dtype == np.int32
    assert_array_equal(got, getattr(np, name)(x, axis=axis, keepdims=keepdims))


SUM_DTYPES = {
    "bool": "int32",
    "int8": "int32",
    "int64": "int64",
    "uint8": "uint32",
    "uint64": "uint64",
    "float16": "float16",
    "float32": "float32",
    "complex64": "complex64",
}


@pytest.mark.parametrize(("dtype", "expected"), SUM_DTYPES.items())
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_dtypes_of_sums(name: str, dtype: str, expected: str) -> None:
    assert getattr(statistical, name)(node((3,), dtype), None, None, False).dtype == expected


def test_dtypes_of_the_others() -> None:
    assert statistical.mean(node((3,), "int8"), None, None, False).dtype == np.float32
    assert statistical.var(node((3,), "int64"), None, 0.0, False).dtype == np.float64
    assert statistical.std(node((3,), "complex64"), None, 0.0, False).dtype == np.float32
    assert statistical.max(node((3,), "bool"), None, False).dtype == np.bool_
    assert statistical.sum(node((3,), "int8"), None, np.dtype("float64"), False).dtype == np.float64


def test_sums_do_not_overflow_where_their_dtype_holds_them() -> None:
    assert evaluate(statistical.sum, np.full(300, 200, np.uint8), static=(None, None, False)) == 60000
    assert evaluate(statistical.sum, np.full(300, True), static=(None, None, False)) == 300


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_numbers_are_added_in_float32(dtype: Any) -> None:
    # Each partial sum beyond 2048 would lose the 1 in float16, beyond 256 in bfloat16.
    x = np.ones(4000, dtype)
    assert float(evaluate(statistical.sum, x, static=(None, None, False))) == float(np.asarray(4000, dtype))
    assert float(evaluate(statistical.mean, x, static=(None, None, False))) == 1.0
    assert float(evaluate(statistical.var, x, static=(None, 0.0, False))) == 0.0


@pytest.mark.parametrize(("shape", "axis"), [((1_000_000,), None), ((1000, 1000), 1), ((100_000, 10), 0)], ids=str)
def test_float32_sums_are_as_accurate_as_pairwise_ones(shape: tuple[int, ...], axis: int | None) -> None:
    x = np.random.default_rng(1).random(shape, dtype=np.float32)
    got = evaluate(statistical.sum, x, static=(axis, None, False))
    assert_allclose(got, x.sum(axis=axis, dtype=np.float64), rtol=5e-7)


def test_means_are_rounded_once() -> None:
    # XLA replaces a division by a constant with a product by its reciprocal, which rounds twice.
    x = RNG.integers(1, 1000, size=(500, 7)).astype(np.float32)
    got = evaluate(statistical.mean, x, static=(1, None, False))
    assert_array_equal(got, (x.sum(axis=1) / np.float32(7)).astype(np.float32))


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_is_passed_on(name: str) -> None:
    x = np.array([[1.0, np.nan, 3.0], [np.inf, -np.inf, 0.0]], np.float32)
    assert_array_equal(evaluate(getattr(statistical, name), x, static=(1, False)), getattr(np, name)(x, axis=1))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool"])
def test_extremes_of_the_least_and_greatest(dtype: str) -> None:
    limits = np.iinfo(dtype) if dtype in ("int8", "uint64") else None
    low, high = (limits.min, limits.max) if limits else (0, 1) if dtype == "bool" else (-np.inf, np.inf)
    assert evaluate(statistical.max, np.array([low], dtype), static=(None, False)) == low
    assert evaluate(statistical.min, np.array([high], dtype), static=(None, False)) == high


def test_of_nothing() -> None:
    x = np.zeros((0, 2), np.float32)
    assert evaluate(statistical.sum, x, static=(0, None, False)).tolist() == [0, 0]
    assert evaluate(statistical.prod, x, static=(0, None, False)).tolist() == [1, 1]
    assert np.isnan(evaluate(statistical.mean, x, static=(0, None, False))).all()
    assert not evaluate(statistical.any, x, static=(None, False))
    assert evaluate(statistical.all, x, static=(None, False))
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=f"{name}: axis 0 of shape .* there is no {name} of nothing"):
            getattr(statistical, name)(node((0, 2)), 0, False)


def test_without_freedom_there_is_no_variance() -> None:
    assert np.isnan(evaluate(statistical.var, X[0, 0, :2], static=(None, 2.0, False)))
    assert np.isnan(evaluate(statistical.std, X[0, 0, :2], static=(None, 3.0, False)))
    assert evaluate(statistical.var, X[0, 0, :2], static=((), 0.0, False)).tolist() == [0, 0]


def test_variance_of_complex_numbers_is_real() -> None:
    z = (X + 1j * X[::-1]).astype(np.complex64)
    assert_allclose(evaluate(statistical.var, z, static=(None, 0.0, False)), np.var(z), rtol=1e-5)


def test_truth() -> None:
    # NaN is true, and so is a number that XLA would compare as zero.
    for value in (np.nan, 1e-40, -np.inf, 5):
        assert evaluate(statistical.any, np.array([0, value], np.float32), static=(None, False))
    assert not evaluate(statistical.any, np.array([0.0, -0.0], np.float32), static=(None, False))
    assert evaluate(statistical.all, np.array([1j, 1], np.complex64), static=(None, False))
    assert evaluate(statistical.count_nonzero, np.array([0, 1j, 0], np.complex64), static=(None, False)) == 1


def test_refuses() -> None:
    with pytest.raises(TypeError, match="sum: dtype=float32 would drop the imaginary part"):
        statistical.sum(node((2,), "complex64"), None, np.dtype("float32"), False)
    with pytest.raises(TypeError, match="dtype=bool is not allowed"):
        statistical.prod(node((2,)), None, np.dtype("bool"), False)
    with pytest.raises(TypeError, match="max: dtype complex64 is not allowed"):
        statistical.max(node((2,), "complex64"), None, False)
    with pytest.raises(TypeError, match="mean: dtype int32 is not allowed"):
        statistical.mean(node((2,)), None, np.dtype("int32"), False)
    with pytest.raises(IndexError, match="sum: axis 1 is out of range"):
        statistical.sum(node((2,)), 1, None, False)
    with pytest.raises(ValueError, match="name an axis twice"):
        statistical.sum(node((2, 3)), (0, -2), None, False)


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")  # NumPy's, of bfloat16
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(3,), (4096,), (10001,), (60, 257), (257, 60)], ids=str)
@pytest.mark.parametrize("place", [0, 0.5, 1], ids=["first", "middle", "last"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_one_nan_among_many_is_the_extreme(name: str, shape: tuple[int, ...], dtype: Any, place: float) -> None:
    """XLA's CPU compiler hands large reductions to a library whose maximum drops NaN."""
    x = np.linspace(0, 1, np.prod(shape)).astype(dtype)
    index = int(place * (x.size - 1))
    x[index] = np.nan
    got = evaluate(getattr(statistical, name), x.reshape(shape), static=(None, False))
    if name.startswith("arg"):
        assert got == index
    else:
        assert np.isnan(got.astype(np.float64))
    if len(shape) == 2:
        rows = evaluate(getattr(statistical, name), x.reshape(shape), static=(1, False))
        expected = getattr(np, name)(x.reshape(shape), axis=1)
        assert_array_equal(rows.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("place", [0, 5000, 10000])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_nan_survives_a_maximum_that_is_summed(name: str, place: int) -> None:
    """So it does for an elementwise maximum in the same program as a large reduction."""
    x, y = np.linspace(0, 1, 10001, dtype=np.float32), np.full(10001, 0.5, np.float32)
    x[place] = np.nan

    @definition
    def total(a: Node, b: Node) -> Node:
        return statistical.sum(getattr(comparison, name)(a, b), None, None, False)

    assert np.isnan(evaluate(total, x, y))
    assert np.isnan(evaluate(total, y, x))


@definition
def _extreme_of_twice(x: Node) -> Node:
    return statistical.max(arithmetic.add(x, x), -1, False)


@definition
def _extreme_of_square(x: Node) -> Node:
    return statistical.min(arithmetic.multiply(x, x), None, False)


@definition
def _sum_of_twice_as_float(x: Node) -> Node:
    return statistical.sum(data_types.astype(arithmetic.add(x, x), np.dtype("float32")), 0, None, False)


@definition
def _distance_from_extreme(x: Node) -> Node:
    return arithmetic.subtract(x, statistical.max(x, -1, True))


# XLA's CPU compiler fuses element-wise operations with large reductions in a library, whose 8-bit integers saturate.
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_extreme_of_twice, lambda x: (x + x).max(axis=-1)),
        (_extreme_of_square, lambda x: (x * x).min()),
        (_sum_of_twice_as_float, lambda x: (x + x).astype(np.float32).sum(axis=0)),
        (_distance_from_extreme, lambda x: x - x.max(axis=-1, keepdims=True)),
    ],
    ids=["max", "min", "sum", "subtract"],
)
def test_bytes_wrap_before_a_large_reduction(function: Any, expected: Any, dtype: str) -> None:
    x = (np.arange(64 * 128) * 7 % 128).reshape(64, 128).astype(dtype)
    got = evaluate(function, x)
    assert got.dtype == expected(x).dtype
    assert_array_equal(got, expected(x))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_conversions_to_bytes_truncate_before_a_large_reduction(dtype: str) -> None:
    @definition
    def extreme(x: Node) -> Node:
        return statistical.max(data_types.astype(x, np.dtype(dtype)), -1, False)

    x = np.full((64, 128), 63.75, np.float32)
    assert_array_equal(evaluate(extreme, x), np.full(64, 63, dtype))
