"""Matrix and tensor products against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aioarray._ops import products
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((3,), (4, 3, 2)),
    ((4, 2, 3), (3,)),
    ((2, 3), (4, 3, 5)),
    ((4, 2, 3), (3, 2)),
    ((4, 1, 2, 3), (5, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2, 3), (3, 2)),
]


def sample(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=shape) * 3
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind == "u" else values.astype(dtype)


@pytest.mark.parametrize(("shape1", "shape2"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
def test_matmul(shape1: tuple[int, ...], shape2: tuple[int, ...], dtype: str) -> None:
    x1, x2 = sample(shape1, dtype, 1), sample(shape2, dtype, 2)
    got, expected = evaluate(products.matmul, x1, x2), np.matmul(x1, x2)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integers_wrap_around(dtype: str) -> None:
    x1, x2 = sample((4, 30), dtype, 1) * 40, sample((30, 3), dtype, 2) * 40
    assert_array_equal(evaluate(products.matmul, x1, x2), np.matmul(x1, x2))


def test_booleans_of_long_axes_do_not_wrap_to_false() -> None:
    x = np.ones((1, 256), bool)
    assert evaluate(products.matmul, x, x.T).all()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_numbers_are_summed_in_float32(dtype: Any) -> None:
    x1, x2 = sample((8, 4000), dtype, 1), sample((4000, 8), dtype, 2)
    got = evaluate(products.matmul, x1, x2)
    assert got.dtype == dtype
    exact = x1.astype(np.float64) @ x2.astype(np.float64)
    assert_allclose(got.astype(np.float64), exact, rtol=float(ml_dtypes.finfo(dtype).eps), atol=2e-3)


@pytest.mark.parametrize("precision", ["default", "high", "highest"])
def test_precision(precision: str) -> None:
    x = sample((5, 5), "float32")
    assert_allclose(evaluate(products.matmul, x, x, static=(precision,)), x @ x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shape1", "shape2"),
    [((3,), (3,)), ((2, 3), (3, 4)), ((2, 4, 3), (5, 3, 2)), ((), (2, 3)), ((2, 3), (3,))],
    ids=str,
)
def test_dot(shape1: tuple[int, ...], shape2: tuple[int, ...]) -> None:
    x1, x2 = sample(shape1, "float64", 1), sample(shape2, "float64", 2)
    assert_allclose(evaluate(products.dot, x1, x2), np.dot(x1, x2))


@pytest.mark.parametrize("axes", [0, 1, 2, ((1, 2), (1, 0)), ((-1,), (-3,)), ((), ())], ids=str)
def test_tensordot(axes: Any) -> None:
    x1, x2 = sample((2, 3, 4), "float64", 1), sample((4, 3, 5), "float64", 2)
    if axes == 2:
        x2 = sample((3, 4, 5), "float64", 2)
    assert_allclose(evaluate(products.tensordot, x1, x2, static=(axes, None)), np.tensordot(x1, x2, axes))


@pytest.mark.parametrize("axis", [-1, -2, 0])
def test_vecdot_conjugates_its_first_operand(axis: int) -> None:
    x1 = sample((3, 4), "float64", 1) + 1j * sample((3, 4), "float64", 2)
    x2 = sample((3, 4), "float64", 3) - 1j
    assert_allclose(evaluate(products.vecdot, x1, x2, static=(axis, None)), np.vecdot(x1, x2, axis=axis))


def test_vecdot_broadcasts() -> None:
    x1, x2 = sample((5, 3, 4), "int32", 1), sample((3, 1), "int32", 2)
    x2 = np.broadcast_to(x2, (3, 4))
    assert_array_equal(evaluate(products.vecdot, x1, x2, static=(-1, None)), np.vecdot(x1, x2))


def test_outer() -> None:
    x = np.arange(4, dtype=np.int16)
    assert_array_equal(evaluate(products.outer, x, x[:3]), np.outer(x, x[:3]))


def test_operands_promote() -> None:
    assert products.matmul(node((2, 3), "int8"), node((3, 2), "float64")).dtype == np.float64


def test_refuses() -> None:
    with pytest.raises(ValueError, match=r"matmul: shapes \(2, 3\) and \(4, 5\): the last axis of x1 has length 3"):
        products.matmul(node((2, 3)), node((4, 5)))
    with pytest.raises(ValueError, match="scalars go with multiply"):
        products.matmul(node(()), node((2, 2)))
    with pytest.raises(ValueError, match=r"matmul: shapes .* cannot be broadcast"):
        products.matmul(node((2, 4, 3)), node((5, 3, 4)))
    with pytest.raises(ValueError, match="dot: shapes"):
        products.dot(node((2, 3)), node((2, 3)))
    with pytest.raises(ValueError, match="tensordot: axes=3"):
        products.tensordot(node((2, 3)), node((2, 3)), 3, None)
    with pytest.raises(ValueError, match="have lengths"):
        products.tensordot(node((2, 3)), node((2, 3)), ((0,), (1,)), None)
    with pytest.raises(ValueError, match="vecdot: along axis -1, x1 has length 3, x2 has length 2"):
        products.vecdot(node((3,)), node((2,)), -1, None)
    with pytest.raises(ValueError, match="it takes two vectors"):
        products.outer(node((2, 2)), node((2,)))
    with pytest.raises(ValueError, match="precision 'exact' is not known"):
        products.matmul(node((2, 2)), node((2, 2)), "exact")
