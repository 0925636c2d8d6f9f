"""Host values as NumPy arrays: which dtype they have, and what is no array of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import config, dtypes

if TYPE_CHECKING:
    from .dtypes import DType


def host_array(function: str, obj: Any, dtype: DType | None = None) -> np.ndarray:
    """A number, nested sequence of numbers, or array of another library, as a NumPy array.

    What comes from NumPy keeps its dtype. Python numbers get the default one of their kind, unless ``dtype`` is what
    they will be cast to. Raises ``TypeError`` for what is no array of numbers, ``OverflowError`` for integers out of
    bounds.
    """
    if isinstance(obj, (np.ndarray, np.generic)):
        value = np.asarray(obj)
    else:
        if not hasattr(obj, "__array__") and not hasattr(obj, "__buffer__") and hasattr(obj, "__dlpack__"):
            obj = np.from_dlpack(obj)
        value = np.asarray(obj)
        if _is_python(obj):
            value = _with_default_dtype(function, value, dtype)
    if value.dtype.kind in "OSUMmV" and value.dtype not in dtypes.MLIR_NAMES:
        raise TypeError(
            f"{function}: {type(obj).__name__} is not an array of numbers (NumPy makes {value.dtype} of it); pass "
            "numbers, nested sequences of numbers of one shape, or an array"
        )
    return value


def _is_python(obj: Any) -> bool:
    """Whether a number, or all the numbers in a sequence, are Python's own."""
    if isinstance(obj, (list, tuple)):
        kinds = set(map(type, obj))
        nested = kinds & {list, tuple}
        return kinds - nested <= {bool, int, float, complex} and (
            not nested or all(_is_python(x) for x in obj if type(x) in nested)
        )
    return type(obj) in (bool, int, float, complex)


def _with_default_dtype(function: str, value: np.ndarray, dtype: DType | None) -> np.ndarray:
    """NumPy's array of Python numbers, in the default dtypes."""
    if value.size == 0:
        return value.astype(config.current().real)
    if value.dtype == object or value.dtype.kind in "iu":
        if value.dtype == object and (dtype is None or dtype not in dtypes.INTEGRAL):
            # Integers beyond 64 bits. Beside floats, or cast to what is no integer, they are real numbers.
            rank = max(map(dtypes.scalar_rank, value.ravel().tolist())) if dtype is None else dtypes.dtype_rank(dtype)
            if rank != 1:
                target = dtypes.default_for_rank(rank) if dtype is None else dtype
                return _of_big_integers(function, value, rank, target)
        elif dtype is not None and dtype not in dtypes.INTEGRAL:
            return value
        target = dtype or config.current().integral
        bounds = dtypes.iinfo(target)
        numbers = value.ravel()
        lowest, highest = numbers.min(), numbers.max()
        if lowest < bounds.min or highest > bounds.max:
            out = lowest if lowest < bounds.min else highest
            raise OverflowError(
                f"{function}: integer {out} is out of bounds for {target.name}, which holds "
                f"{bounds.min}..{bounds.max}; use a wider dtype, as by asarray(…, dtype='int64')"
            )
        return value.astype(target)
    if dtype is not None:
        return value
    # A Python float beyond the default dtype's range is infinite in it, as it is for the operators.
    with np.errstate(over="ignore"):
        return value.astype(dtypes.default_for_rank(dtypes.dtype_rank(value.dtype)))


def _of_big_integers(function: str, value: np.ndarray, rank: int, dtype: DType) -> np.ndarray:
    if rank == 0:
        return value.astype(np.bool_)
    try:
        wide = value.astype(np.complex128 if rank == 3 else np.float64)
    except OverflowError:
        raise OverflowError(f"{function}: an integer is too large for any floating-point dtype") from None
    with np.errstate(over="ignore"):
        return wide.astype(dtype)
