"""Matrix decompositions and what is solved with them, on stacks of matrices: LAPACK's algorithms.

Where LAPACK reports failure (a matrix that is not positive definite, an iteration that does not converge) or a matrix
holds inf or NaN, its results are NaN; there NumPy raises ``LinAlgError``. A singular matrix has an inverse of inf and
NaN. Integers become real numbers; float16 and bfloat16 are computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ml_dtypes

from .._base import dtypes
from .._graph import Node, definition
from . import _lapack, _rules, creation, floating_point, products, statistical
from . import _primitives as p
from . import complex as complex_functions
from ._elementary import modulus
from ._gather import GATHER
from ._loops import while_loop
from ._rules import (
    BROADCAST,
    CONVERT,
    broadcast_shapes,
    broadcast_to,
    check_dtype,
    convert,
    full_like,
    result_dtype,
    scalar,
)

if TYPE_CHECKING:
    from .._base.dtypes import DType

Shape = tuple[int, ...]


# ---- Operands and results


def floating(function: str, *arrays: Node) -> tuple[Node, ...]:
    """``arrays`` in the floating-point dtype that they promote to."""
    dtype = dtypes.real_for(result_dtype(function, *arrays))
    converted = tuple(CONVERT(x, dtype=dtype) if x.dtype != dtype else x for x in arrays)
    check_dtype(function, converted[0], dtypes.FLOATING)
    return converted


def matrices(function: str, *arrays: Node, square: bool = False) -> tuple[Node, ...]:
    """``arrays``, of which the first must be (square) matrices, in the dtype that LAPACK computes them in."""
    first = arrays[0]
    if first.ndim < 2:
        raise ValueError(f"{function}: shape {first.shape} has fewer than 2 axes; it takes matrices, or stacks of them")
    if square and first.shape[-1] != first.shape[-2]:
        raise ValueError(f"{function}: shape {first.shape}: the last two axes must be of one length")
    converted = floating(function, *arrays)
    return tuple(x if x.dtype in _lapack.DTYPES else convert(x, dtypes.float32) for x in converted)


def target_dtype(function: str, *arrays: Node) -> DType:
    """The dtype of what is computed of ``arrays``."""
    return floating(function, *arrays)[0].dtype


def as_real(x: Node, dtype: DType) -> Node:
    """Real results in the real dtype that belongs to ``dtype``."""
    return convert(x, dtypes.real_of(dtype))


def stretch(x: Node, shape: Shape) -> Node:
    """``x``, whose axes are the first ones of ``shape``, repeated along the rest."""
    return BROADCAST(x, shape=shape, dimensions=tuple(range(x.ndim)))


def valid(info: Node, x: Node) -> Node:
    """``x`` where LAPACK succeeded, NaN where it did not."""
    nan = full_like(x, complex(math.nan, math.nan) if x.dtype in dtypes.COMPLEX else math.nan)
    return p.select(stretch(p.equal(info, 0), x.shape), x, nan)


def finite_only(x: Node) -> tuple[Node, Node]:
    """``x`` with zeros in place of matrices that hold inf or NaN, and which do not: LAPACK's iterations complain of
    such on the standard error, and need not end."""
    finite: Node = statistical.all(floating_point.isfinite(x), (x.ndim - 2, x.ndim - 1), False)
    return p.select(stretch(finite, x.shape), x, 0), finite


def zeros(shape: Shape, dtype: DType) -> Node:
    """All zeros; also the one array of ``shape`` when that has no elements."""
    return broadcast_to(scalar(0, dtype), shape)


def identity(shape: Shape, dtype: DType) -> Node:
    """Ones on the diagonal of the last two axes, zeros elsewhere."""
    rows, columns = shape[-2:]
    equal = p.equal(p.iota((rows, columns), dtypes.int32, 0), p.iota((rows, columns), dtypes.int32, 1))
    return broadcast_to(convert(equal, dtype), shape)


def adjoint(x: Node) -> Node:
    """Conjugate transposes."""
    transposed = p.transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    return conjugate(transposed)


def conjugate(x: Node) -> Node:
    """Complex conjugates; a real node itself."""
    result: Node = complex_functions.conj(x) if x.dtype in dtypes.COMPLEX else x
    return result


def magnitude(x: Node) -> Node:
    """Absolute values of real or complex numbers."""
    return modulus(x) if x.dtype in dtypes.COMPLEX else p.absolute(x)


def product(x: Node, y: Node) -> Node:
    """Matrix products."""
    result: Node = products.matmul(x, y)
    return result


def scale_columns(x: Node, factors: Node) -> Node:
    """Column j of the matrices ``x`` times the real ``factors[..., j]``."""
    factors = p.reshape(convert(factors, x.dtype), (*factors.shape[:-1], 1, factors.shape[-1]))
    return p.multiply(x, broadcast_to(factors, x.shape))


def _take_columns(x: Node, start: int, stop: int) -> Node:
    return p.slice_axis(x, -1, start, stop)


def _take_rows(x: Node, start: int, stop: int) -> Node:
    return p.slice_axis(x, -2, start, stop)


# ---- Cholesky


@definition
def cholesky(x: Node, upper: bool) -> Node:
    """The triangle whose product with its adjoint is ``x``, of which the same triangle is read."""
    dtype = target_dtype("cholesky", x)
    (a,) = matrices("cholesky", x, square=True)
    if not a.size:
        return zeros(x.shape, dtype)
    factor, info = _lapack.potrf(a, upper)
    triangle: Node = creation.triu(factor, 0) if upper else creation.tril(factor, 0)
    return convert(valid(info, triangle), dtype)


# ---- LU: systems of equations and determinants


def _permutation(pivots: Node, count: int) -> Node:
    # LAPACK's row exchanges, one after the other, as the order in which they leave the rows 0..count-1.
    shape = (*pivots.shape[:-1], count)
    places = p.iota(shape, dtypes.int32, -1)
    steps = pivots.shape[-1]

    def going(step: Node, order: Node, pivots: Node) -> Node:
        return p.less(step, steps)

    def body(step: Node, order: Node, pivots: Node) -> tuple[Node, ...]:
        places = p.iota(order.shape, dtypes.int32, -1)
        here = p.equal(places, broadcast_to(step, places.shape))
        pivot = _at(pivots, p.equal(p.iota(pivots.shape, dtypes.int32, -1), broadcast_to(step, pivots.shape)))
        there = p.equal(places, broadcast_to(p.subtract(pivot, 1), places.shape))
        first, second = (broadcast_to(_at(order, mask), order.shape) for mask in (here, there))
        return p.add(step, 1), p.select(here, second, p.select(there, first, order)), pivots

    return while_loop(going, body, (scalar(0, dtypes.int32), places, pivots), counted=True)[1]


def _at(x: Node, mask: Node) -> Node:
    # The one element along the last axis where the mask is true, with that axis kept.
    result: Node = statistical.sum(p.select(mask, x, 0), x.ndim - 1, x.dtype, True)
    return result


def _permuted_rows(x: Node, order: Node) -> Node:
    stack = x.ndim - 2
    indices = p.reshape(order, (*order.shape, 1))
    return GATHER(x, indices, axes=(stack,), window=(stack + 1,), batch=stack)


def solve_matrix(a: Node, b: Node) -> Node:
    """``x`` with ``a x = b`` for stacks of one shape, neither without elements."""
    lu, pivots, info = _lapack.getrf(a)
    b = _permuted_rows(b, _permutation(pivots, a.shape[-1]))
    x = _lapack.trsm(lu, b, upper=False, unit_diagonal=True)
    x = _lapack.trsm(lu, x, upper=True, unit_diagonal=False)
    # A positive info says that U is singular: the division by zero has left inf and NaN, as LAPACK would.
    return valid(p.minimum(info, 0), x)


@definition
def solve(a: Node, b: Node) -> Node:
    """``x`` with ``a x = b``; ``b`` of one axis is one vector, else it holds matrices (standard, "solve")."""
    dtype = target_dtype("solve", a, b)
    a, b = matrices("solve", a, b, square=True)
    if b.ndim == 0:
        raise ValueError("solve: x2 has no axes; it takes a vector or matrices")
    vector = b.ndim == 1
    rows = p.reshape(b, (*b.shape, 1)) if vector else b
    if rows.shape[-2] != a.shape[-1]:
        raise ValueError(
            f"solve: shapes {a.shape} and {b.shape}: {a.shape[-1]} unknowns and {rows.shape[-2]} rows on the right"
        )
    stack = broadcast_shapes("solve", a.shape[:-2], rows.shape[:-2])
    a = broadcast_to(a, (*stack, *a.shape[-2:]))
    rows = broadcast_to(rows, (*stack, *rows.shape[-2:]))
    x = solve_matrix(a, rows) if rows.size else rows
    return convert(p.reshape(x, x.shape[:-1]) if vector else x, dtype)


@definition
def inv(x: Node) -> Node:
    """Inverse matrices; of a singular one, inf and NaN."""
    dtype = target_dtype("inv", x)
    (a,) = matrices("inv", x, square=True)
    return convert(inverse(a), dtype)


def inverse(a: Node) -> Node:
    """Inverse matrices, in the dtype of ``a``."""
    return solve_matrix(a, identity(a.shape, a.dtype)) if a.size else a


def _lu_diagonal(a: Node) -> tuple[Node, Node]:
    # U's diagonal, and -1 where the rows were exchanged an odd number of times, else 1.
    lu, pivots, info = _lapack.getrf(a)
    exchanged = p.not_equal(pivots, p.add(p.iota(pivots.shape, dtypes.int32, -1), 1))
    count = statistical.sum(convert(exchanged, dtypes.int32), pivots.ndim - 1, dtypes.int32, False)
    sign = p.select(p.equal(p.remainder(count, 2), 0), full_like(count, 1), full_like(count, -1))
    main = valid(p.minimum(info, 0), diagonal(lu, 0))
    return main, convert(sign, a.dtype)


@definition
def det(x: Node) -> Node:
    """Determinants; of matrices without elements, 1."""
    dtype = target_dtype("det", x)
    (a,) = matrices("det", x, square=True)
    if not a.size:
        return broadcast_to(scalar(1, dtype), x.shape[:-2])
    main, sign = _lu_diagonal(a)
    return convert(_plain_zero(p.multiply(sign, statistical.prod(main, main.ndim - 1, None, False))), dtype)


def _plain_zero(x: Node) -> Node:
    # 0 times the sign -1 is -0, which XLA does not lose by adding 0.
    return p.select(p.equal(x, 0), 0, x)


@definition
def slogdet(x: Node) -> tuple[Node, Node]:
    """Sign (or phase) and logarithm of the absolute value of determinants; 0 and -inf of singular matrices."""
    dtype = target_dtype("slogdet", x)
    (a,) = matrices("slogdet", x, square=True)
    real = dtypes.real_of(a.dtype)
    if not a.size:
        ones = broadcast_to(scalar(1, a.dtype), x.shape[:-2])
        return convert(ones, dtype), as_real(zeros(x.shape[:-2], real), dtype)
    main, sign = _lu_diagonal(a)
    size = magnitude(main)
    nonzero = p.select(p.equal(size, 0), 1, size)
    phase = p.divide(main, convert(nonzero, a.dtype)) if a.dtype in dtypes.COMPLEX else p.sign(main)
    last = main.ndim - 1
    signs = p.multiply(sign, statistical.prod(phase, last, None, False))
    return convert(_plain_zero(signs), dtype), as_real(statistical.sum(p.log(size), last, None, False), dtype)


# ---- QR


@definition
def qr(x: Node, mode: str) -> tuple[Node, ...]:
    """Q with orthonormal columns and R upper triangular; "complete": Q square; "r": R alone."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode {mode!r} is not known; use 'reduced', 'complete' or 'r'")
    dtype = target_dtype("qr", x)
    (a,) = matrices("qr", x)
    *stack, rows, columns = a.shape
    rank = min(rows, columns)
    width = rows if mode == "complete" else rank
    if not a.size:
        q, r = identity((*stack, rows, width), a.dtype), zeros((*stack, width, columns), a.dtype)
    else:
        packed, factors = _lapack.geqrf(a)
        r = creation.triu(_take_rows(packed, 0, width), 0)
        reflectors = _take_columns(packed, 0, rank)
        if width > rank:
            reflectors = p.concatenate((reflectors, zeros((*stack, rows, width - rank), a.dtype)), -1)
        if mode == "r":
            return (convert(r, dtype),)
        q = _lapack.orgqr(reflectors, factors)
    return (convert(r, dtype),) if mode == "r" else (convert(q, dtype), convert(r, dtype))


