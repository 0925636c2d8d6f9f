"""Reading and updating by index, against NumPy's own indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aioarray._graph import Graph, lower
from aioarray._ops import subscripts
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

X = np.arange(3 * 4 * 5 * 6, dtype=np.float32).reshape(3, 4, 5, 6)
MATRIX = np.array([[0, -1, 2], [1, 1, -3]])
VECTOR = np.array([2, 0, 1], np.int32)
SCALAR = np.array(1, np.uint8)
EMPTY = np.zeros((0,), np.int32)
TWO, ONE = np.int32(2), np.int64(1)


def cut(start: int | None = None, stop: int | None = None, step: int | None = None) -> tuple[Any, ...]:
    return ("slice", start, stop, step)


A0, A1 = ("array", 0), ("array", 1)
ALL = cut()

CASES: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    ((), ()),
    ((1,), ()),
    ((-1, 2, 3, 4), ()),
    ((...,), ()),
    ((None, None), ()),
    ((cut(None, None, -1),), ()),
    ((..., cut(1, 5, 2)), ()),
    ((cut(2, 0, -1), None, ..., cut(4, None, -2)), ()),
    ((cut(5, 1),), ()),
    ((cut(-100, 100), cut(100, -100, -3)), ()),
    ((A0,), (MATRIX,)),
    ((ALL, A0), (MATRIX,)),
    ((0, ALL, A0), (MATRIX,)),  # separated: the arrays' axes go first
    ((ALL, 0, A0), (MATRIX,)),
    ((ALL, 0, A0, A1), (MATRIX, VECTOR)),
    ((A0, ALL, A1), (MATRIX, VECTOR)),
    ((None, A0, A1, None), (MATRIX, VECTOR)),
    ((ALL, A0, None, A1), (MATRIX, VECTOR)),
    ((1, ..., A0), (MATRIX,)),
    ((A0,), (SCALAR,)),
    ((ALL, A0, A1), (SCALAR, VECTOR)),
    ((A0,), (EMPTY,)),
    ((cut(None, None, -2), A0, cut(0, 4, 3)), (VECTOR,)),
    ((("dynamic", 0),), (TWO,)),
    ((("dynamic", 0), cut(None, None, 2), ("dynamic_slice", 1, 3), cut(None, None, -1)), (TWO, ONE)),
    ((cut(1, 2), ("dynamic", 0), A1), (TWO, VECTOR)),
    ((("new_array", 0),), (np.zeros(1, np.int32),)),
    ((("new_array", 0),), (EMPTY,)),
]
EACH_CASE = pytest.mark.parametrize(("index", "arrays"), CASES, ids=[str(index) for index, _ in CASES])


def as_numpy(index: tuple[Any, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index in NumPy's terms."""

    def entry(e: Any) -> Any:
        if not isinstance(e, tuple):
            return e
        if e[0] == "slice":
            return slice(*e[1:])
        if e[0] == "array":
            return arrays[e[1]]
        if e[0] == "new_array":
            return bool(arrays[e[1]].size)
        start = int(arrays[e[1]])
        return start if e[0] == "dynamic" else slice(start, start + e[2])

    return tuple(map(entry, index))


@EACH_CASE
def test_getitem(index: tuple[Any, ...], arrays: tuple[Any, ...]) -> None:
    got, expected = evaluate(subscripts.getitem, X, *arrays, static=(index,)), X[as_numpy(index, arrays)]
    assert got.shape == expected.shape
    assert_array_equal(got, expected)


UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


@EACH_CASE
@pytest.mark.parametrize("mode", ["set", "add", "max"])
def test_setitem(index: tuple[Any, ...], arrays: tuple[Any, ...], mode: str) -> None:
    place, expected = as_numpy(index, arrays), X.copy()
    shape = X[place].shape
    value = np.arange(np.prod(shape), dtype=np.float32)[::-1].reshape(shape) * 3 - 50
    if mode == "set":
        expected[place] = value
    elif any(isinstance(entry, bool) for entry in place):  # ufunc.at does not take these
        expected[place] = UFUNCS[mode](expected[place], value)
    else:
        UFUNCS[mode].at(expected, place, value)
    assert_allclose(evaluate(subscripts.setitem, X, value, *arrays, static=(index, mode)), expected, rtol=1e-6)


@st.composite
def basic_indices(draw: st.DrawFn) -> tuple[Any, ...]:
    bound = st.none() | st.integers(-7, 7)
    slices = st.tuples(st.just("slice"), bound, bound, st.none() | st.integers(-3, 3).filter(bool))
    lengths = draw(st.sampled_from([(3, 4), (3,), ()]))
    entries: list[Any] = [draw(st.integers(-length, length - 1) | slices) for length in lengths]
    for extra in draw(st.sampled_from([(), (None,), (...,), (None, ...)])):
        entries.insert(draw(st.integers(0, len(entries))), extra)
    return tuple(entries)


