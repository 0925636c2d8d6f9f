"""Manipulation functions: how arguments may be given, and what only the functions do (see also `_ops`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

X = aio.reshape(aio.arange(24), (2, 3, 4))
HOST = np.asarray(X)


def test_shapes_and_axes_in_every_form() -> None:
    assert aio.reshape(X, [4, 6]).shape == aio.reshape(X, (np.int64(4), -1)).shape == (4, 6)  # type: ignore[arg-type]
    assert aio.reshape(X, 24).shape == (24,)
    assert aio.permute_dims(X, [2, 0, 1]).shape == (4, 2, 3)  # type: ignore[arg-type]
    assert aio.expand_dims(X, [0, -1]).shape == (1, 2, 3, 4, 1)  # type: ignore[arg-type]
    assert aio.flip(X, axis=np.int8(1)).shape == X.shape
    assert aio.tile(aio.arange(2), 3).shape == (6,)
    assert aio.broadcast_to(aio.arange(3), [2, 3]).shape == (2, 3)  # type: ignore[arg-type]
    for wrong in (1.5, "0", (0, None)):
        with pytest.raises(TypeError, match=r"flip: axis .* is no integer"):
            aio.flip(X, axis=wrong)  # type: ignore[arg-type]


def test_host_values_are_taken_too() -> None:
    assert aio.flip(np.arange(3)).tolist() == [2, 1, 0]
    assert aio.concat([np.ones(1, np.float32), aio.zeros(1)]).tolist() == [1, 0]


def test_reshape_never_copies_only_where_it_can() -> None:
    assert aio.reshape(X, X.shape, copy=False).shape == X.shape
    with pytest.raises(ValueError, match="takes a copy"):
        aio.reshape(X, (6, 4), copy=False)
    assert aio.reshape(X, (6, 4), copy=True).shape == (6, 4)


def test_joining() -> None:
    assert_array_equal(np.asarray(aio.concat((X, X), axis=-1)), np.concatenate([HOST, HOST], -1))
    assert_array_equal(np.asarray(aio.concat([X, X], axis=None)), np.concatenate([HOST, HOST], None))
    assert_array_equal(np.asarray(aio.stack([X, X], axis=1)), np.stack([HOST, HOST], 1))
    with pytest.raises(ValueError, match="concat: no arrays"):
        aio.concat([])


def test_taking_apart() -> None:
    assert [x.tolist() for x in aio.unstack(aio.asarray([[1, 2], [3, 4]]), axis=1)] == [[1, 3], [2, 4]]
    assert aio.unstack(aio.zeros((0, 3))) == ()
    with pytest.raises(ValueError, match="without axes"):
        aio.unstack(aio.asarray(1))


def test_broadcasting() -> None:
    assert aio.broadcast_arrays() == ()
    assert aio.broadcast_shapes() == ()
    assert aio.broadcast_shapes((5, 1), (3,), (1, 1, 1)) == (1, 5, 3)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        aio.broadcast_shapes((2,), (3,))


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("kind", [np.asarray, aio.asarray, list])
def test_repeat_by_an_array(kind: Any, axis: int | None) -> None:
    length = HOST.size if axis is None else HOST.shape[axis]
    counts = np.arange(length) % 3
    expected = np.repeat(HOST, counts, axis)
    assert_array_equal(np.asarray(aio.repeat(X, kind(counts), axis=axis)), expected)
    assert_array_equal(np.asarray(aio.repeat(X, kind([2]), axis=axis)), np.repeat(HOST, 2, axis))


def test_repeat_refuses() -> None:
    with pytest.raises(ValueError, match="3 repeats for 2 elements along axis 0"):
        aio.repeat(X, aio.asarray([1, 2, 3]), axis=0)
    with pytest.raises(ValueError, match="negative number, -1"):
        aio.repeat(X, aio.asarray([1, -1]), axis=0)
    with pytest.raises(TypeError, match="repeats of dtype float32"):
        aio.repeat(X, aio.asarray([1.0, 2.0]), axis=0)
    with pytest.raises(aio.errors.TracedValueError):
        aio.jit(lambda counts: aio.repeat(X, counts, axis=0))(aio.asarray([1, 2]))


@pytest.mark.parametrize("width", [1, (1, 2), ((1, 2),), ((0, 1), (2, 0), (1, 1))], ids=str)
def test_pad(width: Any) -> None:
    assert_array_equal(np.asarray(aio.pad(X, width, constant_values=7)), np.pad(HOST, width, constant_values=7))
    assert_array_equal(np.asarray(aio.pad(X, width, mode="reflect")), np.pad(HOST, width, mode="reflect"))


@pytest.mark.parametrize("mode", ["mean", "median", "maximum", "minimum"])
@pytest.mark.parametrize("length", [None, 1, ((1, 2), (2, 1))], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint8"])
def test_pad_with_statistics(mode: Any, length: Any, dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 200, (3, 4)).astype(dtype)
    if dtype == "int32":
        x += 2**30  # as real numbers these need more than single precision
    got = aio.pad(aio.asarray(x), ((1, 2), (2, 0)), mode=mode, stat_length=length)
    expected = np.pad(x, ((1, 2), (2, 0)), mode=mode, stat_length=length)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6 if dtype == "float32" else 0)


def test_pad_with_a_function() -> None:
    def outline(vector: Any, widths: tuple[int, int], axis: int, kwargs: dict[str, Any]) -> None:
        vector[: widths[0]] = kwargs.get("fill", 10) + axis
        vector[vector.shape[0] - widths[1] :] = vector[widths[0]]

    for width in (2, ((1, 0), (0, 3), (2, 1))):
        expected = np.pad(HOST, width, outline, fill=3)
        assert_array_equal(np.asarray(aio.pad(X, width, outline, fill=3)), expected)
        compiled = aio.jit(lambda x, width=width: aio.pad(x, width, outline, fill=3))
        assert_array_equal(np.asarray(compiled(X)), expected)
    returned = aio.pad(X, 1, lambda vector, widths, axis, kwargs: vector.at[0].set(5.0))
    assert returned[0].tolist() == np.full(returned.shape[1:], 5).tolist()
    assert aio.pad(aio.ones((0, 2)), ((0, 0), (1, 1)), outline).shape == (0, 4)
    with pytest.raises(TypeError, match="pad: fill is no argument of mode 'edge'"):
        aio.pad(X, 1, "edge", fill=3)  # type: ignore[call-overload]


def test_inside_jit() -> None:
    @aio.jit
    def function(x: aio.Array) -> aio.Array:
        first, second = aio.unstack(aio.repeat(aio.roll(x, 1, axis=1), 2, axis=0)[::2])
        return aio.concat([first, aio.flip(second)])

    rolled = np.roll(HOST, 1, 1)
    assert_array_equal(np.asarray(function(X)), np.concatenate([rolled[0], np.flip(rolled[1])]))


def test_axes_must_be_named() -> None:
    for call in (lambda: aio.expand_dims(X, None), lambda: aio.moveaxis(X, None, 0)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="axis None is no integer"):
            call()
    with pytest.raises(IndexError, match="sum: axis 0 is out of range for 0 dimensions; there is no axis"):
        aio.sum(aio.asarray(1.0), axis=0)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_repeat_with_a_size_reads_nothing(axis: int | None) -> None:
    host = np.arange(6).reshape(2, 3)
    counts = np.array([2, 0, 1] if axis == 1 else [3, 1] if axis == 0 else [1, 0, 2, 0, 0, 3])
    expected = np.repeat(host, counts, axis)
    f = aio.jit(lambda x, n: aio.repeat(x, n, axis, size=7, fill_value=-1))
    got = np.asarray(f(aio.asarray(host), aio.asarray(counts)))
    k, length = axis or 0, expected.shape[axis or 0]
    assert_array_equal(np.take(got, range(length), k), expected)
    assert np.all(np.take(got, range(length, 7), k) == -1)
    assert_array_equal(np.asarray(aio.repeat(host, counts, axis, size=1)), np.take(expected, [0], k))


def test_repeat_with_a_size_refuses() -> None:
    with pytest.raises(ValueError, match="size=-1 must not be negative"):
        aio.repeat(X, 2, size=-1)
    with pytest.raises(ValueError, match="3 repeats for 2 elements along axis 0"):
        aio.repeat(X, aio.asarray([1, 2, 3]), 0, size=4)
    with pytest.raises(TypeError, match="one integer or a vector"):
        aio.repeat(X, aio.asarray([1.0, 2.0]), 0, size=4)
    assert aio.repeat(aio.zeros((0, 2)), 3, 0, size=2, fill_value=5).tolist() == [[5, 5], [5, 5]]
