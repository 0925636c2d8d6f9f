"""Linear algebra definitions against NumPy (and SciPy's expm), and what they give where NumPy raises."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from aioarray._graph import Definition, Node, array_spec, input_node
from aioarray._ops import linalg, matrices, matrix_functions, norms, products
from tests._ops.evaluate import evaluate

INF, NAN = math.inf, math.nan
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
# Every dtype and every kind of stack, but not all of their pairs: compiling is what takes time here.
CASES = pytest.mark.parametrize(
    ("dtype", "stack"),
    [
        ("float32", (2,)),
        ("float64", ()),
        ("float64", (3, 2)),
        ("float64", (0,)),
        ("complex64", ()),
        ("complex128", (2,)),
    ],
)
TALL_WIDE = pytest.mark.parametrize("shape", [(5, 3), (3, 5)], ids=str)
VECTOR_ORDERS = (0, 1, 2, 3, 0.5, -1, -2.5, INF, -INF)
MATRIX_ORDERS: tuple[Any, ...] = ("fro", "nuc", 1, 2, -1, -2, INF, -INF)


def sample(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    value = generator.normal(size=shape)
    if dtype.startswith("complex"):
        return (value + 1j * generator.normal(size=shape)).astype(dtype)
    return value.astype(dtype)


def hermitian(stack: tuple[int, ...], dtype: str) -> np.ndarray:
    x = sample((*stack, 4, 4), dtype)
    return (x @ adjoint(x) + np.eye(4)).astype(dtype)


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().swapaxes(-1, -2)


def assert_close(value: np.ndarray, expected: Any) -> None:
    expected = np.asarray(expected)
    assert value.shape == expected.shape
    narrow = value.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(value, expected, rtol=2e-3 if narrow else 1e-9, atol=1e-4 if narrow else 1e-11)


@CASES
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(dtype: str, stack: tuple[int, ...], upper: bool) -> None:
    x = hermitian(stack, dtype)
    value = evaluate(linalg.cholesky, x, static=(upper,))
    assert value.dtype == x.dtype
    assert_close(value, adjoint(np.linalg.cholesky(x)) if upper else np.linalg.cholesky(x))


def test_cholesky_reads_one_triangle() -> None:
    x = hermitian((), "float64")
    lower, upper = (
        evaluate(linalg.cholesky, np.tril(x), static=(False,)),
        evaluate(linalg.cholesky, np.triu(x), static=(True,)),
    )
    assert_close(lower, np.linalg.cholesky(x))
    assert_close(upper, np.linalg.cholesky(x).T)


@CASES
def test_solve_inv_det(dtype: str, stack: tuple[int, ...]) -> None:
    a, b, vector = sample((*stack, 4, 4), dtype), sample((*stack, 4, 3), dtype, 1), sample((4,), dtype, 2)
    assert_close(evaluate(linalg.solve, a, b), np.linalg.solve(a, b))
    assert_close(evaluate(linalg.solve, a, vector), np.linalg.solve(a, vector))
    assert_close(evaluate(linalg.inv, a), np.linalg.inv(a))
    assert_close(evaluate(linalg.det, a), np.linalg.det(a))
    for value, expected in zip(evaluate(linalg.slogdet, a), np.linalg.slogdet(a), strict=True):
        assert_close(value, expected)


def test_solve_broadcasts() -> None:
    a, b = sample((2, 1, 4, 4), "float64"), sample((3, 4, 2), "float64", 1)
    assert_close(evaluate(linalg.solve, a, b), np.linalg.solve(a, b))


def test_every_order_of_rows() -> None:
    # A permutation matrix is inverted exactly, so a wrong exchange cannot hide behind a tolerance.
    x = np.stack([np.eye(5)[list(order)] for order in itertools.permutations(range(5))])
    np.testing.assert_array_equal(evaluate(linalg.inv, x), x.swapaxes(1, 2))
    np.testing.assert_array_equal(evaluate(linalg.det, x), np.round(np.linalg.det(x)))


@CASES
@TALL_WIDE
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(dtype: str, stack: tuple[int, ...], shape: tuple[int, int], mode: Any) -> None:
    x = sample((*stack, *shape), dtype)
    q, r = evaluate(linalg.qr, x, static=(mode,))
    expected_q, expected_r = np.linalg.qr(x, mode)
    assert (q.shape, r.shape) == (expected_q.shape, expected_r.shape)
    assert_close(q @ r, x)
    assert_close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*stack, q.shape[-1], q.shape[-1])))
    np.testing.assert_array_equal(r, np.triu(r))
    (alone,) = evaluate(linalg.qr, x, static=("r",))
    assert_close(alone, r[..., : min(shape), :])


@CASES
@TALL_WIDE
@pytest.mark.parametrize("full", [False, True])
def test_svd(dtype: str, stack: tuple[int, ...], shape: tuple[int, int], full: bool) -> None:
    x = sample((*stack, *shape), dtype)
    u, s, vh = evaluate(linalg.svd, x, static=(full,))
    expected = np.linalg.svd(x, full_matrices=full)
    assert (u.shape, vh.shape) == (expected[0].shape, expected[2].shape)
    assert s.dtype == np.array(0, dtype).real.dtype
    assert_close(s, expected[1])
    rank = min(shape)
    assert_close((u[..., :rank] * s[..., None, :]) @ vh[..., :rank, :], x)
    assert_close(evaluate(linalg.svdvals, x), expected[1])
    assert_close(evaluate(linalg.pinv, x, None), np.linalg.pinv(x))
    np.testing.assert_array_equal(evaluate(linalg.matrix_rank, x, None), np.full(stack, rank))


@CASES
@pytest.mark.parametrize("upper", [False, True])
def test_eigh(dtype: str, stack: tuple[int, ...], upper: bool) -> None:
    x = hermitian(stack, dtype)
    triangle = np.triu(x) if upper else np.tril(x)
    values, vectors = evaluate(linalg.eigh, triangle, static=(upper,))
    assert_close(values, np.linalg.eigvalsh(x))
    assert_close(x @ vectors, vectors * values[..., None, :])
    assert_close(evaluate(linalg.eigvalsh, triangle, static=(upper,)), np.linalg.eigvalsh(x))


@CASES
def test_eig(dtype: str, stack: tuple[int, ...]) -> None:
    x = sample((*stack, 4, 4), dtype)
    values, vectors = evaluate(linalg.eig, x)
    assert values.dtype == vectors.dtype == (x.astype(dtype) + 0j).dtype
    assert_close(x @ vectors, vectors * values[..., None, :])
    order = evaluate(linalg.eigvals, x)
    assert_close(np.sort_complex(order), np.sort_complex(values))
    assert_close(values.sum(-1), np.trace(x, axis1=-2, axis2=-1))


@DTYPES
def test_lstsq(dtype: str) -> None:
    a, b = sample((6, 3), dtype), sample((6, 2), dtype, 1)
    for value, expected in zip(evaluate(linalg.lstsq, a, b, None), np.linalg.lstsq(a, b, rcond=None), strict=True):
        assert_close(value, expected)
    vector = evaluate(linalg.lstsq, a, b[:, 0], None)
    assert_close(vector[0], np.linalg.lstsq(a, b[:, 0], rcond=None)[0])


def test_lstsq_of_deficient_rank_gives_the_shortest() -> None:
    a = np.array([[1.0, 1], [1, 1], [1, 1]])
    x, residuals, rank, _ = evaluate(linalg.lstsq, a, np.array([1.0, 2, 3]), None)
    assert_close(x, [1, 1])
    assert rank == 1
    assert residuals == pytest.approx(2)


def test_rank_and_pseudoinverse_with_tolerance() -> None:
    x = np.stack([np.diag([1.0, 1e-3]), np.diag([1.0, 1e-9])])
    np.testing.assert_array_equal(evaluate(linalg.matrix_rank, x, np.array([1e-6, 1e-6])), [2, 1])
    np.testing.assert_array_equal(evaluate(linalg.matrix_rank, x, np.array([1e-2, 1e-12])), [1, 2])
    assert_close(evaluate(linalg.pinv, x, np.array(1e-6)), [np.diag([1.0, 1e3]), np.diag([1.0, 0])])


def test_integers_and_narrow_dtypes() -> None:
    x = np.array([[2, 0], [0, 4]])
    assert evaluate(linalg.inv, x.astype(np.int32)).dtype == np.float32
    assert evaluate(linalg.inv, x.astype(np.int64)).dtype == np.float64
    assert_close(evaluate(linalg.inv, x), [[0.5, 0], [0, 0.25]])
    half = evaluate(linalg.svdvals, x.astype(np.float16))
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, [4, 2])


def test_singular_matrices() -> None:
    x = np.array([[[1.0, 2], [2, 4]], [[1, 0], [0, 2]]])
    assert not np.isfinite(evaluate(linalg.inv, x)[0]).any()
    np.testing.assert_array_equal(evaluate(linalg.inv, x)[1], [[1, 0], [0, 0.5]])
    determinants = evaluate(linalg.det, x)
    np.testing.assert_array_equal(determinants, [0, 2])
    assert not np.signbit(determinants).any()
    sign, logarithm = evaluate(linalg.slogdet, x)
    np.testing.assert_array_equal(sign, [0, 1])
    np.testing.assert_allclose(logarithm, [-INF, math.log(2)])


def test_one_indefinite_matrix_is_nan_and_leaves_the_others() -> None:
    x = np.stack([np.eye(2), -np.eye(2)])
    value = evaluate(linalg.cholesky, x, static=(False,))
    np.testing.assert_array_equal(value, [np.eye(2), np.full((2, 2), NAN)])


@pytest.mark.parametrize("bad", [NAN, INF])
def test_values_that_are_not_finite(bad: float, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.stack([np.eye(3), np.eye(3)])
    x[1, 0, 1] = x[1, 1, 0] = bad
    results = [
        evaluate(linalg.svdvals, x),
        evaluate(linalg.svd, x, static=(False,))[0],
        evaluate(linalg.eigvalsh, x, static=(False,)),
        evaluate(linalg.eigh, x, static=(False,))[1],
        evaluate(linalg.eig, x)[0].real,
        evaluate(linalg.pinv, x, None),
        evaluate(matrix_functions.expm, x),
    ]
    for value in results:
        assert np.isfinite(value[0]).all()
        assert np.isnan(value[1]).all()
    assert "illegal value" not in capfd.readouterr().err


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3), (3, 0), (2, 0, 3)], ids=str)
def test_no_elements(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape)
    for value, expected in zip(evaluate(linalg.svd, x, static=(True,)), np.linalg.svd(x), strict=True):
        assert_close(value, expected)
    for value, expected in zip(evaluate(linalg.qr, x, static=("complete",)), np.linalg.qr(x, "complete"), strict=True):
        assert value.shape == expected.shape
    assert_close(evaluate(linalg.pinv, x, None), np.linalg.pinv(x))
    np.testing.assert_array_equal(evaluate(linalg.matrix_rank, x, None), np.zeros(shape[:-2]))
    if shape[-1] == shape[-2]:
        assert_close(evaluate(linalg.det, x), np.linalg.det(x))
        assert_close(evaluate(linalg.inv, x), x)
        assert_close(evaluate(linalg.eigh, x, static=(False,))[0], np.zeros(shape[:-1]))
        assert_close(evaluate(linalg.eig, x)[0], np.zeros(shape[:-1]))
        assert_close(evaluate(matrix_functions.expm, x), x)


def together(definition: Definition, statics: list[tuple[Any, ...]], *arrays: np.ndarray) -> list[np.ndarray]:
    """``definition`` for each of ``statics``, compiled as one program."""

    def body(*inputs: Node) -> tuple[Node, ...]:
        return tuple(definition(*inputs, *static) for static in statics)

    return list(evaluate(Definition("together", body), *arrays))


@DTYPES
def test_vector_norm(dtype: str) -> None:
    x = sample((2, 3, 4), dtype)
    whole = together(norms.vector_norm, [(None, False, order) for order in VECTOR_ORDERS], x)
    parts = together(norms.vector_norm, [((0, 2), True, order) for order in VECTOR_ORDERS], x)
    for order, all_of_it, along in zip(VECTOR_ORDERS, whole, parts, strict=True):
        assert_close(all_of_it, np.linalg.vector_norm(x, ord=order))
        assert_close(along, np.linalg.vector_norm(x, axis=(0, 2), keepdims=True, ord=order))
        assert along.dtype == np.array(0, dtype).real.dtype


@DTYPES
def test_matrix_norm_and_cond(dtype: str) -> None:
    x = sample((2, 3, 4), dtype)
    square = x[:, :, :3]
    kept = together(norms.matrix_norm, [(True, order) for order in MATRIX_ORDERS], x)
    others = together(norms.norm, [(order, (0, 2), False) for order in MATRIX_ORDERS], x)
    conditions = together(norms.cond, [(order,) for order in MATRIX_ORDERS], square)
    for order, norm, along, condition in zip(MATRIX_ORDERS, kept, others, conditions, strict=True):
        assert_close(norm, np.linalg.matrix_norm(x, keepdims=True, ord=order))
        assert_close(along, np.linalg.norm(x, order, (0, 2)))
        if order != "nuc":  # of a stack NumPy has no such condition number
            assert_close(condition, np.linalg.cond(square, order))


def test_norm_of_everything() -> None:
    x = sample((2, 3, 4), "float64")
    assert_close(evaluate(norms.norm, x, static=(None, None, False)), np.linalg.norm(x))
    assert_close(evaluate(norms.norm, x[0, 0], static=(1, None, False)), np.linalg.norm(x[0, 0], 1))


def test_cond_of_singular_and_nan() -> None:
    assert evaluate(norms.cond, np.ones((2, 2)), static=(1,)) == INF
    assert np.isnan(evaluate(norms.cond, np.full((2, 2), NAN), static=(2,)))


@DTYPES
def test_matrix_power(dtype: str) -> None:
    x = sample((2, 3, 3), dtype)
    exponents = [0, 1, 2, 5, -1, -3]
    values = together(matrix_functions.matrix_power, [(n,) for n in exponents], x)
    for n, value in zip(exponents, values, strict=True):
        assert_close(value, np.linalg.matrix_power(x, n))


def test_matrix_power_of_integers_is_exact() -> None:
    x = np.array([[1, 1], [1, 0]])
    assert evaluate(matrix_functions.matrix_power, x, static=(60,)).tolist() == [
        [2504730781961, 1548008755920],
        [1548008755920, 956722026041],
    ]


@DTYPES
def test_expm(dtype: str) -> None:
    scipy_linalg = pytest.importorskip("scipy.linalg", reason="SciPy's expm is what this compares with")
    scales = np.array([1e-3, 1, 10]).reshape(3, 1, 1)
    x = (sample((3, 3, 3), dtype) * scales).astype(dtype)
    expected = np.stack([scipy_linalg.expm(matrix.astype(np.complex128)) for matrix in x])
    value = evaluate(matrix_functions.expm, x)
    assert value.dtype == x.dtype
    size = np.abs(expected).max((1, 2), keepdims=True)
    assert_close(value / size.astype(value.real.dtype), expected / size)


def test_expm_scales_each_matrix_for_itself() -> None:
    x = np.stack([np.zeros((2, 2)), np.diag([1.0, 30.0]), np.array([[0, 1.0], [0, 0]])])
    expected = np.stack([np.eye(2), np.diag(np.exp([1.0, 30.0])), np.array([[1.0, 1], [0, 1]])])
    np.testing.assert_allclose(evaluate(matrix_functions.expm, x), expected, rtol=1e-12)


@DTYPES
def test_cross(dtype: str) -> None:
    x, y = sample((4, 3), dtype), sample((5, 1, 3), dtype, 1)
    assert_close(evaluate(products.cross, x, y, static=(-1,)), np.linalg.cross(x, y))
    assert_close(evaluate(products.cross, x.T, 2 * x.T[::-1], static=(0,)), np.linalg.cross(x.T, 2 * x.T[::-1], axis=0))


def test_diagonal_and_trace() -> None:
    x = sample((2, 3, 4), "float64")
    offsets = [-4, -2, 0, 1, 3, 9]
    diagonals = together(matrices.diagonal, [(offset,) for offset in offsets], x)
    traces = together(matrices.trace, [(offset, None) for offset in offsets], x)
    for offset, diagonal, trace in zip(offsets, diagonals, traces, strict=True):
        np.testing.assert_array_equal(diagonal, np.linalg.diagonal(x, offset=offset))
        assert_close(trace, np.linalg.trace(x, offset=offset))


def test_trace_dtype() -> None:
    x = np.eye(3, dtype=np.int8) * 100
    assert evaluate(matrices.trace, x, static=(0, None)) == 300
    assert evaluate(matrices.trace, x, static=(0, np.dtype("float64"))).dtype == np.float64


def nodes(*shapes: tuple[int, ...]) -> list[Node]:
    return [input_node(array_spec(shape, np.dtype("float32"))) for shape in shapes]


@pytest.mark.parametrize(
    ("definition", "shapes", "static", "error", "message"),
    [
        (linalg.inv, [(3,)], (), ValueError, "inv: shape \\(3,\\) has fewer than 2 axes"),
        (linalg.inv, [(2, 3)], (), ValueError, "must be of one length"),
        (linalg.eig, [(2, 3)], (), ValueError, "eig"),
        (linalg.solve, [(2, 2), ()], (), ValueError, "x2 has no axes"),
        (linalg.solve, [(2, 2), (3, 2)], (), ValueError, "2 unknowns and 3 rows"),
        (linalg.solve, [(2, 2, 2), (3, 2, 1)], (), ValueError, "cannot be broadcast"),
        (linalg.qr, [(2, 2)], ("raw",), ValueError, "mode 'raw'"),
        (linalg.lstsq, [(2, 2), (3,), ()], (), ValueError, "lstsq"),
        (linalg.matrix_rank, [(2, 2), (4,)], (), ValueError, "rtol of shape"),
        (norms.vector_norm, [(2,)], (None, False, "fro"), ValueError, "ord 'fro'"),
        (norms.vector_norm, [(2,)], (1, False, 2), IndexError, "axis 1"),
        (norms.matrix_norm, [(2, 2)], (False, 3), ValueError, "ord 3"),
        (norms.norm, [(2, 2, 2)], (2, None, False), ValueError, "name one axis"),
        (norms.norm, [(2, 2, 2)], (2, (0, 1, 2), False), ValueError, "3 axes"),
        (products.cross, [(2,), (3,)], (-1,), ValueError, "has length 2; it takes 3"),
        (matrix_functions.matrix_power, [(2, 3)], (2,), ValueError, "square"),
        (matrices.diagonal, [(2,)], (0,), ValueError, "fewer than 2"),
    ],
)
def test_errors(
    definition: Definition, shapes: list[tuple[int, ...]], static: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        definition(*nodes(*shapes), *static)


def test_booleans_count_as_numbers() -> None:
    assert evaluate(linalg.det, np.eye(2, dtype=bool)) == 1
