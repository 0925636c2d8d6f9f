"""The public linear algebra: named results, arguments, one launch for each call. ``_ops`` has the tests of values."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import linalg

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.random.default_rng(0).normal(size=(2, 3, 3))
POSITIVE = X @ X.swapaxes(1, 2) + np.eye(3)
RIGHT = np.arange(3.0)

CALLS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "cholesky": (lambda: linalg.cholesky(POSITIVE), lambda: np.linalg.cholesky(POSITIVE)),
    "cond": (lambda: linalg.cond(X), lambda: np.linalg.cond(X)),
    "cross": (lambda: linalg.cross(X, RIGHT), lambda: np.linalg.cross(X, np.broadcast_to(RIGHT, X.shape))),
    "det": (lambda: linalg.det(X), lambda: np.linalg.det(X)),
    "diagonal": (lambda: linalg.diagonal(X, offset=1), lambda: np.linalg.diagonal(X, offset=1)),
    "eigvalsh": (lambda: linalg.eigvalsh(POSITIVE, UPLO="U"), lambda: np.linalg.eigvalsh(POSITIVE)),
    "inv": (lambda: linalg.inv(X), lambda: np.linalg.inv(X)),
    "matmul": (lambda: linalg.matmul(X, X), lambda: X @ X),
    "matrix_norm": (lambda: linalg.matrix_norm(X, ord="nuc"), lambda: np.linalg.matrix_norm(X, ord="nuc")),
    "matrix_power": (lambda: linalg.matrix_power(X, -2), lambda: np.linalg.matrix_power(X, -2)),
    "matrix_rank": (lambda: linalg.matrix_rank(X, rtol=1e-3), lambda: np.linalg.matrix_rank(X, rtol=1e-3)),
    "matrix_transpose": (lambda: linalg.matrix_transpose(X), lambda: X.swapaxes(1, 2)),
    "norm": (lambda: linalg.norm(X, 1, (0, 1), True), lambda: np.linalg.norm(X, 1, (0, 1), True)),
    "outer": (lambda: linalg.outer(RIGHT, RIGHT), lambda: np.outer(RIGHT, RIGHT)),
    "pinv": (lambda: linalg.pinv(X, rtol=0.1), lambda: np.linalg.pinv(X, rtol=0.1)),
    "solve": (lambda: linalg.solve(X, RIGHT), lambda: np.linalg.solve(X, RIGHT)),
    "svdvals": (lambda: linalg.svdvals(X), lambda: np.linalg.svdvals(X)),
    "tensordot": (lambda: linalg.tensordot(X, X[0], axes=1), lambda: np.tensordot(X, X[0], 1)),
    "trace": (lambda: linalg.trace(X, dtype="float32"), lambda: np.linalg.trace(X, dtype="float32")),
    "vecdot": (lambda: linalg.vecdot(X, RIGHT), lambda: np.linalg.vecdot(X, RIGHT)),
    "vector_norm": (
        lambda: linalg.vector_norm(X, axis=[0, 2], ord=3),
        lambda: np.linalg.vector_norm(X, axis=(0, 2), ord=3),
    ),
}


@pytest.mark.parametrize("name", list(CALLS))
def test_one_launch_and_numpys_value(name: str) -> None:
    ours, theirs = CALLS[name]
    before = aio.stats()["enqueued"]
    value = ours()
    assert aio.stats()["enqueued"] - before == 1
    expected = theirs()
    assert value.shape == np.shape(expected)
    np.testing.assert_allclose(
        np.asarray(value), expected, rtol=1e-6 if value.dtype == np.float32 else 1e-9, atol=1e-12
    )


def test_named_results() -> None:
    q, r = factors = linalg.qr(X, mode="complete")
    assert factors._fields == ("Q", "R")
    np.testing.assert_allclose(np.asarray(q @ r), X, atol=1e-12)
    u, s, vh = linalg.svd(X, full_matrices=False)
    assert linalg.svd(X)._fields == ("U", "S", "Vh")
    np.testing.assert_allclose(np.asarray((u * s[:, None, :]) @ vh), X, atol=1e-12)
    values, vectors = linalg.eigh(POSITIVE)
    assert linalg.EighResult._fields == linalg.EigResult._fields == ("eigenvalues", "eigenvectors")
    np.testing.assert_allclose(np.asarray(POSITIVE @ vectors), np.asarray(vectors * values[:, None, :]), atol=1e-12)
    values, vectors = linalg.eig(X)
    np.testing.assert_allclose(np.asarray(X @ vectors), np.asarray(vectors * values[:, None, :]), atol=1e-12)
    np.testing.assert_allclose(np.asarray(linalg.eigvals(X)).sum(1), np.trace(X, axis1=1, axis2=2), atol=1e-12)
    sign, logarithm = linalg.slogdet(X)
    assert linalg.SlogdetResult._fields == ("sign", "logabsdet")
    np.testing.assert_allclose(np.asarray(sign * np.exp(np.asarray(logarithm))), np.linalg.det(X))
    solution = linalg.lstsq(X[0], RIGHT)
    np.testing.assert_allclose(np.asarray(solution.x), np.linalg.solve(X[0], RIGHT))
    assert int(solution.rank) == 3


def test_expm() -> None:
    np.testing.assert_allclose(np.asarray(linalg.expm(np.diag([0.0, 1.0]))), np.diag([1, np.e]))


def test_results_inside_jit() -> None:
    @aio.jit
    def whiten(x: aio.Array) -> Any:
        return linalg.eigh(x)

    result = whiten(aio.asarray(POSITIVE))
    assert isinstance(result, linalg.EighResult)
    np.testing.assert_allclose(np.asarray(result.eigenvalues), np.linalg.eigvalsh(POSITIVE))


def test_failures_are_values() -> None:
    assert np.isnan(np.asarray(linalg.cholesky(-POSITIVE))).all()
    assert not np.isfinite(np.asarray(linalg.inv(np.ones((2, 2))))).any()


def test_unknown_words() -> None:
    with pytest.raises(ValueError, match="eigh: UPLO='lower'"):
        linalg.eigh(X, UPLO="lower")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="qr: mode 'r'"):
        linalg.qr(X, mode="r")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ord 'two'"):
        linalg.matrix_norm(X, ord="two")  # type: ignore[arg-type]


def test_the_loop_goes_on_while_lapack_is_loaded_and_runs() -> None:
    async def run() -> int:
        x = aio.asarray(np.random.default_rng(1).normal(size=(300, 300)))
        task = asyncio.ensure_future(asyncio.wait_for(aio.ready(linalg.svd(x)), 100))
        turns = 0
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        assert (await task).S.shape == (300,)
        return turns

    assert asyncio.run(run()) > 1
