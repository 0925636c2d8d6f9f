"""Random vectors and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import Node, definition
from . import _elementary, linalg, products
from . import _primitives as p
from ._rules import broadcast_shapes, broadcast_to, convert
from .random import Shape, check_key, check_real, normal, normal_real

if TYPE_CHECKING:
    from .._base.dtypes import DType

METHODS = ("cholesky", "eigh", "svd")


@definition
def multivariate_normal(
    key: Node, mean: Node, cov: Node, shape: Shape | None, dtype: DType | None, method: str, partitionable: bool
) -> Node:
    """Normal vectors: standard normal ones times a factor of the covariance, plus the mean."""
    name = "multivariate_normal"
    check_key(name, key)
    mean, cov = linalg.floating(name, mean, cov)
    dtype = mean.dtype if dtype is None else dtype
    check_real(name, dtype)
    if mean.ndim < 1 or cov.ndim < 2 or cov.shape[-2:] != (mean.shape[-1],) * 2:
        raise ValueError(
            f"{name}: mean of shape {mean.shape} and cov of shape {cov.shape}; it takes (..., N), (..., N, N)"
        )
    stack = broadcast_shapes(name, mean.shape[:-1], cov.shape[:-2])
    shape = stack if shape is None else shape
    if broadcast_shapes(name, stack, shape) != shape:
        raise ValueError(f"{name}: the parameters' stack {stack} does not broadcast to shape {shape}")
    factor = convert(_factor(cov, method), dtype)
    sample = normal_real(key, (*shape, mean.shape[-1]), dtype, partitionable)
    last = len(shape)
    if cov.ndim == 2:
        # The same factor for all vectors.
        turned = products.contract(sample, factor, ((last,), (1,)), ((), ()), None)
    else:
        stacked = broadcast_to(factor, (*shape, *factor.shape[-2:]))
        axes = tuple(range(last))
        turned = products.contract(stacked, sample, ((last + 1,), (last,)), (axes, axes), None)
    return p.add(broadcast_to(convert(mean, dtype), sample.shape), turned)


def _factor(cov: Node, method: str) -> Node:
    if method == "cholesky":
        symmetric = p.multiply(p.add(cov, linalg.adjoint(cov)), 0.5)
        factor: Node = linalg.cholesky(symmetric, False)
        return factor
    if method == "eigh":
        values, vectors = linalg.eigh(cov, False)
        return linalg.scale_columns(vectors, p.sqrt(values))
    if method == "svd":
        u, s, _ = linalg.svd(cov, True)
        return linalg.scale_columns(u, p.sqrt(s))
    raise ValueError(f"multivariate_normal: method {method!r} is not known; use {', '.join(map(repr, METHODS))}")


@definition
def orthogonal(key: Node, rows: int, columns: int, shape: Shape, dtype: DType, partitionable: bool) -> Node:
    """Matrices with orthonormal rows or columns, whichever are fewer: the first factor of normal matrices' QR
    decomposition, with the signs that make it unique (Mezzadri, 2007).
    """
    name = "orthogonal"
    check_key(name, key)
    if rows < 0 or columns < 0:
        raise ValueError(f"{name}: n={rows}, m={columns}; lengths are not negative")
    if dtype not in dtypes.COMPLEX:
        check_real(name, dtype)
    full = (*shape, max(rows, columns), min(rows, columns))
    sample: Node = normal(key, full, dtype, partitionable)
    q, r = linalg.qr(sample, "reduced")
    diagonal = linalg.diagonal(r, 0)
    length = _elementary.modulus(diagonal) if dtype in dtypes.COMPLEX else p.absolute(diagonal)
    factor = linalg.scale_columns(q, p.divide(diagonal, convert(length, dtype)))
    axes = tuple(range(len(shape)))
    return p.transpose(factor, (*axes, len(shape) + 1, len(shape))) if rows < columns else factor
