"""Arguments that the standard takes by keyword only, by position: as an ordinary NumPy program gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

M = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]])
POSITIONS = np.array([[1, 0, 1]])

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda xp, x: xp.all(x > -3, 1),
    "any": lambda xp, x: xp.any(x > 3, 0),
    "argmax": lambda xp, x: xp.argmax(x, 1),
    "argmin": lambda xp, x: xp.argmin(x, 0),
    "argsort": lambda xp, x: xp.argsort(x, 0),
    "argsort flattened": lambda xp, x: xp.argsort(x, None),
    "asarray": lambda xp, x: xp.asarray([1, 2], np.float64),
    "bincount": lambda xp, x: xp.bincount(xp.asarray([0, 2, 2]), xp.asarray([1.0, 2.0, 3.0]), 5),
    "concat": lambda xp, x: xp.concat([x, x], 1),
    "count_nonzero": lambda xp, x: xp.count_nonzero(x, 1),
    "diff": lambda xp, x: xp.diff(x, 1, 0),
    "diff twice": lambda xp, x: xp.diff(x, 2),
    "empty": lambda xp, x: xp.empty((2, 0), np.int16),
    "eye": lambda xp, x: xp.eye(2, 3, 1, np.float64),
    "fft": lambda xp, x: xp.fft.fft(x, 4, 0, "ortho"),
    "fft as None": lambda xp, x: xp.fft.ifft(x, None, 1, None),
    "fftfreq": lambda xp, x: xp.fft.fftfreq(4, 0.5),
    "fftn": lambda xp, x: xp.fft.fftn(x, (2, 2), (0, 1)),
    "fftshift": lambda xp, x: xp.fft.fftshift(x, 1),
    "flip": lambda xp, x: xp.flip(x, 0),
    "full": lambda xp, x: xp.full((2,), 7, np.uint8),
    "full_like": lambda xp, x: xp.full_like(x, 7, np.uint8),
    "isclose": lambda xp, x: xp.isclose(x, x + 0.1, 0.0, 0.2),
    "linspace": lambda xp, x: xp.linspace(0, 1, 4, False),
    "linspace of 50": lambda xp, x: xp.linspace(0, 1),
    "max": lambda xp, x: xp.max(x, 0),
    "mean": lambda xp, x: xp.mean(x, (0, 1), np.float32),
    "min": lambda xp, x: xp.min(x, 1),
    "ones": lambda xp, x: xp.ones((2, 1), np.int64),
    "ones_like": lambda xp, x: xp.ones_like(x, np.int64),
    "pad": lambda xp, x: xp.pad(x, 1, "edge"),
    "prod": lambda xp, x: xp.prod(x, -1),
    "qr": lambda xp, x: abs(xp.linalg.qr(x, "complete")[1]),
    "repeat": lambda xp, x: xp.repeat(x, 2, 1),
    "roll": lambda xp, x: xp.roll(x, 1, 1),
    "searchsorted": lambda xp, x: xp.searchsorted(xp.asarray([1.0, 2.0]), xp.asarray([2.0]), "right"),
    "sort": lambda xp, x: xp.sort(x, 0),
    "sort flattened": lambda xp, x: xp.sort(x, None),
    "stack": lambda xp, x: xp.stack([x, x], 2),
    "std": lambda xp, x: xp.std(x, 0),
    "sum": lambda xp, x: xp.sum(x, 0, np.float32),
    "svd": lambda xp, x: xp.linalg.svd(x, False)[1],
    "take": lambda xp, x: xp.take(x, POSITIONS, 0),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, POSITIONS, 0),
    "tensordot": lambda xp, x: xp.tensordot(x, x, 2),
    "tril": lambda xp, x: xp.tril(x, -1),
    "triu": lambda xp, x: xp.triu(x, 1),
    "var": lambda xp, x: xp.var(x, 1),
    "var with ddof": lambda xp, x: xp.var(x, 1, ddof=1),
    "take flattened": lambda xp, x: xp.take(x, POSITIONS),
    "where": lambda xp, x: xp.where(x > 1)[1],
    "zeros": lambda xp, x: xp.zeros(3, np.int8),
    "zeros_like": lambda xp, x: xp.zeros_like(x, bool),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_numpy(name: str) -> None:
    got, expected = CALLS[name](aio, aio.asarray(M)), CALLS[name](np, M)
    assert isinstance(got, aio.Array)
    assert got.shape == expected.shape
    assert got.dtype.kind == expected.dtype.kind
    assert_allclose(np.asarray(got), expected, rtol=1e-6, atol=1e-6)


def test_correction_has_two_names_and_takes_one() -> None:
    x = aio.asarray(M)
    assert_array_equal(np.asarray(aio.std(x, ddof=1)), np.asarray(aio.std(x, correction=1)))
    assert_array_equal(np.asarray(x.std(ddof=1)), np.asarray(x.std(correction=1)))
    for function in (aio.var, aio.std, aio.Array.var, aio.Array.std):
        with pytest.raises(ValueError, match="both correction=1 and ddof=2"):
            function(x, correction=1, ddof=2)


def test_where_takes_one_argument_or_three() -> None:
    rows, columns = aio.where(aio.asarray([[0, 3], [5, 0]]))
    assert rows.tolist() == [0, 1]
    assert columns.tolist() == [1, 0]
    with pytest.raises(ValueError, match="where: one of x1 and x2 is None"):
        aio.where(aio.asarray([True]), 1, None)  # type: ignore[call-overload]


C = M + 1j * M[::-1]

METHODS: dict[str, Callable[[Any], Any]] = {
    "argsort": lambda x: x.argsort(0),
    "argsort flattened": lambda x: x.argsort(None),
    "clip": lambda x: x.clip(-1, 1.5),
    "clip by one": lambda x: x.clip(max=2),
    "copy": lambda x: x.copy(),
    "cumprod": lambda x: x.cumprod(1),
    "cumsum": lambda x: x.cumsum(0),
    "cumsum flattened": lambda x: x.cumsum(),
    "cumsum with a dtype": lambda x: x.cumsum(0, np.float32),
    "dot": lambda x: x.dot(x.T),
    "dot a number": lambda x: x.dot(2),
    "imag": lambda x: x.imag,
    "real": lambda x: x.real,
    "round": lambda x: (x / 3).round(1),
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "take": lambda x: x.take(POSITIONS, 0),
    "take flattened": lambda x: x.take(np.array([0, 5])),
    "view": lambda x: x.view(np.uint8),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_numpy(name: str) -> None:
    got, expected = METHODS[name](aio.asarray(M)), METHODS[name](M)
    assert isinstance(got, aio.Array)
    assert got.dtype.kind == expected.dtype.kind
    assert_allclose(np.asarray(got), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["imag", "real"])
def test_parts_of_complex_numbers(name: str) -> None:
    assert_array_equal(np.asarray(getattr(aio.asarray(C), name)), getattr(C, name))
    assert_array_equal(np.asarray(aio.asarray(C).conj()), C.conj())
    assert_array_equal(np.asarray(aio.asarray(C).conjugate()), C.conj())


def test_methods_launch_once_and_work_inside_jit() -> None:
    x = aio.asarray(M)
    for method in (aio.Array.cumsum, aio.Array.argsort, aio.Array.round):
        method(x).block_until_ready()
        before = aio.stats()["launched"]
        method(x).block_until_ready()
        assert aio.stats()["launched"] == before + 1
    f = aio.jit(lambda x: x.clip(0, 2).cumsum(1).real.dot(x.swapaxes(0, 1)).copy())
    assert_allclose(np.asarray(f(x)), M.clip(0, 2).cumsum(1).dot(M.T), rtol=1e-6)


def test_a_copy_keeps_its_value() -> None:
    x = aio.asarray(M)
    y = x.copy()
    x[0] = 0.0
    assert_array_equal(np.asarray(y), M)


def test_bounds_beyond_the_dtype_bound_nothing() -> None:
    x = aio.asarray(np.array([-128, 127], np.int8))
    assert x.clip(-1000, 1000).tolist() == [-128, 127]