# ---- Eigenvalues


@definition
def eigh(x: Node, upper: bool) -> tuple[Node, Node]:
    """Eigenvalues, ascending, and eigenvectors in columns, of Hermitian matrices of which one triangle is read."""
    dtype = target_dtype("eigh", x)
    (a,) = matrices("eigh", x, square=True)
    if not a.size:
        return zeros(x.shape[:-1], dtypes.real_of(dtype)), zeros(x.shape, dtype)
    a, finite = finite_only(a)
    vectors, values, info = _lapack.syevd(a, upper, True)
    info = p.select(finite, info, 1)
    return as_real(valid(info, values), dtype), convert(valid(info, vectors), dtype)


@definition
def eigvalsh(x: Node, upper: bool) -> Node:
    """The eigenvalues alone."""
    dtype = target_dtype("eigvalsh", x)
    (a,) = matrices("eigvalsh", x, square=True)
    if not a.size:
        return zeros(x.shape[:-1], dtypes.real_of(dtype))
    a, finite = finite_only(a)
    _, values, info = _lapack.syevd(a, upper, False)
    return as_real(valid(p.select(finite, info, 1), values), dtype)


def _eig(function: str, x: Node, vectors: bool) -> tuple[Node, Node]:
    (a,) = matrices(function, x, square=True)
    dtype = dtypes.complex_of(a.dtype)
    if not a.size:
        return zeros(a.shape[:-1], dtype), zeros(a.shape, dtype)
    a, finite = finite_only(a)
    found, right, info = _lapack.geev(a, vectors)
    info = p.select(finite, info, 1)
    values = found[0] if len(found) == 1 else p.make_complex(*found)
    return valid(info, values), valid(info, right)


