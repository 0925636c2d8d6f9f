"""NumPy's everyday functions: launches, static sizes, and errors at the call (values: see `tests/properties`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

X = aio.asarray(np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32))
V = aio.asarray([3.0, 1.0, 2.0, 1.0])

ONE_LAUNCH: dict[str, Callable[[], Any]] = {
    "array_split": lambda: aio.array_split(X, 3),
    "average": lambda: aio.average(X, weights=X),
    "column_stack": lambda: aio.column_stack([X, X]),
    "convolve": lambda: aio.convolve(V, V),
    "corrcoef": lambda: aio.corrcoef(X),
    "cov": lambda: aio.cov(X),
    "diag": lambda: aio.diag(V, 1),
    "digitize": lambda: aio.digitize(X, V),
    "gradient": lambda: aio.gradient(X),
    "histogram": lambda: aio.histogram(X, 5),
    "i0": lambda: aio.i0(X),
    "interp": lambda: aio.interp(X, V, V),
    "kron": lambda: aio.kron(X, X),
    "lexsort": lambda: aio.lexsort((V, V)),
    "median": lambda: aio.median(X, 1),
    "nanvar": lambda: aio.nanvar(X),
    "quantile": lambda: aio.quantile(X, [0.1, 0.5]),
    "rot90": lambda: aio.rot90(X),
    "select": lambda: aio.select([X > 0], [X]),
    "trapezoid": lambda: aio.trapezoid(X),
    "unravel_index": lambda: aio.unravel_index(aio.asarray([1, 2]), (2, 3)),
}
# What the arguments themselves take.
ARGUMENTS = {"select": 1}


@pytest.mark.parametrize("name", ONE_LAUNCH)
def test_one_launch_a_call(name: str) -> None:
    before = aio.stats()["enqueued"]
    aio.block_until_ready(ONE_LAUNCH[name]())
    assert aio.stats()["enqueued"] - before == 1 + ARGUMENTS.get(name, 0)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: aio.unique(x, size=4), [1, 2, 3, 1]),
        (lambda x: aio.unique(x, return_counts=True, size=3)[1], [2, 1, 1]),
        (lambda x: aio.union1d(x, aio.asarray([9.0]), size=4), [1, 2, 3, 9]),
        (lambda x: aio.intersect1d(x, aio.asarray([3.0, 1.0, 7.0]), size=3, fill_value=-1), [1, 3, -1]),
        (lambda x: aio.setdiff1d(x, aio.asarray([3.0]), size=3), [1, 2, 0]),
        (lambda x: aio.compress(x > 1, x, size=3, fill_value=-1), [3, 2, -1]),
        (lambda x: aio.extract(x > 1, x, size=2), [3, 2]),
        (lambda x: aio.flatnonzero(x > 1, size=3, fill_value=-1), [0, 2, -1]),
    ],
)
def test_static_sizes_inside_jit(call: Callable[[aio.Array], aio.Array], expected: list[float]) -> None:
    assert aio.jit(call)(V).tolist() == expected


def test_nan_are_one_value_or_several() -> None:
    x = aio.asarray([aio.nan, 1.0, aio.nan])
    assert aio.unique(x).shape == (2,)
    assert aio.unique(x, equal_nan=False).shape == (3,)
    assert_array_equal(np.asarray(aio.unique(x, return_counts=True, size=2)[1]), [1, 2])


def test_lists_are_arrays_of_numbers() -> None:
    assert float(aio.median([3, 1, 2])) == 2
    assert aio.select([[True, False]], [[1, 2]], 7).tolist() == [1, 7]
    assert aio.ediff1d([1, 4], to_end=[1, 2]).tolist() == [3, 1, 2]


def test_grids() -> None:
    assert_allclose(np.asarray(aio.mgrid[0:3, 1:2:5j]), np.mgrid[0:3, 1:2:5j])
    assert_array_equal(np.asarray(aio.mgrid[0:3]), np.arange(3))
    assert [v.shape for v in aio.ogrid[0:3, 1:7:2]] == [(3, 1), (1, 3)]
    assert repr(aio.ogrid) == "aioarray.ogrid"
    # Beyond what is made on the host.
    assert_allclose(np.asarray(aio.logspace(0, 3, 20000)), np.logspace(0, 3, 20000), rtol=1e-6)
    assert_allclose(np.asarray(aio.geomspace(1, 1000, 20000)), np.geomspace(1, 1000, 20000), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: aio.split(X, 5), ValueError, "use array_split"),
        (lambda: aio.split(X, 0), ValueError, "1 or more"),
        (lambda: aio.vsplit(V, 2), ValueError, "vsplit: shape .* has fewer than 2 axes"),
        (lambda: aio.hstack([]), ValueError, "hstack: no arrays given"),
        (lambda: aio.quantile(X, 1.5), ValueError, "quantile: q=1.5 is out of range"),
        (lambda: aio.quantile(X, 0.5, method="best"), ValueError, "method='best' is not known"),
        (lambda: aio.median(aio.asarray([1j])), TypeError, "median: dtype complex64"),
        (lambda: aio.median(X, 2), IndexError, "median: axis 2"),
        (lambda: aio.histogram(X, 0), ValueError, "bins=0"),
        (lambda: aio.histogram(X, range=(1, 0)), ValueError, "range="),
        (lambda: aio.histogram(X, weights=V), ValueError, "4 weights for 24 elements"),
        (lambda: aio.interp(X, V, X), ValueError, "interp: xp of shape"),
        (lambda: aio.gradient(X, edge_order=3), ValueError, "edge_order=3"),
        (lambda: aio.gradient(X, 1.0, 2.0, 3.0), TypeError, "3 distances for 2 axes"),
        (lambda: aio.convolve(X, V), ValueError, "convolve: an array has shape"),
        (lambda: aio.correlate(V, V, "most"), ValueError, "mode='most'"),
        (lambda: aio.select([X], [X]), TypeError, "conditions are bool"),
        (lambda: aio.select([X > 0], []), ValueError, "1 conditions and 0 choices"),
        (lambda: aio.choose(V, [V]), TypeError, "choose: x has dtype float32"),
        (lambda: aio.compress(X > 0, X), ValueError, "compress: condition of shape"),
        (lambda: aio.average(X, weights=V), ValueError, "average: weights of shape"),
        (lambda: aio.cov(X, fweights=V), ValueError, "fweights have shape"),
        (lambda: aio.partition(V, 4), ValueError, "kth=4"),
        (lambda: aio.lexsort([]), ValueError, "no keys"),
        (lambda: aio.unravel_index(V, (2, 2)), TypeError, "it takes integers"),
        (lambda: aio.ravel_multi_index((V,), (2, 2)), ValueError, "1 arrays of positions for 2 axes"),
        (lambda: aio.geomspace(0, 1), ValueError, "lead to or from 0"),
        (lambda: aio.vdot(V, X), ValueError, "vdot: shapes"),
        (lambda: aio.inner(V, X), ValueError, "inner: the last axes"),
        (lambda: aio.i0(aio.asarray([1j])), TypeError, "i0: dtype complex64"),
        (lambda: aio.mgrid[1], TypeError, "is no slice"),
    ],
)
def test_errors_at_the_call(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    before = aio.stats()["launched"]
    with pytest.raises(error, match=message):
        call()
    assert aio.stats()["launched"] - before <= 1  # the argument X > 0
