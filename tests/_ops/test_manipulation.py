"""Shapes, axes, joining, repeating and casting against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aioarray._ops import creation, data_types, manipulation
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("shape", [(4, 6), (-1,), (4, -1), (2, 3, 4), (1, 24, 1), (2, -1, 2, 2)], ids=str)
def test_reshape(shape: tuple[int, ...]) -> None:
    assert_array_equal(evaluate(manipulation.reshape, X, static=(shape,)), X.reshape(shape))


def test_reshape_of_nothing() -> None:
    assert evaluate(manipulation.reshape, np.zeros((0, 3)), static=((3, 0, 2),)).shape == (3, 0, 2)


@pytest.mark.parametrize("shape", [(5, 5), (5, -1), (-1, -1), (-2, 12), (0, -1)], ids=str)
def test_reshape_refuses(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^reshape: "):
        manipulation.reshape(node((2, 3, 4)), shape)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (-1, 0, -2)], ids=str)
def test_permute_dims(axes: tuple[int, ...]) -> None:
    assert_array_equal(evaluate(manipulation.permute_dims, X, static=(axes,)), X.transpose(axes))


def test_permute_dims_refuses() -> None:
    with pytest.raises(ValueError, match="each of the 3 axes"):
        manipulation.permute_dims(node((2, 3, 4)), (0, 1))
    with pytest.raises(ValueError, match="twice"):
        manipulation.permute_dims(node((2, 3, 4)), (0, 1, 1))


def test_matrix_transpose() -> None:
    assert_array_equal(evaluate(manipulation.matrix_transpose, X), np.matrix_transpose(X))
    with pytest.raises(ValueError, match="fewer than 2 axes"):
        manipulation.matrix_transpose(node((3,)))


@pytest.mark.parametrize(("source", "destination"), [(0, 2), (-1, 0), ((0, 1), (-1, 0)), ((), ())], ids=str)
def test_moveaxis(source: Any, destination: Any) -> None:
    assert_array_equal(
        evaluate(manipulation.moveaxis, X, static=(source, destination)), np.moveaxis(X, source, destination)
    )


def test_moveaxis_refuses_pairs_of_different_length() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        manipulation.moveaxis(node((2, 3, 4)), (0, 1), (0,))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_concat(axis: int | None) -> None:
    got = evaluate(manipulation.concat, X, X + 1, X, static=(axis,))
    assert_array_equal(got, np.concatenate([X, X + 1, X], axis))


def test_concat_promotes() -> None:
    got = evaluate(manipulation.concat, np.ones(2, np.int16), np.ones(3, np.uint16), static=(0,))
    assert got.dtype == np.int32


def test_concat_refuses() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 4\) differ outside axis 0"):
        manipulation.concat(node((2, 3)), node((2, 4)), 0)
    with pytest.raises(ValueError, match="without axes"):
        manipulation.concat(node(()), 0)
    with pytest.raises(ValueError, match="no arrays"):
        manipulation.concat(0)
    with pytest.raises(IndexError, match="axis 2 is out of range"):
        manipulation.concat(node((2, 3)), 2)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis: int) -> None:
    assert_array_equal(evaluate(manipulation.stack, X, X + 1, static=(axis,)), np.stack([X, X + 1], axis))


def test_stack_refuses_other_shapes() -> None:
    with pytest.raises(ValueError, match="must be the same"):
        manipulation.stack(node((2,)), node((3,)), 0)


@pytest.mark.parametrize("axis", [0, -1, (0, 2), (1, -1, 0), ()], ids=str)
def test_expand_dims(axis: Any) -> None:
    assert evaluate(manipulation.expand_dims, X, static=(axis,)).shape == np.expand_dims(X, axis).shape


@pytest.mark.parametrize("axis", [4, -5, (0, 6)], ids=str)
def test_expand_dims_raises_index_error(axis: Any) -> None:
    with pytest.raises(IndexError, match=r"^expand_dims: axis"):
        manipulation.expand_dims(node((2, 3, 4)), axis)


@pytest.mark.parametrize("axis", [0, (0, 2), -1, None], ids=str)
def test_squeeze(axis: Any) -> None:
    x = np.ones((1, 3, 1))
    assert evaluate(manipulation.squeeze, x, static=(axis,)).shape == np.squeeze(x, axis).shape


def test_squeeze_refuses_longer_axes() -> None:
    with pytest.raises(ValueError, match=r"axis 1 of shape .* has length 3"):
        manipulation.squeeze(node((1, 3)), 1)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()], ids=str)
def test_flip(axis: Any) -> None:
    assert_array_equal(evaluate(manipulation.flip, X, static=(axis,)), np.flip(X, axis))


@pytest.mark.parametrize(
    ("shift", "axis"), [(1, None), (-5, None), (1, 0), ((1, -1), (0, 2)), (7, (1, 2)), (0, 1), ((1, 2), 1)], ids=str
)
def test_roll(shift: Any, axis: Any) -> None:
    assert_array_equal(evaluate(manipulation.roll, X, static=(shift, axis)), np.roll(X, shift, axis))


def test_roll_of_nothing() -> None:
    assert evaluate(manipulation.roll, np.zeros((0, 3)), static=(1, 0)).shape == (0, 3)


def test_roll_refuses_shifts_without_axes() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        manipulation.roll(node((2, 3)), (1, 2, 3), (0, 1))


def test_broadcast_to() -> None:
    x = np.arange(3).reshape(3, 1)
    assert_array_equal(evaluate(manipulation.broadcast_to, x, static=((2, 3, 4),)), np.broadcast_to(x, (2, 3, 4)))
    with pytest.raises(ValueError, match=r"shape \(3, 1\) does not stretch to \(2, 4\)"):
        manipulation.broadcast_to(node((3, 1)), (2, 4))
    with pytest.raises(ValueError, match="does not stretch"):
        manipulation.broadcast_to(node((3, 1)), (3,))


def test_broadcast_arrays() -> None:
    got = evaluate(manipulation.broadcast_arrays, np.ones((2, 1)), np.arange(3, dtype=np.int8))
    assert [x.shape for x in got] == [(2, 3), (2, 3)]
    assert got[1].dtype == np.int8


@pytest.mark.parametrize("axis", [0, -1])
def test_unstack(axis: int) -> None:
    got = evaluate(manipulation.unstack, X, static=(axis,))
    assert len(got) == X.shape[axis]
    for part, expected in zip(got, np.unstack(X, axis=axis), strict=True):
        assert_array_equal(part, expected)


@pytest.mark.parametrize("repetitions", [(2,), (2, 1, 3), (2, 3, 1, 1), (0, 1, 1), ()], ids=str)
def test_tile(repetitions: tuple[int, ...]) -> None:
    assert_array_equal(evaluate(manipulation.tile, X, static=(repetitions,)), np.tile(X, repetitions))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_repeat(repeats: int, axis: int | None) -> None:
    assert_array_equal(evaluate(manipulation.repeat, X, static=(repeats, axis)), np.repeat(X, repeats, axis))


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        manipulation.repeat(node((2,)), -1, 0)
    with pytest.raises(ValueError, match="must not be negative"):
        manipulation.tile(node((2,)), (-1,))


@pytest.mark.parametrize("k", [-9, -1, 0, 1, 9])
@pytest.mark.parametrize("name", ["triu", "tril"])
def test_triangles(name: str, k: int) -> None:
    x = X + 1
    assert_array_equal(evaluate(getattr(creation, name), x, static=(k,)), getattr(np, name)(x, k))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_meshgrid(count: int, indexing: str) -> None:
    vectors = [np.arange(n, dtype=np.float32) for n in (2, 3, 4)[:count]]
    got = evaluate(creation.meshgrid, *vectors, static=(indexing,))
    for grid, expected in zip(got, np.meshgrid(*vectors, indexing=indexing), strict=True):
        assert_array_equal(grid, expected)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool"])
def test_diff(dtype: str, n: int) -> None:
    x = (X * 7 % 5).astype(dtype)
    expected = np.diff(x, n=n) if n else x
    assert_array_equal(evaluate(manipulation.diff, x, None, None, static=(-1, n)), expected)


def test_diff_joins_before() -> None:
    got = evaluate(manipulation.diff, X, X[:, :1], X[:, :2], static=(1, 1))
    assert_array_equal(got, np.diff(X, axis=1, prepend=X[:, :1], append=X[:, :2]))
    assert_array_equal(
        evaluate(manipulation.diff, X, np.float32(5), None, static=(1, 1)), np.diff(X, axis=1, prepend=5)
    )
    with pytest.raises(ValueError, match="n=-1 must not be negative"):
        manipulation.diff(node((3,)), None, None, 0, -1)


REALS = np.array([0.0, -0.0, 1.7, -1.7, 1e-40, np.inf, -np.inf, np.nan], np.float32)


def test_astype_to_bool_is_not_zero() -> None:
    assert_array_equal(evaluate(data_types.astype, REALS, static=(np.dtype(bool),)), REALS.astype(bool))
    z = np.array([0, 1, 1j, complex(0, np.nan), complex(-0.0, 0.0)], np.complex64)
    assert_array_equal(evaluate(data_types.astype, z, static=(np.dtype(bool),)), z.astype(bool))


def test_astype_to_integers_stays_in_bounds() -> None:
    got = evaluate(data_types.astype, REALS, static=(np.dtype("int32"),))
    assert got.tolist() == [0, 0, 1, -1, 0, 2**31 - 1, -(2**31), 0]


@pytest.mark.parametrize("target", ["float16", "float32", "float64", "complex64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("source", ["bool", "int8", "uint16", "int64", "float32"])
def test_astype(source: str, target: Any) -> None:
    x = np.arange(-3, 4).astype(source)
    with np.errstate(over="ignore"):
        expected = x.astype(target)
    assert_array_equal(evaluate(data_types.astype, x, static=(np.dtype(target),)), expected)


@pytest.mark.parametrize("target", ["float32", "int64"])
def test_astype_refuses_complex_to_real(target: str) -> None:
    with pytest.raises(TypeError, match="drop the imaginary part"):
        data_types.astype(node((2,), "complex64"), np.dtype(target))


VIEWED = ["bool", "int8", "uint8", "int16", ml_dtypes.bfloat16, "uint32", "float32", "int64", "float64", "complex64"]


@pytest.mark.parametrize("target", [*VIEWED, "float16", "complex128", ml_dtypes.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("source", VIEWED, ids=str)
def test_view(source: Any, target: Any) -> None:
    # Bytes that are numbers in every dtype, and zeros and ones where they are to be truth values.
    top = 2 if np.dtype(target) == bool or np.dtype(source) == bool else 64
    raw = np.random.default_rng(0).integers(0, top, (3, 32), np.uint8)
    x = raw.view(source)
    assert_array_equal(evaluate(data_types.view, x, static=(np.dtype(target),)), x.view(target))


@pytest.mark.parametrize(("source", "target"), [("float64", "int64"), ("complex64", "float64"), ("int64", "complex64")])
def test_view_of_one(source: str, target: str) -> None:
    x = np.array(3.5, source)
    got = evaluate(data_types.view, x, static=(np.dtype(target),))
    assert got.shape == ()
    assert_array_equal(got, x.view(target))


@pytest.mark.parametrize(("shape", "target"), [((2, 0), "complex64"), ((0, 4), "int8"), ((0, 4), "complex64")], ids=str)
def test_view_of_nothing(shape: tuple[int, ...], target: str) -> None:
    x = np.zeros(shape, np.float32)
    assert evaluate(data_types.view, x, static=(np.dtype(target),)).shape == x.view(target).shape


def test_view_keeps_bits_that_no_number_has() -> None:
    bits = np.array([0x7FF0000000000001, 0xFFF8000000000002, 1, 1 << 63], np.uint64)
    assert_array_equal(evaluate(data_types.view, bits.view("float64"), static=(np.dtype("uint64"),)), bits)
    assert_array_equal(
        evaluate(data_types.view, bits.view("float64"), static=(np.dtype("uint16"),)), bits.view("uint16")
    )


def test_view_refuses() -> None:
    with pytest.raises(ValueError, match=r"^view: .* needs an axis; reshape the array to \(1,\)"):
        data_types.view(node((), "float64"), np.dtype("int32"))
    with pytest.raises(
        ValueError, match=r"^view: 3 elements of float32 .* 12 bytes, .* no multiple of the 8 of float64"
    ):
        data_types.view(node((2, 3)), np.dtype("float64"))
    with pytest.raises(TypeError, match=r"^view: from float32 to int4"):
        data_types.view(node((2, 3)), np.dtype(ml_dtypes.int4))