@definition
def eig(x: Node) -> tuple[Node, Node]:
    """Eigenvalues and eigenvectors in columns, always complex, of any square matrices."""
    return _eig("eig", x, True)


@definition
def eigvals(x: Node) -> Node:
    """The eigenvalues alone."""
    return _eig("eigvals", x, False)[0]


# ---- Singular values


def singular(a: Node, full: bool) -> tuple[Node, Node, Node]:
    """U, the singular values in descending order and V's adjoint, in the dtype of ``a``."""
    *stack, rows, columns = a.shape
    rank = min(rows, columns)
    if not a.size:
        return (
            identity((*stack, rows, rows if full else rank), a.dtype),
            zeros((*stack, rank), dtypes.real_of(a.dtype)),
            identity((*stack, columns if full else rank, columns), a.dtype),
        )
    a, finite = finite_only(a)
    u, s, vh, info = _lapack.gesdd(a, full, True)
    info = p.select(finite, info, 1)
    return valid(info, u), valid(info, s), valid(info, vh)


def singular_values(a: Node) -> Node:
    """The singular values in descending order."""
    if not a.size:
        return zeros((*a.shape[:-2], min(a.shape[-2:])), dtypes.real_of(a.dtype))
    a, finite = finite_only(a)
    _, s, _, info = _lapack.gesdd(a, False, False)
    return valid(p.select(finite, info, 1), s)


