"""NumPy's everyday functions of matrices: triangles, diagonals, traces."""

from __future__ import annotations

import operator

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import DeviceLike, DTypeLike, axis_of, dtype_of, integer_of
from .._ops import matrices
from .creation import eye, full, tril
from .padding import pad

__all__ = ["diag", "diagonal", "identity", "trace", "tri"]


def identity(n: int, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """The square matrix with ``n`` ones on its diagonal and zeros elsewhere; by default of the default real dtype.

    >>> aio.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype, device=device)


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """An ``N`` by ``M`` (None: square) matrix with ones on and below diagonal ``k`` and zeros above it.

    >>> aio.tri(2, 3, dtype="int32")
    Array([[1, 0, 0],
           [1, 1, 0]], dtype=int32)
    """
    shape = (integer_of("tri", "N", N), operator.index(N if M is None else M))
    ones = full(shape, 1, dtype=dtype_of(dtype) or dtypes.default_for_rank(2), device=device)
    return tril(ones, k=integer_of("tri", "k", k))


@fused
def diag(x: ArrayLike, /, k: int = 0) -> Array:
    """A square matrix with the vector ``x`` on diagonal ``k`` and zeros elsewhere; of a matrix, its diagonal ``k``.

    ``ValueError`` for other numbers of axes.

    >>> aio.diag(aio.asarray([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    >>> aio.diag(aio.asarray([[1, 2], [3, 4]]), k=1)
    Array([2], dtype=int32)
    """
    array = as_array("diag", x)
    if array.ndim == 2:
        return call(matrices.diagonal, (array,), integer_of("diag", "k", k))
    if array.ndim != 1:
        raise ValueError(f"diag: shape {array.shape}; it takes a vector or a matrix")
    size = array.size + abs(k)
    if array.size == 0:
        return full((size, size), 0, dtype=array.dtype)
    # In row-major order the diagonal's elements are size + 1 apart: those are the rows of a matrix one column wider.
    rows = pad(array[:, None], ((0, 0), (0, size)))
    square = rows.reshape(-1)[: array.size * size].reshape(array.size, size)
    rest = abs(k)
    if k >= 0:
        shifted = pad(square, ((0, rest), (0, 0))) if k == 0 else pad(square[:, : size - rest], ((0, rest), (rest, 0)))
        return shifted
    return pad(square, ((rest, 0), (0, 0)))


def diagonal(x: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Diagonals of the matrices in two axes of ``x``, as the last axis; above the main one for a positive ``offset``.

    ``linalg.diagonal`` takes the last two axes. ``ValueError`` below two axes.

    >>> aio.diagonal(aio.asarray([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    axes = (axis_of("diagonal", axis1), axis_of("diagonal", axis2))
    return call(matrices.diagonal, (x,), integer_of("diagonal", "offset", offset), axes)


def trace(x: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None) -> Array:
    """Sums of ``diagonal``, in ``dtype``, by default that of ``sum``. ``linalg.trace`` takes the last two axes.

    >>> aio.trace(aio.asarray([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    axes = (axis_of("trace", axis1), axis_of("trace", axis2))
    return call(matrices.trace, (x,), integer_of("trace", "offset", offset), dtype_of(dtype), axes)
