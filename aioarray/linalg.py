"""Linear algebra: the array API standard's extension, NumPy's ``cond``, ``lstsq`` and ``norm``, SciPy's ``expm``.

All functions take stacks of matrices, in the last two axes. They are LAPACK's algorithms, in float32, float64,
complex64 or complex128; integers become real numbers, float16 and bfloat16 are computed in float32 and
rounded once.

No function raises for the values of a matrix, since values are not known when it returns. Where NumPy raises
``LinAlgError``, because a matrix is not positive definite, an iteration does not converge or a matrix holds inf or NaN,
the results of that matrix are NaN. The inverse of a singular matrix holds inf or NaN, its determinant is 0. Shapes that
do not fit raise ``ValueError``, wrong dtypes ``TypeError``.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Literal, NamedTuple, SupportsIndex, TypeAlias

from ._array import ArrayLike, as_array, call, fused
from ._dispatch.arguments import DTypeLike, axes_of, axis_of, dtype_of
from ._functions.axes import matrix_transpose
from ._functions.manipulation import permute_dims, reshape
from ._functions.products import matmul, tensordot, vecdot
from ._ops import linalg as decompositions
from ._ops import matrices, matrix_functions, norms, products
from ._ops._rules import normalize_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._array import Array

__all__ = [
    "EigResult",
    "EighResult",
    "LstsqResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

MatrixOrder: TypeAlias = int | float | Literal["fro", "nuc"]
Triangle: TypeAlias = Literal["L", "U"]


class EigResult(NamedTuple):
    """Eigenvalues ``(..., M)`` and eigenvectors in the columns of ``(..., M, M)``.

    >>> aio.linalg.eig(aio.eye(2)).eigenvalues
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues ``(..., M)``, in ascending order, and eigenvectors in the columns of ``(..., M, M)``.

    >>> aio.linalg.eigh(aio.eye(2)).eigenvalues
    Array([1., 1.], dtype=float32)
    """

    eigenvalues: Array
    eigenvectors: Array


class LstsqResult(NamedTuple):
    """The solution, the sums of squares that are left, the rank, and the singular values of the matrix.

    >>> int(aio.linalg.lstsq(aio.eye(2), aio.ones(2)).rank)
    2
    """

    x: Array
    residuals: Array
    rank: Array
    singular_values: Array


class QRResult(NamedTuple):
    """Q with orthonormal columns, R upper triangular.

    >>> aio.linalg.qr(aio.ones((3, 2))).R.shape
    (2, 2)
    """

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """Sign, or phase, of determinants, and the logarithms of their absolute values.

    >>> float(aio.linalg.slogdet(aio.eye(2)).logabsdet)
    0.0
    """

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """U, the singular values in descending order, and the conjugate transpose of V.

    >>> aio.linalg.svd(aio.ones((3, 2))).S.shape
    (2,)
    """

    U: Array
    S: Array
    Vh: Array


def _upper(function: str, triangle: str) -> bool:
    if triangle not in ("L", "U"):
        raise ValueError(f"{function}: UPLO={triangle!r} is not known; use 'L' or 'U'")
    return triangle == "U"


# ---- Decompositions


def cholesky(x: ArrayLike, /, *, upper: bool = False) -> Array:
    """The lower triangular L with ``L @ conj(L).mT == x``, or with ``upper`` the U with ``conj(U).mT @ U == x``.

    Of ``x``, Hermitian and positive definite, only that triangle is read.
    NaN where it is not positive definite. ``ValueError`` unless the last two axes are of one length.

    >>> aio.linalg.cholesky(aio.asarray([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    return call(decompositions.cholesky, (x,), bool(upper))


def qr(x: ArrayLike, /, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Q and R with ``Q @ R == x``: for ``(..., M, N)``, Q has min(M, N) columns, or M of them in mode "complete".

    ``ValueError`` for arrays of fewer than 2 axes.

    >>> q, r = aio.linalg.qr(aio.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> bool(aio.all(aio.abs(q @ r - aio.asarray([[3.0, 1.0], [4.0, 2.0]])) < 1e-5))
    True
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode {mode!r} is not known; use 'reduced' or 'complete'")
    return QRResult(*call(decompositions.qr, (x,), mode))


def svd(x: ArrayLike, /, full_matrices: bool = True) -> SVDResult:
    """U, S and Vh with ``(U * S[..., None, :]) @ Vh == x``.

    Of ``(..., M, N)``, U is ``(..., M, M)`` and Vh ``(..., N, N)``; without ``full_matrices`` they have min(M, N)
    columns and rows instead, and only then does the product above fit. ``ValueError`` for arrays of fewer than 2 axes.

    >>> u, s, vh = aio.linalg.svd(aio.asarray([[3.0, 0.0], [0.0, 4.0]]), full_matrices=False)
    >>> s
    Array([4., 3.], dtype=float32)
    """
    return SVDResult(*call(decompositions.svd, (x,), bool(full_matrices)))


def svdvals(x: ArrayLike, /) -> Array:
    """The singular values ``(..., min(M, N))``, in descending order.

    ``ValueError`` for arrays of fewer than 2 axes.

    >>> aio.linalg.svdvals(aio.asarray([[3.0, 0.0], [0.0, 4.0]]))
    Array([4., 3.], dtype=float32)
    """
    return call(decompositions.svdvals, (x,))


def eigh(x: ArrayLike, /, UPLO: Triangle = "L") -> EighResult:
    """Eigenvalues and eigenvectors of real symmetric or complex Hermitian matrices, of which one triangle is read.

    >>> aio.linalg.eigh(aio.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    return EighResult(*call(decompositions.eigh, (x,), _upper("eigh", UPLO)))


def eigvalsh(x: ArrayLike, /, UPLO: Triangle = "L") -> Array:
    """The eigenvalues of symmetric or Hermitian matrices, in ascending order.

    >>> aio.linalg.eigvalsh(aio.asarray([[2.0, 0.0], [0.0, 1.0]]))
    Array([1., 2.], dtype=float32)
    """
    return call(decompositions.eigvalsh, (x,), _upper("eigvalsh", UPLO))


def eig(x: ArrayLike, /) -> EigResult:
    """Eigenvalues, in no order, and eigenvectors of square matrices; both are complex, whatever the matrix.

    >>> aio.linalg.eig(aio.asarray([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    return EigResult(*call(decompositions.eig, (x,)))


def eigvals(x: ArrayLike, /) -> Array:
    """The eigenvalues of square matrices, complex, in no order.

    >>> aio.linalg.eigvals(aio.asarray([[0.0, 1.0], [-1.0, 0.0]]))
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    return call(decompositions.eigvals, (x,))


# ---- Equations, inverses, determinants


def solve(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x`` with ``x1 @ x == x2``. ``x2`` of one axis is a vector, else matrices ``(..., M, K)``; stacks broadcast.

    >>> aio.linalg.solve(aio.asarray([[2.0, 0.0], [0.0, 4.0]]), aio.asarray([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    return call(decompositions.solve, (x1, x2))


def inv(x: ArrayLike, /) -> Array:
    """Inverse matrices; of a singular one inf and NaN.

    >>> aio.linalg.inv(aio.asarray([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return call(decompositions.inv, (x,))


def pinv(x: ArrayLike, /, *, rtol: ArrayLike | None = None) -> Array:
    """Moore-Penrose inverses ``(..., N, M)`` of ``(..., M, N)``.

    Singular values up to ``rtol`` times the largest count as 0; ``rtol`` broadcasts to the stack, and is by default
    ``max(M, N)`` times the dtype's epsilon.

    >>> aio.linalg.pinv(aio.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    return call(decompositions.pinv, (x, rtol))


def lstsq(a: ArrayLike, b: ArrayLike, /, rcond: ArrayLike | None = None) -> LstsqResult:
    """The shortest ``x`` that minimises the norm of ``b - a @ x``, for a matrix ``(M, N)`` and ``(M,)`` or ``(M, K)``.

    Singular values up to ``rcond`` times the largest count as 0, by default as in ``pinv``. The residuals are always
    there, ``()`` or ``(K,)``, where NumPy leaves them out if the rank is below N.

    >>> a = aio.asarray([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> aio.linalg.lstsq(a, aio.asarray([1.0, 3.0, 5.0])).x.shape
    (2,)
    """
    return LstsqResult(*call(decompositions.lstsq, (a, b, rcond)))


def det(x: ArrayLike, /) -> Array:
    """Determinants of square matrices.

    >>> aio.linalg.det(aio.asarray([[2.0, 0.0], [0.0, 4.0]]))
    Array(8., dtype=float32)
    """
    return call(decompositions.det, (x,))


def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """Sign and logarithm of the absolute value of determinants, which might overflow; 0 and -inf if singular.

    ``ValueError`` unless the last two axes are of one length.

    >>> float(aio.linalg.slogdet(aio.asarray([[0.0, 1.0], [1.0, 0.0]])).sign)
    -1.0
    """
    return SlogdetResult(*call(decompositions.slogdet, (x,)))


def matrix_rank(x: ArrayLike, /, *, rtol: ArrayLike | None = None) -> Array:
    """How many singular values are greater than ``rtol`` (by default as in ``pinv``) times the largest.

    >>> aio.linalg.matrix_rank(aio.ones((2, 3)))
    Array(1, dtype=int32)
    """
    return call(decompositions.matrix_rank, (x, rtol))


# ---- Functions of matrices


def matrix_power(x: ArrayLike, n: SupportsIndex, /) -> Array:
    """The product of ``n`` times the square matrix ``x``; 0 gives the identity, a negative number the inverse's power.

    >>> aio.linalg.matrix_power(aio.asarray([[1, 1], [1, 0]]), 10)
    Array([[89, 55],
           [55, 34]], dtype=int32)
    """
    return call(matrix_functions.matrix_power, (x,), operator.index(n))


def expm(x: ArrayLike, /) -> Array:
    """Exponentials of square matrices, by scaling and squaring (Higham 2005).

    >>> aio.linalg.expm(aio.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return call(matrix_functions.expm, (x,))


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: SupportsIndex = -1) -> Array:
    """Cross products of the vectors along ``axis``, which has length 3; the other axes broadcast.

    >>> aio.linalg.cross(aio.asarray([1, 0, 0]), aio.asarray([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    return call(products.cross, (x1, x2), axis_of("cross", axis))


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The matrix of all products of an element of the vector ``x1`` with one of the vector ``x2``.

    >>> aio.linalg.outer(aio.asarray([1, 2]), aio.asarray([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    return call(products.outer, (x1, x2))


def diagonal(x: ArrayLike, /, *, offset: SupportsIndex = 0) -> Array:
    """Diagonals of matrices, above the main one for a positive ``offset``, below for a negative one.

    >>> aio.linalg.diagonal(aio.asarray([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return call(matrices.diagonal, (x,), operator.index(offset))


def trace(x: ArrayLike, /, *, offset: SupportsIndex = 0, dtype: DTypeLike | None = None) -> Array:
    """Sums of diagonals, in ``dtype``, by default that of ``sum``.

    >>> aio.linalg.trace(aio.asarray([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    static = (operator.index(offset), dtype_of(dtype))
    return call(matrices.trace, (x,), *static)


# ---- Norms


def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Array:
    """Norms of the vectors along ``axis``; several axes, or None for all, count as one.

    ``ord`` is any number: the root of that order of the sum of the powers of absolute values; 0 counts what is not 0,
    inf and -inf give the greatest and the least absolute value.

    >>> aio.linalg.vector_norm(aio.asarray([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    static = (axes_of("vector_norm", axis), bool(keepdims), ord)
    return call(norms.vector_norm, (x,), *static)


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: MatrixOrder = "fro") -> Array:
    """Norms of matrices: "fro" (Frobenius), "nuc" (nuclear), 1, 2, inf, or with a minus sign the least instead.

    >>> aio.linalg.matrix_norm(aio.asarray([[3.0, 0.0], [0.0, 4.0]]))
    Array(5., dtype=float32)
    """
    return call(norms.matrix_norm, (x,), bool(keepdims), ord)


def norm(
    x: ArrayLike,
    /,
    ord: MatrixOrder | None = None,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
) -> Array:
    """NumPy's norm: of all elements, of the vectors along one axis, or of the matrices in two.

    >>> aio.linalg.norm(aio.ones((2, 2)))
    Array(2., dtype=float32)
    """
    return call(norms.norm, (x,), ord, axes_of("norm", axis), bool(keepdims))


def cond(x: ArrayLike, /, p: MatrixOrder | None = None) -> Array:
    """Condition numbers: the norm of order ``p`` (by default 2) times that of the inverse; inf if singular.

    >>> aio.linalg.cond(aio.asarray([[4.0, 0.0], [0.0, 2.0]]))
    Array(2., dtype=float32)
    """
    return call(norms.cond, (x,), p)


@fused(sequences=("arrays",))
def multi_dot(arrays: Sequence[ArrayLike], /) -> Array:
    """The product of two matrices or more, in the order of products that takes the fewest operations.

    The first and the last may be vectors, a row and a column. Dtypes promote. ``ValueError`` for fewer than two, other
    numbers of axes, and lengths that differ.

    >>> a, b, c = aio.ones((10, 2)), aio.ones((2, 10)), aio.ones((10, 3))
    >>> aio.linalg.multi_dot([a, b, c]).shape
    (10, 3)
    """
    matrices_ = [as_array("multi_dot", x) for x in arrays]
    if len(matrices_) < 2:
        raise ValueError(f"multi_dot: {len(matrices_)} arrays given; it takes at least two")
    row, column = matrices_[0].ndim == 1, matrices_[-1].ndim == 1
    if row:
        matrices_[0] = matrices_[0][None, :]
    if column:
        matrices_[-1] = matrices_[-1][:, None]
    for x in matrices_:
        if x.ndim != 2:
            raise ValueError(f"multi_dot: an array of shape {x.shape}; it takes matrices, and vectors at both ends")
    result = _product(matrices_, _splits([matrices_[0].shape[0], *(x.shape[1] for x in matrices_)]), 0, len(matrices_))
    if row:
        result = result[0]
    return result[..., 0] if column else result


def _splits(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Where each run of matrices is best split, by dynamic programming (Cormen et al., section 14.2)."""
    count = len(lengths) - 1
    cost = {(i, i + 1): 0 for i in range(count)}
    best: dict[tuple[int, int], int] = {}
    for width in range(2, count + 1):
        for i in range(count - width + 1):
            j = i + width
            costs = {k: cost[i, k] + cost[k, j] + lengths[i] * lengths[k] * lengths[j] for k in range(i + 1, j)}
            best[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[best[i, j]]
    return best


def _product(arrays: Sequence[Array], splits: dict[tuple[int, int], int], start: int, end: int) -> Array:
    if end - start == 1:
        return arrays[start]
    middle = splits[start, end]
    return matmul(_product(arrays, splits, start, middle), _product(arrays, splits, middle, end))


@fused
def tensorinv(a: ArrayLike, /, ind: int = 2) -> Array:
    """The inverse of ``a`` as the operator ``tensordot(a, x, ind)``: the first ``ind`` axes are those of its result.

    Floating-point dtypes; integers become real numbers. ``ValueError`` unless the first ``ind`` axes have as many
    elements as the others.

    >>> aio.linalg.tensorinv(aio.reshape(aio.eye(6), (2, 3, 6))).shape
    (6, 2, 3)
    """
    array = as_array("tensorinv", a)
    if ind < 1:
        raise ValueError(f"tensorinv: ind={ind} must be positive")
    size = math.prod(array.shape[:ind])
    if array.size != size * size:
        raise ValueError(
            f"tensorinv: shape {array.shape}, of which the first {ind} axes do not have as many elements as the rest"
        )
    return reshape(inv(reshape(array, (size, size))), (*array.shape[ind:], *array.shape[:ind]))


@fused
def tensorsolve(a: ArrayLike, b: ArrayLike, /, axes: tuple[int, ...] | None = None) -> Array:
    """``x`` with ``tensordot(a, x, x.ndim) == b``; the axes ``axes`` of ``a`` are moved to its end before.

    Floating-point dtypes, which promote; integers become real numbers. ``ValueError`` unless ``x`` has as many elements
    as ``b``.

    >>> aio.linalg.tensorsolve(aio.reshape(aio.eye(6), (2, 3, 6)), aio.ones((2, 3))).shape
    (6,)
    """
    array, right = as_array("tensorsolve", a), as_array("tensorsolve", b)
    if axes is not None:
        chosen = [normalize_axis("tensorsolve", axis, array.ndim) for axis in axes]
        array = permute_dims(array, (*(k for k in range(array.ndim) if k not in chosen), *chosen))
    shape = array.shape[right.ndim :]
    if math.prod(shape) != right.size or array.size != right.size * right.size:
        raise ValueError(f"tensorsolve: a of shape {array.shape} and b of shape {right.shape} do not fit")
    return reshape(solve(reshape(array, (right.size, right.size)), reshape(right, (-1,))), shape)
