"""Layers compute in float32 at least, and round once, to the dtype of their input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import Array, ArrayLike, as_array
from .._base import dtypes
from .._functions.data_types import astype

if TYPE_CHECKING:
    from .._base.dtypes import DType


def result_dtype(function: str, x: Array) -> DType:
    """The dtype of a layer's result: that of ``x``, or of real numbers for integers and booleans."""
    if x.dtype in dtypes.COMPLEX:
        raise TypeError(f"{function}: dtype {x.dtype.name} is not allowed; it takes real dtypes")
    return dtypes.real_for(x.dtype)


def compute_dtype(dtype: DType) -> DType:
    """What to compute results of ``dtype`` in."""
    return dtypes.float32 if dtype.itemsize < 4 else dtype


def widen(function: str, x: ArrayLike) -> tuple[Array, DType]:
    """``x`` in the dtype to compute in, and the dtype of the result. ``TypeError`` for complex numbers."""
    array = as_array(function, x)
    dtype = result_dtype(function, array)
    return cast(array, compute_dtype(dtype)), dtype


def cast(x: Array, dtype: DType) -> Array:
    """``x`` in ``dtype``."""
    return astype(x, dtype, copy=False)
