"""Products of matrices and sums of products. They accumulate in float32 at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio

from .._registry import operator
from .._values import Tensor, cast, is_floating, is_known

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("MatMul")
def matmul(call: Call, x: Tensor, y: Tensor) -> Tensor:
    return (np if is_known(x) and is_known(y) else aio).matmul(x, y)


@operator("Gemm")
def gemm(call: Call, x: Tensor, y: Tensor, z: Tensor = None) -> Tensor:
    """``alpha x y + beta z``, ``x`` and ``y`` transposed where the attributes say so."""
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError(f"matrices of {x.ndim} and {y.ndim} axes")
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    x = aio.permute_dims(x, (1, 0)) if call.integer("transA", 0) else x
    y = aio.permute_dims(y, (1, 0)) if call.integer("transB", 0) else y
    product = aio.matmul(x, y)
    if not is_floating(product):
        # The factors are floats, and so are the products with them.
        product = cast(product * alpha, x.dtype) if alpha != 1 else product
        return product if z is None else product + (cast(z * beta, x.dtype) if beta != 1 else z)
    if alpha != 1:
        product = product * alpha
    if z is None:
        return product
    return product + (z * np.asarray(beta, z.dtype) if beta != 1 else z)


@operator("Einsum")
def einsum(call: Call, *operands: Tensor) -> Tensor:
    equation = call.text("equation").replace(" ", "")
    return aio.einsum(equation, *operands)