@definition
def svd(x: Node, full_matrices: bool) -> tuple[Node, Node, Node]:
    """U, the singular values in descending order and V's adjoint."""
    dtype = target_dtype("svd", x)
    u, s, vh = singular(matrices("svd", x)[0], full_matrices)
    return convert(u, dtype), as_real(s, dtype), convert(vh, dtype)


@definition
def svdvals(x: Node) -> Node:
    """The singular values alone."""
    return as_real(singular_values(matrices("svdvals", x)[0]), target_dtype("svdvals", x))


def _cutoff(function: str, s: Node, rtol: Node | None, shape: Shape, dtype: DType) -> Node:
    # Singular values up to this count as zero: the largest one times `rtol`, or times the rounding error of `dtype`.
    largest = p.slice_axis(s, -1, 0, 1)
    if rtol is None:
        return p.multiply(largest, max(shape[-2:]) * float(ml_dtypes.finfo(dtype).eps))
    if broadcast_shapes(function, rtol.shape, s.shape[:-1]) != s.shape[:-1]:
        raise ValueError(f"{function}: rtol of shape {rtol.shape} does not broadcast to the stack {s.shape[:-1]}")
    factors = broadcast_to(convert(rtol, s.dtype), s.shape[:-1])
    return p.multiply(largest, p.reshape(factors, largest.shape))


