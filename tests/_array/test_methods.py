"""NumPy's functions that call methods, methods that stand for functions, and Python's functions of numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

REALS = np.arange(12.0).reshape(3, 4).astype(np.float32) - 3
VECTOR = np.array([1, 3, 5, 9], np.int32)

# NumPy's functions that call the method of their name, and arguments of each.
CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "all": [lambda x: np.all(x), lambda x: np.all(x, axis=0, keepdims=True, where=True)],
    "any": [lambda x: np.any(x), lambda x: np.any(x, axis=(0, 1))],
    "argmax": [lambda x: np.argmax(x), lambda x: np.argmax(x, axis=1, keepdims=True)],
    "argmin": [lambda x: np.argmin(x), lambda x: np.argmin(x, axis=1, keepdims=True)],
    "argsort": [
        lambda x: np.argsort(x),
        lambda x: np.argsort(x, axis=0, kind="stable"),
        lambda x: np.argsort(x, axis=0, stable=True),
    ],
    "clip": [lambda x: np.clip(x, -1, 2), lambda x: np.clip(x, min=-1), lambda x: np.clip(x, None, 2)],
    "cumprod": [lambda x: np.cumprod(x), lambda x: np.cumprod(x, axis=0, dtype=np.float64)],
    "cumsum": [lambda x: np.cumsum(x), lambda x: np.cumsum(x, axis=1, dtype=np.float64)],
    "diagonal": [lambda x: np.diagonal(x).copy(), lambda x: np.diagonal(x, 1, 1, 0).copy()],
    "max": [lambda x: np.max(x), lambda x: np.amax(x, axis=0), lambda x: np.max(x, axis=0, keepdims=True, where=True)],
    "mean": [lambda x: np.mean(x), lambda x: np.mean(x, axis=0, dtype=np.float64, keepdims=True)],
    "min": [lambda x: np.min(x), lambda x: np.amin(x, axis=0)],
    "nonzero": [lambda x: np.nonzero(x), lambda x: np.argwhere(x)],
    "prod": [lambda x: np.prod(x), lambda x: np.prod(x, axis=0, dtype=np.float64, keepdims=True)],
    "ravel": [lambda x: np.ravel(x), lambda x: np.ravel(x, order="F")],
    "repeat": [lambda x: np.repeat(x, 2), lambda x: np.repeat(x, [1, 0, 2], axis=0)],
    "reshape": [lambda x: np.reshape(x, (4, 3)), lambda x: np.reshape(x, (2, -1), order="F")],
    "round": [lambda x: np.round(x), lambda x: np.around(x, 1)],
    "searchsorted": [
        lambda x: np.searchsorted(x.reshape(-1), 2.0),
        lambda x: np.searchsorted(x.reshape(-1), [1, 2], "right"),
    ],
    "squeeze": [lambda x: np.squeeze(x), lambda x: np.squeeze(x.reshape(3, 1, 4), axis=1)],
    "std": [lambda x: np.std(x), lambda x: np.std(x, axis=0, dtype=np.float64, ddof=1, keepdims=True)],
    "sum": [lambda x: np.sum(x), lambda x: np.sum(x, axis=0, dtype=np.float64, keepdims=True, where=True)],
    "swapaxes": [lambda x: np.swapaxes(x, 0, 1)],
    "take": [lambda x: np.take(x, [1, 2]), lambda x: np.take(x, [-7, 5], axis=1, mode="wrap")],
    "trace": [lambda x: np.trace(x), lambda x: np.trace(x, 1, dtype=np.float64)],
    "transpose": [lambda x: np.transpose(x), lambda x: np.transpose(x, (1, 0))],
    "var": [lambda x: np.var(x), lambda x: np.var(x, axis=0, correction=1)],
}


@pytest.mark.parametrize(("name", "call"), [(name, f) for name, calls in CALLS.items() for f in calls])
def test_numpys_functions_take_arrays(name: str, call: Callable[[Any], Any]) -> None:
    got, want = call(aio.asarray(REALS)), call(REALS)
    for g, w in zip(
        got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True
    ):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-6)
    if name not in ("nonzero", "diagonal", "ravel", "trace"):  # of which NumPy makes arrays of its own
        assert isinstance(got, aio.Array)
        assert got.dtype == want.dtype or got.dtype.kind == want.dtype.kind == "i"


def test_every_function_that_delegates_is_in_the_table() -> None:
    # Those whose first argument's method they call, by name, as one sees in the names of the method table.
    methods = {name for name in dir(np.ndarray) if not name.startswith("_") and callable(getattr(np.ndarray, name))}
    ours = {name for name in methods if hasattr(aio.Array, name) and hasattr(np, name)}
    # np.astype takes NumPy's own arrays only; these are no reductions or moves.
    assert ours - set(CALLS) == {"astype", "conj", "conjugate", "copy", "dot"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.sum(x, axis=0, out=np.zeros(4, np.float32)), r"sum: out= is not taken; a result is a new array"),
        (lambda x: np.sum(x, initial=1.0), r"sum: initial= is not taken"),
        (lambda x: np.mean(x, where=np.ones((3, 4), bool)), r"mean: where= is not taken; choose elements by aio.where"),
        (lambda x: np.any(x, where=False), r"any: where= is not taken"),
        (lambda x: np.var(x, mean=0.0), r"var: mean= is not taken"),
        (lambda x: x.argsort(order="field"), r"argsort: order= is not taken"),
        (lambda x: x.cumsum(0, None, np.zeros(3)), r"cumsum: out= is not taken"),
    ],
)
def test_what_has_no_meaning_here_is_refused_by_name(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(aio.asarray(REALS))


def test_unknown_orders_and_kinds_are_refused() -> None:
    x = aio.asarray(REALS)
    for call in (x.ravel, x.flatten, x.tobytes, x.copy):
        with pytest.raises(ValueError, match="order='B' is not known"):
            call(order="B")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="kind='bubble' is not known"):
        x.argsort(kind="bubble")
    with pytest.raises(ValueError, match="casting='safe' is not taken"):
        x.astype("int32", casting="safe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="takes a copy, and copy=False"):
        x.reshape(4, 3, copy=False)


@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3), (), (5,)])
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_orders(shape: tuple[int, ...], order: Any) -> None:
    value = np.arange(math.prod(shape)).reshape(shape)
    x = aio.asarray(value)
    assert_array_equal(np.asarray(x.ravel(order=order)), value.ravel(order=order))
    assert_array_equal(np.asarray(aio.ravel(x, order)), value.ravel(order=order))
    assert_array_equal(np.asarray(x.flatten(order)), value.flatten(order))
    assert x.tobytes(order) == value.tobytes(order)
    if order != "K":
        target = (*shape[::-1], 1)
        assert_array_equal(np.asarray(x.reshape(target, order=order)), value.reshape(target, order=order))
        assert_array_equal(np.asarray(aio.reshape(x, target, order)), value.reshape(target, order=order))
        traced = aio.jit(lambda v: aio.reshape(v, target, order))
        assert_array_equal(np.asarray(traced(x)), value.reshape(target, order=order))


def test_methods_of_positions() -> None:
    x, v = aio.asarray(REALS), aio.asarray(VECTOR)
    for got, want in zip(x.nonzero(), REALS.nonzero(), strict=True):
        assert_array_equal(np.asarray(got), want)
    assert_array_equal(np.asarray(v.searchsorted(4)), VECTOR.searchsorted(4))
    assert_array_equal(np.asarray(v.searchsorted([9, 0, 3], side="right")), VECTOR.searchsorted([9, 0, 3], "right"))
    assert_array_equal(
        np.asarray(v[::-1].searchsorted(3.5, sorter=aio.asarray([3, 2, 1, 0]))),
        VECTOR[::-1].searchsorted(3.5, sorter=[3, 2, 1, 0]),
    )
    assert_array_equal(np.asarray(x.repeat(aio.asarray([2, 0, 1]), 0)), REALS.repeat([2, 0, 1], 0))
    assert_array_equal(np.asarray(aio.jit(lambda a: a.repeat(2, axis=-1))(x)), REALS.repeat(2, -1))
    with pytest.raises(ValueError, match="nonzero: an array without axes"):
        aio.asarray(1.0).nonzero()


@pytest.mark.asyncio
async def test_methods_that_read_say_so() -> None:
    x = aio.asarray(REALS) + 1
    with aio.sync_reads("raise"):
        for read in (x.nonzero, x.tobytes):
            with pytest.raises(aio.errors.SyncReadError):
                read()


@pytest.mark.parametrize("mode", ["wrap", "clip"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_modes(mode: Any, dtype: str, axis: int | None) -> None:
    value = np.arange(24).reshape(2, 3, 4)
    places = np.array([5, -1, -7, 2, 100]).astype(dtype)
    x, at = aio.asarray(value), aio.asarray(places)
    want = value.take(places.astype(np.int64) if dtype == "uint64" else places, axis, mode=mode)
    if dtype == "uint64" and mode == "wrap":
        want = value.take([int(p) % (value.size if axis is None else value.shape[axis]) for p in places], axis)
    if dtype == "uint64" and mode == "clip":
        want = value.take(np.minimum(places, 99).astype(np.int64), axis, mode="clip")
    assert_array_equal(np.asarray(aio.take(x, at, axis, mode=mode)), want)
    assert_array_equal(np.asarray(x.take(at, axis, mode=mode)), want)
    assert_array_equal(np.asarray(aio.jit(lambda a, b: aio.take(a, b, axis, mode=mode))(x, at)), want)


def test_take_refuses_other_modes() -> None:
    with pytest.raises(ValueError, match="take: mode='fill' is not known; use 'wrap' or 'clip'"):
        aio.take(aio.arange(3), 1, mode="fill")  # type: ignore[arg-type]


# ---- Python's functions of numbers


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32", "float64", "bfloat16"])
def test_divmod(dtype: str) -> None:
    x = aio.asarray([7, 5, 0, 3], dtype=dtype)
    for quotient, rest in (divmod(x, 3), aio.jit(lambda v: divmod(v, 3))(x)):
        assert quotient.dtype == rest.dtype == x.dtype
        assert (quotient.tolist(), rest.tolist()) == ([2, 1, 0, 1], [1, 2, 0, 0])
    quotient, rest = divmod(7, x + 1)
    assert (quotient.tolist(), rest.tolist()) == ([0, 1, 7, 1], [7, 1, 0, 3])
    with pytest.raises(TypeError, match="unsupported operand"):
        divmod(x, "3")  # type: ignore[operator]


def test_round() -> None:
    x = aio.asarray([1.26, -0.5, 2.5, 1e6])
    assert round(x, 1).dtype == np.float32
    np.testing.assert_allclose(np.asarray(round(x, 1)), [1.3, -0.5, 2.5, 1e6], rtol=1e-6)
    assert round(x).dtype == np.int32
    assert round(x).tolist() == [1, 0, 2, 1000000]
    assert round(aio.asarray([15, 25]), -1).tolist() == np.round([15, 25], -1).tolist()
    assert aio.jit(lambda v: round(v, 1))(x).shape == (4,)


@pytest.mark.parametrize("function", [math.trunc, math.floor, math.ceil])
def test_whole_numbers(function: Callable[[Any], int]) -> None:
    for value in (2.5, -2.5, 7, True, 2.0**60):
        got = function(aio.asarray(value, dtype=None if value != 2.0**60 else "float64"))
        assert type(got) is int
        assert got == function(value)
    with pytest.raises(TypeError, match=rf"math\.{function.__name__}\(array\): needs an array of one element"):
        function(aio.ones(2))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_powers_modulo_a_number_are_exact(dtype: str) -> None:
    limits, source = np.iinfo(dtype), np.random.default_rng(0)
    base = source.integers(limits.min, limits.max, 60, dtype=dtype, endpoint=True)
    exponent = source.integers(0, min(int(limits.max), 10**6), 60).astype(dtype)
    modulus = source.integers(limits.min, limits.max, 60, dtype=dtype, endpoint=True)
    modulus[modulus == 0] = 3
    base[0], exponent[1], modulus[2:5] = limits.min, 0, (1, limits.max, limits.min or 2)
    want = [pow(int(a), int(b), int(c)) for a, b, c in zip(base, exponent, modulus, strict=True)]
    got = pow(aio.asarray(base), aio.asarray(exponent), aio.asarray(modulus))
    assert got.dtype == dtype
    assert got.tolist() == want
    for function in (lambda x: pow(x, 100, 97), aio.jit(lambda x: pow(x, 100, 97))):
        assert function(aio.asarray(base)).tolist() == [pow(int(a), 100, 97) for a in base]


def test_powers_modulo_a_number_take_their_arguments_as_python_does() -> None:
    x = aio.arange(5)
    assert pow(x, 2**64 - 1, 7).tolist() == [pow(v, 2**64 - 1, 7) for v in range(5)]
    assert pow(x, 2, -3).tolist() == [pow(v, 2, -3) for v in range(5)]
    assert pow(x, aio.asarray([[1], [2]]), 3).tolist() == [[pow(v, e, 3) for v in range(5)] for e in (1, 2)]
    for exponent, modulus, message in ((-1, 7, "exponent -1"), (2**64, 7, "exponent 184"), (2, 0, "must not be 0")):
        with pytest.raises(ValueError, match=message):
            pow(x, exponent, modulus)
    with pytest.raises(TypeError, match="pow: dtype float32 is not allowed"):
        pow(aio.ones(2), 2, 3)
    with pytest.raises(OverflowError, match="300 is out of bounds for int8"):
        pow(aio.asarray([1], dtype="int8"), 2, 300)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("sum", {"axis": "a"}),
        ("prod", {"axis": "a"}),
        ("mean", {"axis": 1.5}),
        ("var", {"axis": "a"}),
        ("std", {"axis": "a"}),
        ("max", {"axis": "a"}),
        ("min", {"axis": "a"}),
        ("argmax", {"axis": "a"}),
        ("argmin", {"axis": "a"}),
        ("any", {"axis": "a"}),
        ("all", {"axis": "a"}),
        ("cumsum", {"axis": 1.5}),
        ("cumprod", {"axis": 1.5}),
        ("argsort", {"axis": "a"}),
        ("squeeze", {"axis": "a"}),
        ("swapaxes", {"axis1": 0, "axis2": "a"}),
        ("round", {"decimals": 1.5}),
        ("diagonal", {"offset": 1.5}),
        ("trace", {"offset": 1.5}),
    ],
)
def test_methods_refuse_what_functions_refuse_in_the_same_words(method: str, arguments: dict[str, Any]) -> None:
    x = aio.ones((2, 2))
    with pytest.raises(TypeError, match=f"^{method}: .* is no integer") as of_method:
        getattr(x, method)(**arguments)
    with pytest.raises(TypeError) as of_function:
        getattr(aio, method)(x, **arguments)
    assert str(of_method.value) == str(of_function.value)