@settings(max_examples=40)
@given(basic_indices())
def test_any_basic_index(index: tuple[Any, ...]) -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    place = as_numpy(index, ())
    # An ellipsis before the end moves what follows to the last axes.
    expected = x[place]
    assert_array_equal(evaluate(subscripts.getitem, x, static=(index,)), expected)
    updated = x.copy()
    updated[place] = -expected - 1
    assert_array_equal(evaluate(subscripts.setitem, x, -expected - 1, static=(index, "set")), updated)


def test_the_last_of_several_values_is_kept_and_others_combine() -> None:
    x, positions, value = np.ones(3), np.array([1, 1, 1]), np.array([2.0, 3.0, 4.0])
    assert evaluate(subscripts.setitem, x, value, positions, static=((A0,), "set")).tolist() == [1, 4, 1]
    assert evaluate(subscripts.setitem, x, value, positions, static=((A0,), "add")).tolist() == [1, 10, 1]
    assert evaluate(subscripts.setitem, x, value, positions, static=((A0,), "multiply")).tolist() == [1, 24, 1]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_positions_out_of_range(dtype: str) -> None:
    x = np.arange(300)
    bounds = np.iinfo(dtype)
    positions = np.array([bounds.min, bounds.max, 0], dtype)
    nearest = [int(min(max(p + 300 if p < 0 else p, 0), 299)) for p in positions.tolist()]
    assert evaluate(subscripts.getitem, x, positions, static=((A0,),)).tolist() == nearest
    inside = [p + 300 if p < 0 else p for p in positions.tolist()]
    expected = x.copy()
    expected[[p for p in inside if 0 <= p < 300]] = -1
    assert_array_equal(evaluate(subscripts.setitem, x, -1, positions, static=((A0,), "set")), expected)


def test_values_are_cast_and_stretched() -> None:
    x = np.zeros((2, 3), np.int32)
    got = evaluate(subscripts.setitem, x, np.array([[1.9], [-1.9]]), static=((cut(), cut(1, 3)), "set"))
    assert got.tolist() == [[0, 1, 1], [0, -1, -1]]
    # As NumPy, leading axes of length 1 may be too many.
    assert evaluate(subscripts.setitem, x, np.ones((1, 1, 3)), static=((0,), "set"))[0].tolist() == [1, 1, 1]


def test_booleans_combine_logically() -> None:
    x = np.array([True, False, True])
    other = np.array([False, False, True])
    results = {
        mode: evaluate(subscripts.setitem, x, other, static=((cut(),), mode)).tolist()
        for mode in ("set", "add", "multiply", "min", "max")
    }
    assert results == {
        "set": [False, False, True],
        "add": [True, False, True],
        "multiply": [False, False, True],
        "min": [False, False, True],
        "max": [True, False, True],
    }


def test_static_positions_raise_where_they_are_out_of_range() -> None:
    x = node((3, 4))
    with pytest.raises(IndexError, match=r"getitem: index 3 is out of bounds for axis 0 of length 3; use -3\.\.2"):
        subscripts.getitem(x, (3,))
    with pytest.raises(IndexError, match=r"setitem: index -5 is out of bounds for axis 1 of length 4"):
        subscripts.setitem(x, node(()), (0, -5), "set")
    with pytest.raises(IndexError, match="3 indices for an array of shape"):
        subscripts.getitem(x, (0, 0, 0))
    with pytest.raises(IndexError, match="2 ellipses"):
        subscripts.getitem(x, (..., ...))
    with pytest.raises(ValueError, match="step of a slice is 0"):
        subscripts.getitem(x, (cut(0, 1, 0),))
    with pytest.raises(IndexError, match="length 0 has no element"):
        subscripts.getitem(node((0,)), node((2,), "int32"), (A0,))
    with pytest.raises(IndexError, match="dtype float32; it takes integer"):
        subscripts.getitem(x, node((2,)), (A0,))


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\) does not stretch to the indexed shape \(4,\)"):
        subscripts.setitem(node((3, 4)), node((2,)), (0,), "set")
    with pytest.raises(ValueError, match="does not stretch"):
        subscripts.setitem(node((4,)), node((2, 4)), (cut(),), "set")
    with pytest.raises(TypeError, match="complex64 value does not fit"):
        subscripts.setitem(node((3,)), node((), "complex64"), (0,), "set")
    with pytest.raises(TypeError, match="no order"):
        subscripts.setitem(node((3,), "complex64"), node(()), (0,), "max")
    with pytest.raises(ValueError, match="mode 'xor' is not known"):
        subscripts.setitem(node((3,)), node(()), (0,), "xor")


@pytest.mark.parametrize("index", [(1,), (cut(0, 3, 2),), (cut(0, 2), 1), (("dynamic", 0),)], ids=str)
def test_basic_indices_lower_to_one_slice(index: tuple[Any, ...]) -> None:
    x, start = node((3, 4)), node((), "int32")
    arrays = (start,) if index == (("dynamic", 0),) else ()
    text = lower.lower(Graph("getitem", (x, *arrays), (subscripts.getitem(x, *arrays, index),)))
    assert text.count('"stablehlo.slice"') + text.count('"stablehlo.dynamic_slice"') == 1
    assert "gather" not in text