@definition
def matrix_rank(x: Node, rtol: Node | None) -> Node:
    """How many singular values are greater than ``rtol`` times the largest."""
    (a,) = matrices("matrix_rank", x)
    s = singular_values(a)
    if not s.size:
        return zeros(s.shape[:-1], _rules.index_dtype(0))
    cutoff = _cutoff("matrix_rank", s, rtol, a.shape, _real_target("matrix_rank", x))
    above = p.greater(s, broadcast_to(cutoff, s.shape))
    result: Node = statistical.count_nonzero(above, s.ndim - 1, False)
    return result


def _real_target(function: str, x: Node) -> DType:
    return dtypes.real_of(target_dtype(function, x))


def _inverted(function: str, s: Node, rtol: Node | None, shape: Shape, dtype: DType) -> tuple[Node, Node]:
    # 1/s with 0 for what counts as zero, and which do not.
    kept = p.greater(s, broadcast_to(_cutoff(function, s, rtol, shape, dtype), s.shape))
    # NaN, which is no greater than anything, must not pass for zero.
    kept = p.bit_or(kept, p.not_equal(s, s))
    return p.select(kept, p.divide(1, p.select(kept, s, 1)), 0), kept


@definition
def pinv(x: Node, rtol: Node | None) -> Node:
    """Moore-Penrose inverses; singular values up to ``rtol`` times the largest count as zero."""
    dtype = target_dtype("pinv", x)
    (a,) = matrices("pinv", x)
    if not a.size:
        return zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype)
    u, s, vh = singular(a, False)
    inverted, _ = _inverted("pinv", s, rtol, a.shape, _real_target("pinv", x))
    return convert(product(scale_columns(adjoint(vh), inverted), adjoint(u)), dtype)


@definition
def lstsq(a: Node, b: Node, rtol: Node | None) -> tuple[Node, Node, Node, Node]:
    """The shortest ``x`` that minimises ``|a x - b|``, the sums of squares that are left, the rank, singular values."""
    dtype = target_dtype("lstsq", a, b)
    real = dtypes.real_of(dtype)
    a, b = matrices("lstsq", a, b)
    vector = b.ndim == 1
    right = p.reshape(b, (*b.shape, 1)) if vector else b
    if a.ndim != 2 or right.ndim != 2 or right.shape[0] != a.shape[0]:
        raise ValueError(
            f"lstsq: shapes {a.shape} and {b.shape}; it takes a matrix (M, N), and a vector (M,) or matrix (M, K)"
        )
    if not a.size or not right.size:
        x = zeros((a.shape[1], right.shape[1]), a.dtype)
        rank = zeros((), _rules.index_dtype(0)) if not a.size else matrix_rank(a, rtol)
        s = singular_values(a)
        left = right
    else:
        u, s, vh = singular(a, False)
        inverted, kept = _inverted("lstsq", s, rtol, a.shape, real)
        x = product(scale_columns(adjoint(vh), inverted), product(adjoint(u), right))
        rank = statistical.count_nonzero(kept, 0, False)
        left = p.subtract(right, product(a, x))
    size = magnitude(left)
    squares = statistical.sum(p.multiply(size, size), 0, None, False)
    if vector:
        x, squares = p.reshape(x, x.shape[:1]), p.reshape(squares, ())
    return convert(x, dtype), convert(squares, real), rank, convert(s, real)


# ---- Diagonals


def diagonal(x: Node, offset: int) -> Node:
    """Diagonal ``offset`` of the last two axes, as the last axis."""
    *stack, rows, columns = x.shape
    row, column = max(0, -offset), max(0, offset)
    length = max(0, min(rows - row, columns - column))
    flat = p.reshape(x, (*stack, rows * columns))
    if not length:
        return p.slice_axis(flat, -1, 0, 0)
    start = row * columns + column
    return p.slice_axis(flat, -1, start, start + (length - 1) * (columns + 1) + 1, columns + 1)
